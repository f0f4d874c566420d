#include "cli/options/unknown_option.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace fovea {
namespace {

constexpr std::size_t most_mistakes = 2;  // typing mistakes up to which a name is proposed

/// How many characters must be inserted, removed or replaced.
std::size_t distance_between(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::size_t common_beginning(const std::string& a, const std::string& b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

/// The nearest name; among equally near ones, the one that begins like the word for longest.
std::string nearest_option(const CLI::App& command, const std::string& word) {
  std::string nearest;
  std::size_t least = most_mistakes + 1;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& long_name : option->get_lnames()) {
      const std::string name = "--" + long_name;
      const std::size_t distance = distance_between(name, word);
      if (distance > least || distance > most_mistakes) continue;
      if (distance == least && common_beginning(name, word) <= common_beginning(nearest, word))
        continue;
      least = distance;
      nearest = name;
    }
  return nearest;
}

}  // namespace

std::string unknown_option_text(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  for (const std::string& extra : program.remaining(true)) {
    const std::string word = extra.substr(0, extra.find('='));
    // A long name may follow one dash, as in "-json"; but "-1" may be a number.
    const bool named = word.size() > 2 && word[0] == '-' &&
                       (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])));
    if (!named) continue;
    const std::string nearest = nearest_option(chosen.empty() ? program : *chosen.front(), word);
    return "unknown option " + word + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
  }
  return "";
}

}  // namespace fovea
