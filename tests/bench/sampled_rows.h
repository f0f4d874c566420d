// A few rows of Z computed directly from a plan in the arithmetic of Real, for sequences of any
// length: double is the reference, float the plain formula in single precision.
#pragma once

#include <vector>

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea::bench {

/// Row `query` of Z = P V.
template <class Real>
std::vector<Real> row_of_z(const Plan& plan, const Problem& problem, Index query);

extern template std::vector<float> row_of_z<float>(const Plan&, const Problem&, Index);
extern template std::vector<double> row_of_z<double>(const Plan&, const Problem&, Index);

struct RowErrors {
  int rows = 0;
  double ours = 0, plain_fp32 = 0;  // |Z - truth| / |truth|, Frobenius, over the sampled rows
  double largest = 0;               // |Z - truth| of an entry; NaN stays
};

/// For `count` rows of z, spread over the sequence.
RowErrors errors_of(const Plan& plan, const Problem& problem, MatrixView z, int count);

}  // namespace fovea::bench
