// A RecurrentChunk is a run of adjacent tokens of a recurrence. It says what the tokens do to the
// row of a later query, in closed form, and has the rows of its own queries, step by step. With G
// the sums of log decays from the beginning of the chunk, D_ut = exp(G_u - G_t), and all products
// taken channel by channel, a row r gets
//   P = Y (I + N)^-1 diag(b),   Y_t = sum over c of r_c D_end,t k_tc,   N_ut = b_u k_u . D_ut k_t
//   for u > t.
// Exponents are differences of sums, at most 0: nothing overflows, whatever the decays.
#pragma once

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

class RecurrentChunk {
 public:
  static constexpr Index most = 64;  // tokens

  /// `tokens`: at most `most` of them. In double.
  RecurrentChunk(const RecurrentPlan& plan, const Problem& problem, IndexRange tokens);
  ~RecurrentChunk();
  RecurrentChunk(const RecurrentChunk&) = delete;
  RecurrentChunk& operator=(const RecurrentChunk&) = delete;

  /// Rows for the vector r of a later query: P_it = r . keys_t, and before the first token of the
  /// chunk r is decay r + sum of P_it erased_t. `erased` is left as it is if nothing is erased.
  /// Writes the rows of the chunk's tokens, and `decay`, [d] or [1].
  void write(Matrix& keys, Matrix& erased, float* decay) const;

  /// Some of the chunk's own queries: p [queries, tokens], P_it without level weights, and r
  /// [queries, d], what each row is before the first token of the chunk.
  struct Own {
    Matrix p, r;
  };
  Own own(IndexRange queries) const;

 private:
  struct Rows;
  std::unique_ptr<const Rows> rows_;
};

}  // namespace fovea
