#include "analysis/sampling_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "analysis/row_bands.h"
#include "analysis/spectrum.h"
#include "analysis/support.h"
#include "backend/largest_singular_value.h"
#include "data/larger.h"

namespace fovea {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What one look at the rows of exact P gives.
struct RowLook {
  std::vector<double> column_squares;
  double block_mass = 0;                      // summed over rows
  Index rows = 0;                             // that attend any key
  double least = infinity, most = -infinity;  // of log <1 - M_i, A_i>
};

// The log of the sum of A over the keys outside the blocks, whose weights are all too small for a
// float.
double log_sum_outside(const Problem& problem, Index i, const std::vector<char>& blocked) {
  double most = -infinity, sum = 0;
  const auto for_outside = [&](const auto& take) {
    for (Index j = 0; j < problem.keys(); ++j)
      if (!blocked[static_cast<std::size_t>(j)] && problem.admits(i, j)) take(problem.logit(i, j));
  };
  for_outside([&](double logit) { most = std::max(most, logit); });
  if (most == -infinity) return most;  // wholly covered
  for_outside([&](double logit) { sum += std::exp(logit - most); });
  return most + std::log(sum);
}

void look_at(const float* p, Index i, double lse, const Problem& problem, const Support& support,
             RowLook& look) {
  const Index n = support.plan().lengths.n();
  double all = 0, outside = 0, inside = 0;
  std::vector<char> blocked(static_cast<std::size_t>(n));
  support.for_parts(i, {0, n}, [&](const Support::Part& part) {
    std::fill_n(blocked.begin() + part.keys.begin, part.keys.size(), 1);
  });
  for (Index j = 0; j < n; ++j) {
    const double x = static_cast<double>(p[j]);
    look.column_squares[static_cast<std::size_t>(j)] += x * x;
    all += x;
    (blocked[static_cast<std::size_t>(j)] ? inside : outside) += x;
  }
  if (std::isnan(lse)) all = lse;  // stays in every figure
  if (all <= 0) return;            // the query attends no key
  ++look.rows;
  look.block_mass += inside / all;
  const double log_outside =
      outside > 0 ? std::log(outside) + lse : log_sum_outside(problem, i, blocked);
  look.least = -larger_or_nan(-look.least, -log_outside);
  look.most = larger_or_nan(look.most, log_outside);
}

double row_sum_error(const Output& approximate, const Output& exact) {
  double sum = 0, rows = 0;
  for (std::size_t i = 0; i < exact.lse.size(); ++i) {
    if (exact.lse[i] == -infinity) continue;  // the query attends no key
    ++rows;
    sum += std::abs(
        std::expm1(static_cast<double>(approximate.lse[i]) - static_cast<double>(exact.lse[i])));
  }
  return sum / rows;
}

Matrix difference(MatrixView a, MatrixView b) {
  Matrix out = Matrix::copy_of(a);
  for (Index i = 0; i < b.rows; ++i)
    for (Index c = 0; c < b.cols; ++c) out(i, c) -= b(i, c);
  return out;
}

// The blocks M, as a plan of their own.
Plan blocks_of(const Plan& plan) {
  const auto& tiles = std::get<TilePlan>(plan.form);
  Plan blocks{.lengths = plan.lengths, .causal = plan.causal, .form = TilePlan{}};
  auto& passes = std::get<TilePlan>(blocks.form).passes;
  passes = tiles.row_estimates.exactly;
  if (tiles.row_estimates.empty())
    std::ranges::copy_if(tiles.passes, std::back_inserter(passes),
                         [](const Pass& pass) { return pass.weight.empty(); });
  return blocks;
}

// What becomes of a row's estimate: algorithm 2 of the paper.
void add_estimate_figures(const RowEstimates& rows, std::vector<Diagnostic>& out) {
  if (rows.empty()) return;
  const auto floored = std::ranges::count(rows.log_sums, rows.log_floor);
  out.push_back({"floored_rows", "Row sums at the floor τ/κ",
                 static_cast<double>(floored) / static_cast<double>(std::ssize(rows.log_sums)),
                 "Share of rows whose estimated sum was raised to τ/κ, τ being the largest sum "
                 "outside the blocks among m rows. Those whose true sum is less are divided by too "
                 "much: κ is set too small for them."});
  out.push_back({"capped_entries", "Sampled entries at their cap", rows.capped,
                 "Share of sampled entries outside the blocks that count only as their cap C_i = "
                 "ε² m / (n log n) (<M_i, A_i> + τ/κ). Where it is not 0 row sums are biased "
                 "downwards: ε is small for so few samples."});
}

// Those that need every row of P several times; without `run` they are left out.
void add_spectral_figures(const Diagnosis& of, double squares, Run* run,
                          std::vector<Diagnostic>& out) {
  Diagnostic rank{"stable_rank", "Stable rank", 0,
                  "|P|_F² / |P|_op² of exact P: about how many directions P has. The fewer, the "
                  "fewer keys need be sampled for the values (the paper, algorithm 3)."},
      of_p{"operator_error", "Operator-norm error of P", 0,
           "|P̃ − P|_op / |P|_op: for no column x is |P̃ x − P x| more than this times |P|_op |x|. "
           "Whatever V is, ε of Eq. 1 is no larger."},
      of_z{"spectral_epsilon", "Spectral error ε", 0,
           "The ε that solves |Z̃ − Z|_op = ε |P|_op |V|_op: what the paper bounds "
           "(HyperAttention, Eq. 1)."};
  const std::array figures{&rank, &of_p, &of_z};
  if (run) {
    const auto& [approximate, approximate_output, exact, exact_output] = of;
    Run of_exact = run->part(0, 0.3), of_difference = run->part(0.3, 1);
    const MatrixView v = exact.problem().v;
    const double norm = operator_norm(exact, of_exact),
                 value_norm = v.empty() ? 0 : largest_singular_value(v, of_exact);
    rank.value = squares / (norm * norm);
    of_p.value = difference_norm(approximate, exact, of_difference) / norm;
    // V = 0: both sides of Eq. 1 are 0, which every epsilon solves, 0 too.
    if (value_norm > 0)
      of_z.value =
          largest_singular_value(difference(approximate_output.z, exact_output.z), of_difference) /
          (norm * value_norm);
  }
  if (!of.exact.problem().has_values()) {
    of_z.value = std::numeric_limits<double>::quiet_NaN();
    of_z.left_out = true;
    of_z.meaning += std::string(" Left out: ") + no_values + ".";
  }
  for (Diagnostic* figure : figures) {
    if (!run && !figure->left_out) {
      figure->value = std::numeric_limits<double>::quiet_NaN();
      figure->left_out = true;
      figure->meaning += " Left out: it needs every row of P, and the head is too long for that.";
    }
    out.push_back(std::move(*figure));
  }
}

}  // namespace

std::vector<Diagnostic> sampling_figures(const Diagnosis& of, Run& run, double max_entries) {
  const auto& [approximate, approximate_output, exact, exact_output] = of;
  const Index n = exact.plan().lengths.n();
  run.check();
  const Plan blocks = blocks_of(approximate.plan());
  const Support support(blocks);
  const RowBands rows = row_bands({n, n}, max_entries, 0);
  RowLook look{.column_squares = std::vector<double>(static_cast<std::size_t>(n))};
  Run quiet = run.quiet();
  for (const IndexRange& band : rows.bands) {
    const Matrix p = exact.tile(band, {0, n}, quiet);
    for (Index i = band.begin; i < band.end; ++i)
      look_at(p.row(i - band.begin), i, exact_output.lse[static_cast<std::size_t>(i)],
              exact.problem(), support, look);
  }
  const bool sampled = rows.sampled();
  const double share = static_cast<double>(rows.rows) / static_cast<double>(n);
  double top = 0;
  for (const double square : look.column_squares) top = larger_or_nan(top, square / share);
  std::vector<Diagnostic> out{
      {"alpha", "Column spread α", static_cast<double>(n) * top,
       "n max_j Σ_i P_ij² of exact P: 1 where P is uniform, n where every query attends a key of "
       "its "
       "own, n² where all attend one key alone. The paper assumes α = n^o(1), and finds 8.2 of n = "
       "3136 in T2T-ViT (section 4.3).",
       sampled},
      {"kappa", "Row-sum ratio κ",
       std::isinf(look.least) ? infinity : std::exp(look.most - look.least),
       "Largest over smallest sum outside the blocks, <1 − M, A> of a row; infinite where a row is "
       "wholly covered. The paper assumes κ = n^o(1): the blocks take what is large, and the rest "
       "differs little between rows.",
       sampled},
      {"block_mass", "Mass in the blocks", look.block_mass / static_cast<double>(look.rows),
       "Exact attention that falls into the sorted blocks M, mean over rows: the more, the less is "
       "left to the samples.",
       sampled}};
  if (exact.plan().causal) {
    Diagnostic& kappa = out[1];
    kappa.value = std::numeric_limits<double>::quiet_NaN();
    kappa.left_out = true;
    kappa.meaning += " Left out: under a causal mask the blocks cover all keys of the first rows.";
  }
  if (!approximate_output.lse.empty())
    out.push_back({"row_sum_error", "Row-sum error",
                   row_sum_error(approximate_output, exact_output),
                   "|d̃/d − 1| of the row sums d of A, mean over rows; d̃ is what the rows of P̃ are "
                   "divided by."});
  add_estimate_figures(std::get<TilePlan>(approximate.plan().form).row_estimates, out);
  double squares = 0;
  for (const double s : look.column_squares) squares += s;
  add_spectral_figures(of, squares, sampled ? nullptr : &run, out);
  return out;
}

}  // namespace fovea
