#include "analysis/sampling_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/row_bands.h"
#include "analysis/spectrum.h"
#include "analysis/support.h"

namespace fovea {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What one look at the rows of exact P gives.
struct RowLook {
  std::vector<double> column_squares;
  double block_mass = 0;    // summed over rows
  double least = infinity;  // of log <1 - M_i, A_i>
  double most = -std::numeric_limits<double>::infinity();
};

void look_at(const float* p, Index i, double lse, const Support& support, RowLook& look) {
  const Index n = support.plan().n;
  double all = 0, outside = 0, inside = 0;
  std::vector<char> blocked(static_cast<std::size_t>(n));
  support.for_parts(i, {0, n}, [&](const Support::Part& part) {
    if (part.pass->weight.empty())
      std::fill_n(blocked.begin() + part.keys.begin, part.keys.size(), 1);
  });
  for (Index j = 0; j < n; ++j) {
    const double x = static_cast<double>(p[j]);
    look.column_squares[static_cast<std::size_t>(j)] += x * x;
    all += x;
    (blocked[static_cast<std::size_t>(j)] ? inside : outside) += x;
  }
  look.block_mass += inside / all;
  const double log_outside = std::log(outside) + lse;  // -inf: wholly covered
  look.least = std::min(look.least, log_outside);
  look.most = std::max(look.most, log_outside);
}

double row_sum_error(const Output& approximate, const Output& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.lse.size(); ++i)
    sum += std::abs(
        std::expm1(static_cast<double>(approximate.lse[i]) - static_cast<double>(exact.lse[i])));
  return sum / static_cast<double>(exact.lse.size());
}

Matrix difference(MatrixView a, MatrixView b) {
  Matrix out = Matrix::copy_of(a);
  for (Index i = 0; i < b.rows; ++i)
    for (Index c = 0; c < b.cols; ++c) out(i, c) -= b(i, c);
  return out;
}

}  // namespace

std::vector<Diagnostic> sampling_figures(const Diagnosis& of, Run& run, double max_entries) {
  const auto& [approximate, approximate_output, exact, exact_output] = of;
  const Index n = exact.plan().n;
  const Support support(approximate.plan());
  const RowBands rows = row_bands(n, max_entries, 0);
  RowLook look{.column_squares = std::vector<double>(static_cast<std::size_t>(n))};
  Run quiet{run.profile, run.stop};
  for (const IndexRange& band : rows.bands) {
    const Matrix p = exact.tile(band, {0, n}, quiet);
    for (Index i = band.begin; i < band.end; ++i)
      look_at(p.row(i - band.begin), i, exact_output.lse[static_cast<std::size_t>(i)], support,
              look);
  }
  const bool sampled = rows.sampled();
  const double taken = static_cast<double>(rows.rows), share = taken / static_cast<double>(n);
  const double top = std::ranges::max(look.column_squares) / share;
  std::vector<Diagnostic> out{
      {"alpha", "Column spread α", static_cast<double>(n) * top,
       "n max_j Σ_i P_ij² of exact P: 1 is uniform, n is one column taking all.", sampled},
      {"kappa", "Row-sum ratio κ",
       std::isinf(look.least) ? infinity : std::exp(look.most - look.least),
       "Largest over smallest mass outside the blocks, <1 − M, A> of a row; infinite where a row "
       "is wholly covered.",
       sampled},
      {"block_mass", "Mass in the blocks", look.block_mass / taken,
       "Exact attention that falls into the sorted blocks, mean over rows.", sampled}};
  if (!approximate_output.lse.empty())
    out.push_back({"row_sum_error", "Row-sum error",
                   row_sum_error(approximate_output, exact_output),
                   "Relative error of the row sums of A, mean over rows."});
  if (sampled) return out;
  double squares = 0;
  for (const double s : look.column_squares) squares += s;
  const double norm = operator_norm(exact, run);
  out.push_back(
      {"stable_rank", "Stable rank", squares / (norm * norm), "|P|_F² / |P|_op² of exact P."});
  const double value_norm = thin_norm(exact.problem().v),
               achieved = thin_norm(difference(approximate_output.z, exact_output.z));
  // V = 0: both sides of Eq. 1 are 0, which every epsilon solves, 0 too.
  out.push_back({"spectral_epsilon", "Spectral error ε",
                 value_norm == 0 ? 0.0 : achieved / (norm * value_norm),
                 "Achieved ε of |Z̃ − Z|_op ≤ ε |P|_op |V|_op (HyperAttention, Eq. 1)."});
  return out;
}

}  // namespace fovea
