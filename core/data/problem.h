// A Problem is one attention head to be computed: Q, K, V, the scale, who may attend whom and what
// the model does to logits, or the recurrence that it has in place of a softmax.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "data/band.h"
#include "data/compressed_entries.h"
#include "data/imported_result.h"
#include "data/lengths.h"
#include "data/logit_rule.h"
#include "data/matrix.h"
#include "data/pair_mask.h"
#include "data/recurrence.h"

namespace fovea {

/// Logits are S_ij = scale q_i . k_j, changed by the rule. Queries, keys and values are in sequence
/// order; query i is at the place t = i + nk - nq of the keys, or of those that are tokens.
struct Problem {
  MatrixView q;  // [nq, d]
  MatrixView k;  // [nk, d]
  MatrixView v;  // [nk, dv]; dv = 0: there are none, and Z is not known
  double scale = 1.0;
  bool causal = false;     // only j <= t
  Index window = 0;        // only j > t - window, as in Mistral's sliding window; 0 if none
  Index head = 0;          // index within its layer: some variants give heads different sets
  bool reordered = false;  // a picture or a video whose tokens are not row by row, frame by frame
  std::shared_ptr<const PairMask> mask = {};          // null: all pairs
  std::shared_ptr<const LogitRule> rule = {};         // null: logits are only scaled
  std::shared_ptr<const Recurrence> recurrence = {};  // null: a softmax
  /// What the last keys are if they are not tokens; null if all are. The causal mask and the window
  /// of such a head are those of its entries, and only in the mask.
  std::shared_ptr<const CompressedEntries> compressed = {};
  std::shared_ptr<const ImportedResults> imported = {};  // null: the source has none
  std::shared_ptr<const void> owner;                     // keeps q, k, v alive

  Lengths lengths() const { return {q.rows, k.rows}; }
  Index queries() const { return q.rows; }
  Index keys() const { return k.rows; }
  /// The number of queries, and of keys, if they are known to be equal.
  Index n() const { return lengths().n(); }
  Index d() const { return q.cols; }
  Index dv() const { return v.cols; }
  bool has_values() const { return v.cols > 0; }

  /// Whether no query sees a later token, by `causal` or by the mask of a head with entries.
  bool is_causal() const { return causal || (compressed && compressed->causal); }
  /// The pairs that the causal mask and the window admit.
  Band band() const { return band_of(causal, window, lengths().offset()); }
  /// Whether query i may attend key j: biases of -inf are in the mask.
  bool admits(Index i, Index j) const {
    return band().contains(i, j) && (!mask || mask->admits(i, j));
  }
  /// Whether query i may attend one of some keys, which ascend.
  bool admits_any(Index i, std::span<const std::int32_t> keys) const;
  /// S_ij in double precision, without the mask.
  double logit(Index i, Index j) const;
};

/// The end of messages about a head without values.
inline constexpr const char* no_values = "the file has no values v";

/// Owns copies of q, k, v. Throws InputError if shapes disagree, or if a size other than dv is 0. A
/// scale of 0 or less means the default, 1/sqrt(d).
Problem make_problem(Matrix q, Matrix k, Matrix v, double scale = 0.0, bool causal = false,
                     Index head = 0);

/// The first n tokens; borrows nothing that `head` does not own.
Problem prefix_of(const Problem& head, Index n);

/// Heads are refused if numbers in q, k and v exceed number_limit, or if logits, or the squares of
/// queries and keys that performer takes, may exceed logit_limit. Both limits are far beyond what
/// models compute. Within them logits, and sums of logits over 131072 keys, stay in the range of a
/// float (3.4e38), in units of log 2 too. The entries of hyper in theory mode may exceed the range.
inline constexpr float number_limit = 1e14f;
inline constexpr double logit_limit = 1e30;

/// Throws InputError naming tensor, head and position of the first number in q, k or v that is NaN,
/// infinite or of a magnitude above number_limit; Cancelled.
void require_usable_numbers(const Problem& problem, const std::string& where,
                            const std::stop_token& stop);

/// Replaces such numbers by NaN. Throws Cancelled.
void replace_unusable_numbers(Matrix& m, const std::stop_token& stop);

/// Throws InputError where scale * max(1, d x^2) exceeds logit_limit, x being the largest number in
/// q and k: a bound of the scale, of logits and of squares. Throws Cancelled.
void require_usable_scale(const Problem& problem, const std::string& where,
                          const std::stop_token& stop);

}  // namespace fovea
