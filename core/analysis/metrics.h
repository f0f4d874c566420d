// Metrics measure how far an approximate attention is from the exact one of the same scale and
// mask.
#pragma once

#include <array>
#include <optional>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"
#include "analysis/section_mass.h"
#include "backend/operator.h"

namespace fovea {

/// The mean over rows of a divergence, in nats. A row where it is infinite makes the mean infinite,
/// without a standard error.
struct Divergence : Estimate {
  Index infinite_rows = 0;  // of the rows that were used
  Estimate infinite_share;  // of all rows
};

/// The mask decides whether a query has keys; a row without keys counts as kept, without an error.
/// Weights are those beside a sink. If a row of P, P~, Z or Z~ holds NaN or infinity, every figure
/// over rows that include it is NaN, not defined.
struct Metrics {
  // Errors of outputs, if the head has values.
  double output_rel_fro = 0;  // |Z~ - Z|_F / |Z|_F
  double output_rel_l1 = 0;   // sum of |Z~ - Z| over that of |Z|
  double output_max_abs = 0;
  Index max_abs_row = 0, max_abs_col = 0;           // where it is first
  double output_cosine = 1, output_min_cosine = 1;  // of all numbers; the smallest of a row
  double output_pearson = 1;                        // correlation of all numbers
  double row_rel_error_p50 = 0, row_rel_error_p90 = 0,
         row_rel_error_max = 0;  // |z~_i - z_i| / |z_i|
  // Errors of weights, if those of P~ are known.
  Estimate attention_rel_fro;   // |P~ - P|_F / |P|_F
  Estimate attention_tv;        // mean over rows of half the sum of |P~_i - P_i|
  Estimate attention_tv_p90;    // over all rows
  double attention_tv_max = 0;  // of the rows that were used
  Divergence attention_kl;      // KL(P_i || P~_i); NaN where an entry of P~ is negative
  std::optional<Divergence> attention_reverse_kl;  // KL(P~_i || P_i); absent where an entry of
                                                   // P~ is negative
  Estimate mass_kept;  // mean over rows of the exact mass on the support of P~
  std::array<Estimate, top_counts.size()> top_recall;  // mean over rows of the share of the top k
                                                       // keys of P that are in those of P~
  Index rows_of_equal_weights = 0;  // of the rows used: all weights of P are equal up to rounding,
                                    // which then decides which keys are in the top
  double density = 0;               // nnz(P~) / n^2
  /// The rows from which the metrics of P~ were found. 0 if its entries are not known; the members
  /// below that need them are then not known either.
  Index rows = 0;
  Index queries = 0;  // of the head
  bool of_attention() const { return rows > 0; }
  bool sampled() const { return of_attention() && rows < queries; }
  std::vector<float> token_error;  // [n] |z~_i - z_i|, perhaps NaN; empty if the head has no values
  bool of_outputs() const { return !token_error.empty(); }
  std::vector<float>
      dropped_mass;  // [n] exact mass of a row off the support of P~; NaN: a row
                     // that was not sampled or is not finite; empty if the support is everything
  Estimate dropped_mass_p50;            // over all rows
  std::optional<SectionMass> sections;  // of P~, if the head has compressed entries
};

/// |Z~ - Z|_F / |Z|_F; 0 for equal outputs, whatever their norm; nothing without outputs, as heads
/// without values have none.
std::optional<double> output_rel_fro(MatrixView approximate, MatrixView exact);

/// Never holds n x n numbers: rows are compared in bands. Beyond `max_entries` entries of P a
/// sample of rows (from `seed`) is used for the attention metrics. A few rows can have most of ‖P̃
/// − P‖, so rows whose outputs or log-sum-exps differ much, or whose output is far from the mean
/// output, are sampled with a larger chance. The samples of two approximations therefore share many
/// rows, but not all; the same holds for two back ends, which round differently.
Metrics compare(const Operator& approximate, const Output& approximate_output,
                const Operator& exact, const Output& exact_output, Run& run,
                double max_entries = most_read_entries, std::uint64_t seed = 0);

}  // namespace fovea
