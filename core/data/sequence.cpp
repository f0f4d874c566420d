#include "data/sequence.h"

#include "data/compressed_entries.h"
#include "data/direction.h"

namespace fovea {

bool Sequence::is_compressed(Index i) const {
  return compressed && compressed->has(i);
}

std::string Sequence::label(Index i) const {
  if (is_compressed(i)) return compressed->name(i);
  if (i >= 0 && i < std::ssize(tokens)) return tokens[i];
  if (i >= 0 && i < std::ssize(position_names)) return position_names[i];
  if (grid && grid->contains(i))
    return "patch (" + std::to_string(grid->row_of(i)) + ", " + std::to_string(grid->col_of(i)) +
           ")";
  if (grid && i == 0 && grid->prefix > 0) return "class token";
  return std::to_string(i);
}

std::string Sequence::numbered(Index i) const {
  if (is_compressed(i)) return compressed->description(i);
  constexpr int longest = 24;  // characters
  const std::string index = std::to_string(i);
  std::string name = label(i);
  if (name == index) return index;
  if (i >= std::ssize(tokens)) return index + " " + name;
  int characters = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(name[at]) & 0xc0) != 0x80;
    if (!begins || ++characters <= longest) continue;
    name = name.substr(0, at) + "…";
    break;
  }
  return index + " “" + isolated(name) + "”";
}

}  // namespace fovea
