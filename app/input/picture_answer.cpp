#include "input/picture_answer.h"

#include <algorithm>

#include "data/synthetic.h"
#include "io/json.h"

namespace fovea {
namespace {

constexpr int answer_version = 1;
constexpr std::size_t most_notes = 8;

void write_line(std::FILE* out, const Json& json) {
  const std::string line = json.dump() + '\n';
  std::fwrite(line.data(), 1, line.size(), out);
}

}  // namespace

void write_picture_answer(std::FILE* out, const ImageFile& image) {
  const Picture& picture = *image.picture;
  write_line(out, {{"picture", answer_version},
                   {"width", picture.width},
                   {"height", picture.height},
                   {"notes", image.notes}});
  std::fwrite(picture.rgb.data(), 1, picture.rgb.size(), out);
}

void write_picture_answer(std::FILE* out, const Error& error) {
  write_line(out,
             {{"picture", answer_version}, {"status", error.status()}, {"message", error.what()}});
}

PictureHead read_picture_answer(std::string_view line, const std::string& path, int patch) {
  const InputError bad(path,
                       "the process that decodes pictures answered what cannot be read; was "
                       "the program replaced while it ran? Then start it again");
  PictureHead head;
  int status = 0;
  std::string message;
  try {
    const Json json = Json::parse(line);
    if (json.at("picture") != answer_version) throw bad;
    status = json.value("status", 0);
    if (status != 0) {
      message = json.at("message").get<std::string>();
    } else {
      head = {json.at("width").get<Index>(), json.at("height").get<Index>(),
              json.at("notes").get<std::vector<std::string>>()};
    }
  } catch (const Json::exception&) {
    throw bad;
  }
  if (status == UnavailableError("").status()) throw UnavailableError(path + ": " + message);
  if (status != 0) throw InputError(path, message);
  constexpr Index most_pixels = Index{1} << 31, largest_side = Index{1} << 20;
  const auto is_side = [&](Index side) {
    if (patch == whole_picture) return side >= 1 && side <= largest_side;
    return side >= patch && side % patch == 0 && side <= Index{patch} * most_tokens;
  };
  if (!is_side(head.width) || !is_side(head.height) || head.notes.size() > most_notes) throw bad;
  if (patch == whole_picture ? head.width * head.height > most_pixels
                             : head.width / patch * (head.height / patch) > most_tokens)
    throw bad;
  for (std::string& note : head.notes) note = printable(note);
  return head;
}

}  // namespace fovea
