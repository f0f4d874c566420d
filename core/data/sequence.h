// A Sequence says what the n positions of a head are: tokens of a text or patches of an image.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// Tokens prefix .. prefix + rows*cols - 1 are the patches of an image in row-major order.
struct ImageGrid {
  Index rows = 0, cols = 0;
  Index prefix = 0;  // tokens before the first patch (a class token, say)
  friend bool operator==(const ImageGrid&, const ImageGrid&) = default;
};

struct Sequence {
  std::vector<std::string> tokens;  // UTF-8, decoded; empty when unknown
  std::optional<ImageGrid> grid;

  /// The text for position i: the token, "patch (r, c)" or the index.
  std::string label(Index i) const;
};

}  // namespace fovea
