#include "session/not_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/support.h"
#include "data/number_text.h"

namespace fovea {
namespace {

bool all_finite(const float* row, Index count) {
  return std::all_of(row, row + count, [](float x) { return std::isfinite(x); });
}

bool all_finite(MatrixView m) {
  for (Index i = 0; i < m.rows; ++i)
    if (!all_finite(m.row(i), m.cols)) return false;
  return true;
}

std::string cause_of(const Computation& computation) {
  const Problem& problem = computation.op->problem();
  std::string tensors;
  const auto look_at = [&](const char* name, MatrixView m) {
    if (!all_finite(m)) tensors += (tensors.empty() ? "" : ", ") + std::string(name);
  };
  look_at("q", problem.q);
  look_at("k", problem.k);
  look_at("v", problem.v);
  if (computation.variant->imported) return "the result in the file holds them";
  if (!tensors.empty()) return "the input holds them, in " + tensors;
  const bool half = computation.precision == "fp16";
  return std::string("q.k or v exceeds the range of ") + (half ? "fp16" : "fp32");
}

}  // namespace

void mark_overflow(const Plan& plan, Output& output) {
  const auto is_empty = [](float sum) { return sum == -std::numeric_limits<float>::infinity(); };
  if (std::ranges::none_of(output.lse, is_empty)) return;
  const Support support(plan);
  for (Index i = 0; i < std::ssize(output.lse); ++i) {
    float& sum = output.lse[static_cast<std::size_t>(i)];
    if (!is_empty(sum) || support.count(i) == 0) continue;
    sum = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(output.z.row(i), output.z.cols(), sum);
  }
}

Index count_not_finite(const Output& output) {
  Index rows = 0;
  if (output.z.cols() == 0)
    return std::ranges::count_if(output.lse, [](float sum) {
      return !std::isfinite(sum) && sum != -std::numeric_limits<float>::infinity();
    });
  for (Index i = 0; i < output.z.rows(); ++i) rows += !all_finite(output.z.row(i), output.z.cols());
  return rows;
}

std::string note_of_not_finite(const Computation& computation) {
  const Index rows = computation.rows_not_finite;
  if (rows == 0) return "";
  const bool of_outputs = computation.output.z.cols() > 0;
  return "NaN or Inf in " + plural(rows, of_outputs ? "output row" : "row") + " of " +
         (of_outputs ? "" : "P of ") + computation.variant->label + ": " + cause_of(computation);
}

}  // namespace fovea
