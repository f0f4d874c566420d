#include "data/sequence.h"

namespace fovea {

std::string Sequence::label(Index i) const {
  if (i >= 0 && i < std::ssize(tokens)) return tokens[i];
  if (grid && grid->contains(i))
    return "patch (" + std::to_string(grid->row_of(i)) + ", " + std::to_string(grid->col_of(i)) +
           ")";
  return std::to_string(i);
}

}  // namespace fovea
