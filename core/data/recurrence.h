// A Recurrence is how a head computes its outputs without a softmax: from a state S of d x dv that
// decays, forgets what it holds under a key, and takes up the value of that key:
//   S_t = (I - [erases] b_t k_t k_t^T) A_t S_{t-1} + b_t k_t v_t^T,   o_t = scale S_t^T q_t,
// with A_t = exp(log_decay_t) for all channels or for each. Gated DeltaNet and KDA erase, Mamba-2
// SSD and gated linear attention do not. Log-linear attention has a state for each Fenwick level
// and adds them up with level weights. As an attention,
//   P_ij = lambda_i^(l(i,j)) b_j (r . k_j)   for j <= i,
// where r = scale q_i at j = i, and r <- A_j (r - [erases] b_j (r . k_j) k_j) on the way to j - 1.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct Recurrence {
  bool erases = true;       // the term of the delta rule
  std::vector<float> beta;  // [n]; all are 1 if it is empty
  Matrix log_decay;         // [n, 1] or [n, d], at most 0; all are 0 if it is empty
  Matrix level_weights;     // [n, levels], lambda; all are 1 if it is empty

  float beta_of(Index j) const { return beta.empty() ? 1 : beta[j]; }
  float weight_of(Index i, Index j) const;
  /// The recurrence of the first n tokens.
  Recurrence prefix(Index n) const;
  /// "gated delta rule", "log-linear attention".
  std::string name() const;
};

/// The Fenwick level of a pair with j <= i: 0 for j = i, else one more than the highest bit in
/// which the two places differ.
constexpr Index fenwick_level(Index i, Index j) {
  return std::bit_width(static_cast<std::uint64_t>(i ^ j));
}
/// How many levels n tokens have: ceil(log2 n) + 1.
constexpr Index fenwick_levels(Index n) {
  return 1 + fenwick_level(n - 1, 0);
}

inline float Recurrence::weight_of(Index i, Index j) const {
  return level_weights.empty() ? 1 : level_weights(i, fenwick_level(i, j));
}

/// Throws InputError unless the sizes are those of n tokens of d channels, numbers are finite and
/// no decay exceeds 1. `where` names what holds the numbers.
void check_recurrence(const Recurrence& recurrence, Index n, Index d, const std::string& where);

/// Divides each row x by sqrt(|x|^2 + 1e-6), as the kernels of models do.
void normalise_rows(Matrix& m);

}  // namespace fovea
