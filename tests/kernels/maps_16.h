// What tests of maps of P compare them with, and how.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "kernels/round_16.h"
#include "reference.h"

namespace fovea::test {

// Whether the rows of `part` are, bit for bit, those of `whole` from `first` on.
inline bool same_rows(const Matrix& part, const Matrix& whole, Index first) {
  if (part.cols() != whole.cols() || first + part.rows() > whole.rows()) return false;
  for (Index r = 0; r < part.rows(); ++r)
    if (std::memcmp(part.row(r), whole.row(first + r),
                    static_cast<std::size_t>(part.cols()) * sizeof(float)) != 0)
      return false;
  return true;
}

inline bool same_sums(const std::vector<float>& part, const std::vector<float>& whole,
                      Index first) {
  return std::equal(part.begin(), part.end(), whole.begin() + first);
}

// Largest difference relative to the larger; a NaN where the other has none is infinite.
inline double apart(const Matrix& a, const Matrix& b) {
  double worst = a.rows() == b.rows() && a.cols() == b.cols() ? 0 : INFINITY;
  for (Index r = 0; r < a.rows() && worst < INFINITY; ++r)
    for (Index c = 0; c < a.cols(); ++c) {
      const double x = static_cast<double>(a(r, c)), y = static_cast<double>(b(r, c));
      if (std::isnan(x) || std::isnan(y))
        worst = std::isnan(x) && std::isnan(y) ? worst : INFINITY;
      else
        worst = std::max(worst, std::abs(x - y) / (std::max(x, y) + 0x1p-100));
    }
  return worst;
}

// The problem whose logits are those of `problem` in a precision: q times scale and log2(e), and k.
inline Problem rounded_to(const std::string& precision, const Problem& problem) {
  constexpr double log2e = 1.44269504088896340736;
  const auto rounded = [&](MatrixView m, float factor) {
    Matrix out(m.rows, m.cols);
    for (Index i = 0; i < m.rows; ++i)
      for (Index c = 0; c < m.cols; ++c) {
        const float x = m(i, c) * factor;
        out(i, c) = precision == "bf16"   ? from_bf16(to_bf16(x))
                    : precision == "fp16" ? from_fp16(to_fp16(x))
                                          : x;
      }
    return out;
  };
  Problem its =
      make_problem(rounded(problem.q, static_cast<float>(problem.scale * log2e)),
                   rounded(problem.k, 1), Matrix::copy_of(problem.v), 1 / log2e, problem.causal);
  its.mask = problem.mask;
  return its;
}

// The unit of the maps of two, each of which rounds exponents in log2 units relative to their own
// size, and adds up to n weights in its order: half of how far they may be apart.
inline double map_unit(const Problem& problem) {
  return 0x1p-23 * (8 + 4 * largest_logit(problem)) +
         2 * static_cast<double>(problem.keys()) * 0x1p-24;
}

// A head like another one, under its causal mask, whose query has another number.
inline Problem with_number_of_query(const Problem& head, Index query, float number) {
  Matrix q = Matrix::copy_of(head.q);
  q(query, 2) = number;
  return make_problem(std::move(q), Matrix::copy_of(head.k), Matrix::copy_of(head.v), head.scale,
                      head.causal);
}

// Maps of the logits of Z in a precision.
inline void check_maps(const RowsOutput& found, const std::string& precision,
                       const Problem& problem, IndexRange rows, Index pixel) {
  static const std::unique_ptr<Backend> cpu = make_cpu_backend();
  const RowsOutput right =
      make_instance(*cpu, rounded_to(precision, problem), "exact", {}).apply_rows(rows, pixel);
  CHECK(apart(found.most, right.most) <= 2 * map_unit(problem));
  CHECK(apart(found.mean, right.mean) <= 2 * map_unit(problem));
}

}  // namespace fovea::test
