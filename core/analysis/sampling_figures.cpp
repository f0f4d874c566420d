#include "analysis/sampling_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "analysis/column_squares.h"
#include "analysis/spectrum.h"
#include "analysis/support.h"
#include "backend/largest_singular_value.h"
#include "data/larger.h"

namespace fovea {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The rows that have keys; a row without any has no part in a figure.
std::vector<std::size_t> rows_with_keys(const Plan& exact) {
  std::vector<std::size_t> rows;
  for (Index i = 0; i < exact.queries(); ++i)
    if (admissible_keys(exact, i) > 0) rows.push_back(i);
  return rows;
}

double row_sum_error(const Output& approximate, const Output& exact,
                     const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (const std::size_t i : rows)
    sum += std::abs(
        std::expm1(static_cast<double>(approximate.lse[i]) - static_cast<double>(exact.lse[i])));
  return sum / static_cast<double>(rows.size());
}

Matrix difference(MatrixView a, MatrixView b) {
  Matrix out = Matrix::copy_of(a);
  for (Index i = 0; i < b.rows; ++i)
    for (Index c = 0; c < b.cols; ++c) out(i, c) -= b(i, c);
  return out;
}

// Pairs of a plan, as a plan of their own.
Plan pairs_of(const Plan& plan, std::vector<Pass> passes) {
  return {.lengths = plan.lengths,
          .causal = plan.causal,
          .window = plan.window,
          .mask = plan.mask,
          .form = TilePlan{.passes = std::move(passes)}};
}

// The blocks M.
std::vector<Pass> blocks_of(const Plan& plan) {
  const auto& tiles = std::get<TilePlan>(plan.form);
  std::vector<Pass> passes = tiles.row_estimates.exactly;
  if (tiles.row_estimates.empty())
    std::ranges::copy_if(tiles.passes, std::back_inserter(passes),
                         [](const Pass& pass) { return pass.weight.empty(); });
  return passes;
}

// All pairs outside blocks that have a tile for every row: 1 - M.
Pass outside_of(const Pass& blocks, const Plan& plan) {
  Pass out{.rows = blocks.rows, .cols = blocks.cols};
  for (const Tile& block : blocks.tiles)
    for (const IndexRange cols :
         {IndexRange{0, block.cols.begin}, IndexRange{block.cols.end, plan.keys()}})
      if (cols.size() > 0) out.tiles.push_back({block.rows, cols, plan.band()});
  return out;
}

// max_i / min_i <1 - M_i, A_i>; NaN, not defined, without rows.
double row_sum_ratio(const std::vector<float>& log_outside, const std::vector<std::size_t>& rows) {
  if (rows.empty()) return std::numeric_limits<double>::quiet_NaN();
  double least = infinity, most = -infinity;
  for (const std::size_t i : rows) {
    const double log = static_cast<double>(log_outside[i]);
    least = -larger_or_nan(-least, -log);
    most = larger_or_nan(most, log);
  }
  return std::isinf(least) ? infinity : std::exp(most - least);
}

double block_mass(const std::vector<float>& log_inside, const Output& exact,
                  const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (const std::size_t i : rows) {
    const double mass =
        std::exp(static_cast<double>(log_inside[i]) - static_cast<double>(exact.lse[i]));
    sum += mass > 1 ? 1 : mass;  // by rounding
  }
  return sum / static_cast<double>(rows.size());
}

void leave_out(Diagnostic& figure, const std::string& why) {
  figure.value = std::numeric_limits<double>::quiet_NaN();
  figure.left_out = true;
  figure.meaning += " Left out: " + why + ".";
}

// Adds the figures of row estimates: algorithm 2 of the paper.
void add_estimate_figures(const RowEstimates& rows, std::vector<Diagnostic>& out) {
  if (rows.empty()) return;
  out.push_back({"floored_rows", "Rows at the floor τ/κ", rows.floored,
                 "Share of rows whose estimated sum outside the blocks was raised to τ/κ, τ being "
                 "the largest such sum among m rows. Rows whose true sum there is less are divided "
                 "by too much: κ is set too small for them."});
  out.push_back({"capped_entries", "Sampled entries at their cap", rows.capped,
                 "Share of sampled entries outside the blocks that count only as their cap C_i = "
                 "ε² m / (n log n) (<M_i, A_i> + τ/κ). Where it is not 0 row sums are biased "
                 "downwards: ε is small for so few samples."});
}

// [n] d_i / d~_i - 1 of the row sums; 0 for a row without keys.
std::vector<double> row_factors_less_1(const Output& approximate, const Output& exact,
                                       const std::vector<std::size_t>& rows) {
  std::vector<double> factors(exact.lse.size());
  for (const std::size_t i : rows)
    factors[i] =
        std::expm1(static_cast<double>(exact.lse[i]) - static_cast<double>(approximate.lse[i]));
  return factors;
}

/// A matrix over its largest entry, which may be beyond the range of float32.
struct ScaledMatrix {
  Matrix entries;
  double scale = 1;
};

// D~^-1 (W A - A) V, W being the weights of the plan: Z~ less the rows of Z times d_i / d~_i.
ScaledMatrix error_of_values(MatrixView approximate, MatrixView exact,
                             const std::vector<double>& factors_less_1) {
  const auto entry = [&](Index i, Index c) {
    const double factor = 1 + factors_less_1[i];
    return double{approximate.row(i)[c]} - factor * double{exact.row(i)[c]};
  };
  double largest = 0;
  for (Index i = 0; i < exact.rows; ++i)
    for (Index c = 0; c < exact.cols; ++c) largest = std::max(largest, std::abs(entry(i, c)));
  ScaledMatrix out{Matrix::copy_of(approximate), largest > 1 ? largest : 1};
  for (Index i = 0; i < exact.rows; ++i)
    for (Index c = 0; c < exact.cols; ++c)
      out.entries(i, c) = static_cast<float>(entry(i, c) / out.scale);
  return out;
}

// The m that the paper's lemmas ask for, for eps = 1, and the m of the plan.
std::string in_use(const Plan& plan) {
  if (plan.samples.empty()) return "";
  return " The plan draws m = " + std::to_string(plan.structure.integers(plan.samples).size()) +
         ".";
}

Diagnostic samples_of_lemma_1(double kappa, double alpha, const Plan& plan) {
  return {"lemma_1_samples", "Samples m of Lemma 1, ε = 1", std::pow(kappa, 7) * alpha * alpha,
          "κ⁷ α² / ε⁶ for ε = 1, constants and logarithms left out. The paper proves that so many "
          "uniformly sampled keys are enough for Eq. 2; if this is above n, the lemma promises "
          "nothing for this head." +
              in_use(plan)};
}

Diagnostic samples_of_lemma_2(double stable_rank, Index dv, const Plan& plan) {
  return {"lemma_2_samples", "Samples m of Lemma 2, ε = 1", static_cast<double>(dv) * stable_rank,
          "d srank(P) / ε² for ε = 1, d being the width of V, constants left out. The paper proves "
          "that so many keys, sampled by the norms of their values, are enough for Eq. 3." +
              in_use(plan)};
}

// Adds the figures that need every row of P several times; without `run` they are left out.
void add_spectral_figures(const Diagnosis& of, const std::vector<std::size_t>& rows, double squares,
                          Run* run, std::vector<Diagnostic>& out) {
  Diagnostic rank{"stable_rank", "Stable rank", 0,
                  "|P|_F² / |P|_op² of exact P: about how many directions P has. The fewer, the "
                  "fewer keys need be sampled for the values (the paper, algorithm 3)."},
      of_p{"operator_error", "Operator-norm error of P", 0,
           "|P̃ − P|_op / |P|_op: for no column x is |P̃ x − P x| more than this times |P|_op |x|. "
           "Whatever V is, ε of Eq. 1 is no larger."},
      of_z{"spectral_epsilon", "Spectral error ε, Eq. 1", 0,
           "The ε that solves |Z̃ − Z|_op = ε |P|_op |V|_op: what the paper bounds "
           "(HyperAttention, Eq. 1). It is at most the sum of those of Eq. 2 and 3."},
      of_d{"row_sum_epsilon", "Row-sum error ε, Eq. 2", 0,
           "|(D̃⁻¹ − D⁻¹) A|_op / |P|_op: the error if only the row sums D were estimated "
           "(HyperAttention, Eq. 2)."},
      of_v{
          "value_epsilon", "Sampled-value error ε, Eq. 3", 0,
          "|Z̃ − D̃⁻¹ A V|_op / (|P|_op |V|_op): the error of the sampled values beside those of all "
          "keys, both divided by the estimated row sums (HyperAttention, Eq. 3)."};
  Diagnostic needed = samples_of_lemma_2(0, of.exact.problem().dv(), of.approximate.plan());
  if (run) {
    const auto& [approximate, approximate_output, exact, exact_output, backend] = of;
    Run of_exact = run->part(0, 0.2), of_sums = run->part(0.2, 0.4),
        of_difference = run->part(0.4, 1);
    const MatrixView v = exact.problem().v;
    const double norm = operator_norm(exact, of_exact),
                 value_norm = v.empty() ? 0 : largest_singular_value(v, of_exact);
    const std::vector<double> factors = row_factors_less_1(approximate_output, exact_output, rows);
    rank.value = squares / (norm * norm);
    needed = samples_of_lemma_2(rank.value, exact.problem().dv(), approximate.plan());
    of_d.value = weighted_norm(exact, factors, of_sums) / norm;
    of_p.value = difference_norm(approximate, exact, of_difference) / norm;
    // If V = 0 both sides are 0, which every epsilon solves, also 0.
    if (!(value_norm == 0)) {  // NaN is none of these
      const auto epsilon_of = [&](const ScaledMatrix& error) {
        return largest_singular_value(error.entries, of_difference) * error.scale /
               (norm * value_norm);
      };
      of_z.value = epsilon_of({difference(approximate_output.z, exact_output.z)});
      of_v.value = std::ranges::any_of(factors, [](double factor) { return std::isinf(factor); })
                       ? infinity  // a row with keys, none of which is in a block or sampled
                       : epsilon_of(error_of_values(approximate_output.z, exact_output.z, factors));
    }
  }
  if (!of.exact.problem().has_values())
    for (Diagnostic* figure : {&of_z, &of_v, &needed}) leave_out(*figure, no_values);
  for (Diagnostic* figure : {&rank, &of_p, &of_z, &of_d, &of_v, &needed}) {
    if (!run && !figure->left_out)
      leave_out(*figure, "it needs every row of P, and the head is too long for that");
    out.push_back(std::move(*figure));
  }
}

}  // namespace

std::vector<Diagnostic> sampling_figures(const Diagnosis& of, Run& run, double max_entries) {
  const auto& [approximate, approximate_output, exact, exact_output, backend] = of;
  const Plan& plan = approximate.plan();
  const Problem& problem = exact.problem();
  const auto n = static_cast<double>(problem.n());
  run.check();
  const bool spectral = n * n <= max_entries;
  const double end = spectral ? 0.3 : 1;  // of the three passes
  Run of_columns = run.part(0, 0.45 * end), of_outside = run.part(0.45 * end, 0.9 * end),
      of_blocks = run.part(0.9 * end, end), of_norms = run.part(end, 1);
  const std::vector<std::size_t> rows = rows_with_keys(exact.plan());
  const std::vector<Pass> blocks = blocks_of(plan);
  const std::vector<double> squares =
      column_squares(problem, exact_output.lse, backend, of_columns);
  double top = 0, all_squares = 0;
  for (const double square : squares) {
    top = larger_or_nan(top, square);
    all_squares += square;
  }
  std::vector<Diagnostic> out{
      {"alpha", "Column spread α", n * top,
       "n maxⱼ Σᵢ Pᵢⱼ² of exact P, as in the paper's Lemma 1: 1 where P is uniform, n where "
       "every query attends a key of its own, n² where all attend one key alone. The paper assumes "
       "α = nᵒ⁽¹⁾."},
      {"column_norm", "Largest column norm², α / n", top,
       "maxⱼ Σᵢ Pᵢⱼ² of exact P. Section 4.3 of the paper calls this α: 8.18 of n = 3136 in "
       "T2T-ViT, and its Fig. 5 draws it over n, .0026 there."},
      {"kappa", "Row-sum ratio κ", 0,
       "Largest over smallest sum outside the blocks, <1 − M, A> of a row; infinite where a row is "
       "wholly covered. The paper assumes κ = nᵒ⁽¹⁾: the blocks take what is large, and the rest "
       "differs little between rows."},
      {"block_mass", "Mass in the blocks", 0,
       "Exact attention that falls into the sorted blocks M, mean over rows: the more, the less is "
       "left to the samples."}};
  Diagnostic &kappa = out[2], &mass = out[3];
  if (!exact.plan().causal)
    kappa.value = row_sum_ratio(log_sums_over(pairs_of(plan, {outside_of(blocks.front(), plan)}),
                                              problem, backend, of_outside),
                                rows);
  Diagnostic needed = samples_of_lemma_1(kappa.value, n * top, plan);
  if (exact.plan().causal)
    for (Diagnostic* figure : {&kappa, &needed})
      leave_out(*figure, "under a causal mask the blocks cover all keys of the first rows");
  mass.value = block_mass(log_sums_over(pairs_of(plan, blocks), problem, backend, of_blocks),
                          exact_output, rows);
  out.push_back(std::move(needed));
  if (!approximate_output.lse.empty())
    out.push_back({"row_sum_error", "Row-sum error",
                   row_sum_error(approximate_output, exact_output, rows),
                   "|d̃/d − 1| of the row sums d of A, mean over rows; d̃ is what the rows of P̃ are "
                   "divided by."});
  add_estimate_figures(std::get<TilePlan>(plan.form).row_estimates, out);
  add_spectral_figures(of, rows, all_squares, spectral ? &of_norms : nullptr, out);
  return out;
}

}  // namespace fovea
