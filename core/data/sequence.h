// A Sequence says what the n positions of a head are: tokens of a text or patches of an image.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// Tokens prefix .. prefix + rows*cols - 1 are the patches of an image in row-major order.
struct ImageGrid {
  Index rows = 0, cols = 0;
  Index prefix = 0;  // tokens before the first patch (a class token, say)

  bool contains(Index token) const { return token >= prefix && token < prefix + rows * cols; }
  Index row_of(Index token) const { return (token - prefix) / cols; }
  Index col_of(Index token) const { return (token - prefix) % cols; }
  /// The patch at shares in [0, 1) of the image's height and width.
  Index token_at(double down, double across) const {
    return prefix + Index(down * double(rows)) * cols + Index(across * double(cols));
  }
  friend bool operator==(const ImageGrid&, const ImageGrid&) = default;
};

struct CompressedEntries;

struct Sequence {
  std::vector<std::string> tokens;  // UTF-8, decoded; empty when unknown
  std::optional<ImageGrid> grid;
  std::shared_ptr<const CompressedEntries> compressed = {};  // after the tokens, or null

  bool is_compressed(Index i) const;
  /// The name of position i: the token, "patch (r, c)", "entry 5" or the index.
  std::string label(Index i) const;
  /// "13 “everything”", a long token shortened; "13 patch (0, 5)"; "entry 5: tokens 20–23"; or the
  /// bare index.
  std::string numbered(Index i) const;
};

}  // namespace fovea
