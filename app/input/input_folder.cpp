#include "input/input_folder.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "data/error.h"
#include "data/number_text.h"
#include "input/open_source.h"
#include "io/folder.h"

namespace fovea {

InputFolder files_in_folder(const std::string& folder, const std::stop_token& stop) {
  InputFolder out;
  Index others = 0;
  for (std::string& path : paths_in(folder, stop)) {
    std::error_code none;
    if (std::filesystem::is_regular_file(path, none) && is_words_or_picture(path))
      out.files.push_back(std::move(path));
    else
      ++others;
  }
  if (out.files.empty())
    throw InputError(folder, "holds no text and no image; expected what the model is to read");
  if (others > 0) out.notes.push_back(plural(others, "other file") + " in " + folder + " left out");
  return out;
}

std::vector<std::string> notes_over(const std::vector<std::vector<std::string>>& of_inputs) {
  std::vector<std::pair<std::string, Index>> counted;
  for (const std::vector<std::string>& notes : of_inputs)
    for (const std::string& note : notes) {
      auto at = std::ranges::find(counted, note, [](const auto& one) { return one.first; });
      if (at == counted.end()) at = counted.insert(counted.end(), {note, 0});
      ++at->second;
    }
  std::vector<std::string> out;
  for (const auto& [note, count] : counted)
    out.push_back(count == std::ssize(of_inputs) ? note
                                                 : note + " (" + plural(count, "input") + ")");
  return out;
}

}  // namespace fovea
