// A LearningSet is what a tree learns from: queries with the outputs that exact attention gives
// them, and the keys and values that the tree sorts for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/problem.h"

namespace fovea {

struct LearningSet {
  /// Long heads are learned from so many tokens, drawn without replacement, so that a step takes no
  /// longer for longer heads.
  static constexpr Index most_queries = 2048, most_keys = 4096;
  static constexpr double held_out_share = 0.2;

  double scale = 1;
  bool causal = false;
  Matrix queries;                         // [m, d] those to learn from, then those held out
  Matrix targets;                         // [m, dv] their rows of exact attention over all keys
  std::vector<std::int32_t> query_token;  // [m]
  Index learned_from = 0;               // number of queries to learn from; the others are held out
  Matrix keys, values;                  // [k, d] and [k, dv], in sequence order
  std::vector<std::int32_t> key_token;  // [k] ascending
  double target_square = 1;             // mean |z_i|^2 of the queries to learn from; 1 if all are 0

  /// The weights of a tree are learned in coordinates in which tokens are around 0 and about 1 in
  /// size: x' = (x - centre) / spread.
  std::vector<float> centre;        // [d]
  float spread = 1;                 // root mean square of the coordinates of x - centre
  Matrix query_points, key_points;  // [m, d] and [k, d], x' of queries and keys

  Index d() const { return queries.cols(); }
  Index dv() const { return values.cols(); }
  /// How many of the first keys a query may attend.
  Index admissible(Index query) const;
};

/// "2048 queries and 4096 keys, drawn from 8192 tokens"; empty if a head of n tokens is learned
/// from as a whole.
std::string sample_text(Index n);

/// Why no tree can be learned from a head, as a clause; empty if one can.
std::string why_not_learned_from(const Problem& problem);

/// Draws tokens and held-out rows with the seed. The targets do not depend on the back end, which
/// only distributes their rows to threads. Throws InputError if no tree can be learned, and
/// Cancelled.
LearningSet make_learning_set(const Problem& problem, std::uint64_t seed, const Backend& backend,
                              Run& run);

}  // namespace fovea
