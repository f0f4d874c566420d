#include "data/sequence.h"

namespace fovea {

std::string Sequence::label(Index i) const {
  if (i >= 0 && i < std::ssize(tokens)) return tokens[i];
  if (grid && i >= grid->prefix && i < grid->prefix + grid->rows * grid->cols) {
    const Index patch = i - grid->prefix;
    return "patch (" + std::to_string(patch / grid->cols) + ", " +
           std::to_string(patch % grid->cols) + ")";
  }
  return std::to_string(i);
}

}  // namespace fovea
