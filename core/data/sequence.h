// A Sequence says what the n positions of a head are: tokens of a text or patches of an image.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// An order of patches, and its inverse.
struct PatchOrder {
  std::vector<std::int32_t> patch, place;  // the patch at a place; the place of a patch
  friend bool operator==(const PatchOrder&, const PatchOrder&) = default;
};

/// Tokens prefix .. prefix + rows*cols - 1 are the patches of an image, in row-major order unless
/// they have an order.
struct ImageGrid {
  Index rows = 0, cols = 0;
  Index prefix = 0;  // tokens before the first patch (a class token, say)
  std::shared_ptr<const PatchOrder> order = {};

  bool contains(Index token) const { return token >= prefix && token < prefix + rows * cols; }
  Index row_of(Index token) const { return patch_of(token) / cols; }
  Index col_of(Index token) const { return patch_of(token) % cols; }
  Index token_of(Index row, Index col) const {
    const Index patch = row * cols + col;
    return prefix + (order ? order->place[patch] : patch);
  }
  /// The patch at shares in [0, 1) of the image's height and width.
  Index token_at(double down, double across) const {
    return token_of(Index(down * double(rows)), Index(across * double(cols)));
  }
  friend bool operator==(const ImageGrid& a, const ImageGrid& b) {
    const bool same_order = a.order == b.order || (a.order && b.order && *a.order == *b.order);
    return a.rows == b.rows && a.cols == b.cols && a.prefix == b.prefix && same_order;
  }

 private:
  Index patch_of(Index token) const {
    const Index at = token - prefix;
    return order ? order->patch[at] : at;
  }
};

struct CompressedEntries;

struct Sequence {
  std::vector<std::string> tokens;  // UTF-8, decoded; empty when unknown
  std::optional<ImageGrid> grid;
  std::shared_ptr<const CompressedEntries> compressed = {};  // after the tokens, or null
  std::vector<std::string> position_names = {};              // where tokens are unknown

  bool is_compressed(Index i) const;
  /// The name of position i: the token, "patch (r, c)", "entry 5" or the index.
  std::string label(Index i) const;
  /// "13 “everything”", a long token shortened; "13 patch (0, 5)"; "entry 5: tokens 20–23"; or the
  /// bare index.
  std::string numbered(Index i) const;
};

}  // namespace fovea
