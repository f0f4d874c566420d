// Kernels of other programs, in double, and their results as columns beside exact attention.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/metrics.h"
#include "analysis/rounding_budget.h"
#include "data/imported_result.h"
#include "harness.h"
#include "kernels/round_16.h"
#include "variants/variant.h"

namespace fovea::test {

using Rounding = float (*)(float);

inline float to_fp32(float x) {
  return x;
}
inline float through_bf16(float x) {
  return from_bf16(to_bf16(x));
}
inline float through_fp16(float x) {
  return from_fp16(to_fp16(x));
}

/// A kernel: softmax in double over the pairs that `keeps` has, weights and output rounded.
struct Kernel {
  Matrix z, p;
  std::vector<float> lse;
};
template <class Keeps>
Kernel run_kernel(const Problem& problem, Rounding round, Keeps keeps) {
  Kernel out{
      Matrix(problem.queries(), problem.dv()), Matrix(problem.queries(), problem.keys()), {}};
  for (Index i = 0; i < problem.queries(); ++i) {
    double sum = 0, largest = -std::numeric_limits<double>::infinity();
    const auto counts = [&](Index j) { return problem.admits(i, j) && keeps(i, j); };
    for (Index j = 0; j < problem.keys(); ++j)
      if (counts(j)) largest = std::max(largest, problem.logit(i, j));
    for (Index j = 0; j < problem.keys(); ++j)
      if (counts(j)) sum += std::exp(problem.logit(i, j) - largest);
    out.lse.push_back(static_cast<float>(largest + std::log(sum)));
    for (Index c = 0; c < problem.dv(); ++c) {
      double z = 0;
      for (Index j = 0; j < problem.keys(); ++j) {
        const double p = counts(j) ? std::exp(problem.logit(i, j) - largest) / sum : 0;
        out.p(i, j) = round(static_cast<float>(p));
        z += static_cast<double>(out.p(i, j)) * static_cast<double>(problem.v(j, c));
      }
      out.z(i, c) = round(static_cast<float>(z));
    }
  }
  return out;
}

inline Matrix column_of(const std::vector<float>& values) {
  Matrix out(std::ssize(values), 1);
  for (Index i = 0; i < out.rows(); ++i) out(i, 0) = values[static_cast<std::size_t>(i)];
  return out;
}

inline HeadTensor tensor(Matrix m) {
  std::vector<Matrix> heads;
  heads.push_back(std::move(m));
  return make_head_tensor(std::move(heads));
}

/// The numbers rounded to bf16, as a file holds them.
inline HeadTensor tensor_of_bf16(const Matrix& m) {
  auto kept = std::make_shared<std::vector<std::uint16_t>>();
  for (Index i = 0; i < m.rows(); ++i)
    for (Index c = 0; c < m.cols(); ++c) kept->push_back(to_bf16(m(i, c)));
  HeadTensor out = tensor(Matrix::copy_of(m));
  out.type = ElementType::bf16;
  out.bytes = bytes_in_memory(std::as_bytes(std::span(*kept)), kept);
  out.begin = 0;
  out.head_stride = m.rows() * m.cols() * 2;
  out.row_stride = m.cols() * 2;
  out.col_stride = 2;
  return out;
}

inline Problem with(Problem problem, ImportedTensors result) {
  problem.imported =
      std::make_shared<const ImportedResults>(ImportedResults{{std::move(result)}, 0});
  return problem;
}

inline constexpr auto everything = [](Index, Index) { return true; };

struct AgainstExact {
  Instance imported, exact;
  Metrics metrics;
  std::vector<Diagnostic> figures;

  explicit AgainstExact(const Problem& problem)
      : imported(make_instance(*backends().front(), problem, "imported", {})),
        exact(make_instance(*backends().front(), problem, "exact", {})) {
    Profile profile;
    Run run{profile};
    const Output a = imported.apply(problem.v), b = exact.apply(problem.v);
    metrics = compare(*imported.bound, a, *exact.bound, b, run);
    for (const DiagnosticSource& source : find_variant("imported").diagnostics)
      for (Diagnostic& figure :
           source({*imported.bound, a, *exact.bound, b, *backends().front()}, run))
        figures.push_back(std::move(figure));
  }
  double figure(const std::string& id) const {
    const auto found = std::ranges::find(figures, id, &Diagnostic::id);
    REQUIRE(found != figures.end());
    return found->value;
  }
};

}  // namespace fovea::test
