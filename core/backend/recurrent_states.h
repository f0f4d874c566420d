// RecurrentStates compute Z = P V of a RecurrentPlan: states go forward through the chunks, one of
// them, or with level weights one for each Fenwick level.
#pragma once

#include <vector>

#include "backend/profile.h"
#include "backend/recurrent_keys.h"

namespace fovea {

class RecurrentStates {
 public:
  static constexpr Index together = 32;  // chunks whose own queries are in memory together

  /// `v` has a width of whole vectors.
  RecurrentStates(const RecurrentPlan& plan, const Problem& problem, const RecurrentKeys& keys,
                  MatrixView v, const isa::Loops& loops);

  /// [n, width of v].
  Matrix run(Workers& workers, Run& run);

  /// Bytes beside Z.
  static double need(const RecurrentPlan& plan, Index tokens, Index d, Index dv);

 private:
  /// What all columns of V need of a chunk.
  struct Piece {
    Matrix p;               // [tokens, tokens], with level weights
    std::vector<Matrix> r;  // [tokens, d] of each state, with its level weights
    Matrix keys;            // [d, tokens]: RecurrentKeys transposed
  };
  /// Whether the state holds chunks before chunk c: state s holds the 2^s chunks that bit s of c
  /// stands for, and none if the bit is 0.
  bool holds(std::size_t state, Index c) const {
    return states_.size() == 1 || ((c >> state) & 1) != 0;
  }
  Piece piece_of(Index c) const;
  void pass(Index c, const Piece& piece, IndexRange cols, Matrix& z);
  void add_chunk(Index c, const Piece& piece, IndexRange cols);

  const RecurrentPlan& plan_;
  const Problem& problem_;
  const RecurrentKeys& keys_;
  MatrixView v_;
  const isa::Loops& loops_;
  std::vector<Matrix> states_;  // [d, width]
};

}  // namespace fovea
