// A BlockSide cuts one side of a tile into the blocks of a grid over tokens.
#pragma once

#include <vector>

#include "analysis/support.h"

namespace fovea {

class BlockSide {
 public:
  /// Blocks of `block` tokens from the beginning of `view` on; tokens outside it are left out.
  /// The side outlives this.
  BlockSide(const Side& side, IndexRange view, Index block);

  /// The tokens of a tile that lie in one block: those at [at.begin, at.end), see `token`.
  struct Piece {
    Index block;
    IndexRange at;
    double tokens() const { return at.size(); }
  };

  /// Splits the positions by ascending blocks; valid until the next call. O(pieces) if clusters are
  /// in sequence order or ascend over all positions, else O(positions log positions).
  const std::vector<Piece>& split(IndexRange positions);

  /// The token at a place of the last split, ascending in `at`.
  Index token(Index at) const { return tokens_ ? tokens_[at] : at; }
  /// Whether a place `at` is the token itself.
  bool contiguous() const { return !tokens_; }

 private:
  Index block_of(Index token) const { return (token - view_.begin) / block_; }
  void split_range(IndexRange tokens);
  void split_by_edges(IndexRange positions);
  void walk(IndexRange at);
  void sort_tokens(IndexRange positions);

  const Side& side_;
  IndexRange view_;
  Index block_;
  std::vector<Index> edges_;          // first position of each block, where all positions ascend
  std::vector<std::int32_t> sorted_;  // tokens of positions in no order
  const std::int32_t* tokens_ = nullptr;
  std::vector<Piece> pieces_;
};

}  // namespace fovea
