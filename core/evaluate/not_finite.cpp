#include "evaluate/not_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/number_text.h"
#include "data/text.h"

namespace fovea {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

bool is_finite(const float* row, Index count) {
  return std::all_of(row, row + count, [](float x) { return std::isfinite(x); });
}

bool is_finite(MatrixView m) {
  for (Index i = 0; i < m.rows; ++i)
    if (!is_finite(m.row(i), m.cols)) return false;
  return true;
}

std::string cause_of(const Computation& computation) {
  const Problem& problem = computation.op->problem();
  std::string tensors;
  const auto look_at = [&](const char* name, MatrixView m) {
    if (!is_finite(m)) add_item(tensors, name);
  };
  look_at("q", problem.q);
  look_at("k", problem.k);
  look_at("v", problem.v);
  if (is_read(computation.op->plan())) return "the result in the file holds them";
  return tensors.empty() ? "what is computed leaves the range of the precision"
                         : "the input holds them, or numbers beyond 1e14, in " + tensors;
}

Index count_not_finite(const Output& output) {
  Index rows = 0;
  if (output.z.cols() == 0)
    return std::ranges::count_if(
        output.lse, [](float sum) { return !std::isfinite(sum) && sum != minus_infinity; });
  for (Index i = 0; i < output.z.rows(); ++i) rows += !is_finite(output.z.row(i), output.z.cols());
  return rows;
}

std::string note_of_rows(const Computation& computation) {
  const auto& [rows, cause] = computation.not_finite;
  if (rows == 0) return "";
  const bool of_outputs = computation.output.z.cols() > 0;
  return "NaN or Inf in " + plural(rows, of_outputs ? "output row" : "row") + " of " +
         (of_outputs ? "" : "P of ") + computation.variant->label + ": " + cause;
}

/// A weight is exp(S - L) of a logit and a log-sum-exp, both of which are rounded by up to 2^-24 of
/// their size.
std::string note_of_rounding(const Computation& computation) {
  if (is_read(computation.op->plan())) return "";
  double largest = 0;
  for (const float sum : computation.output.lse)
    if (std::isfinite(sum)) largest = std::max(largest, std::abs(double{sum}));
  const double error = std::expm1(2 * largest * 0x1p-24);
  if (error <= 0.005) return "";
  return "logits near " + format_plain(largest) + ": weights of " + computation.variant->label +
         " in fp32 are rounded by " +
         (error < 10 ? "up to " + format_percent(error) : "more than 1000 %");
}

}  // namespace

NotFinite find_not_finite(const Computation& computation, const Output& output) {
  const Index rows = count_not_finite(output);
  return {rows, rows > 0 ? cause_of(computation) : ""};
}

std::string note_of_numbers(const Computation& computation) {
  const std::string rows = note_of_rows(computation), rounding = note_of_rounding(computation);
  return rows + (rows.empty() || rounding.empty() ? "" : "; ") + rounding;
}

}  // namespace fovea
