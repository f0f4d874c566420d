// RecurrentJumps are transitions over many chunks at once, as a tree: with them a tile far from the
// diagonal takes few products, however far it is.
#pragma once

#include <vector>

#include "backend/recurrent_keys.h"

namespace fovea {

class RecurrentJumps {
 public:
  /// Chunks of a leaf, so that its transition is worth its memory.
  static constexpr Index block = 16;

  explicit RecurrentJumps(const RecurrentKeys& keys) : keys_(keys) {}

  /// Makes those within some chunks that are not known yet. Only where something is erased: all
  /// other steps are as cheap as a jump.
  void make(IndexRange chunks, const isa::Loops& loops, Workers& workers,
            const std::stop_token& stop);
  /// Takes rows from the end of `chunks` to their beginning.
  void take(RecurrentRows& rows, IndexRange chunks, const std::stop_token& stop) const;

  /// Numbers of the whole tree.
  static double size_of(Index tokens, Index d);

 private:
  /// The level of the largest known jump that ends at `end` and does not go beyond `begin`; -1 if
  /// there is none.
  int level_at(Index begin, Index end) const;
  Matrix leaf(Index number, const isa::Loops& loops, const std::stop_token& stop) const;

  const RecurrentKeys& keys_;
  std::vector<std::vector<Matrix>> levels_;  // [level][blocks of 2^level leaves], empty: not known
};

}  // namespace fovea
