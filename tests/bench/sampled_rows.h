// A few rows of Z computed directly from a plan in the arithmetic of Real, for sequences of any
// length: double is the reference, float the plain formula in single precision.
#pragma once

#include <string>
#include <vector>

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea::bench {

/// Row `query` of Z = P V.
template <class Real>
std::vector<Real> row_of_z(const Plan& plan, const Problem& problem, Index query);

extern template std::vector<float> row_of_z<float>(const Plan&, const Problem&, Index);
extern template std::vector<double> row_of_z<double>(const Plan&, const Problem&, Index);

/// |Z - truth| / |truth|, Frobenius, over sampled rows: of what is measured, and of the plain
/// formula in the same precision. In 16 bits the plain formula rounds Q, K, V and the weights
/// before they are multiplied, and adds in fp32.
struct RowErrors {
  int rows = 0;
  double ours = 0, plain = 0;
  double largest = 0;  // |Z - truth| of an entry; infinite where one is NaN
};

/// What the plain formula of a precision takes for Q, K and V.
Problem rounded_to(const Problem& problem, const std::string& precision);

/// Rows that decide whether a contender is accurate. With peaked logits few rows have most of an
/// error, so that few samples decide by chance: of heads of 256 tokens, whose errors in all rows
/// were like those of the plain formula, one in fourteen was refused for 16 rows and none for 128.
inline constexpr int sampled_rows = 128;

/// For `count` rows of z, spread over the sequence, in as many threads as there are processors.
/// `precision`: "fp32", "fp32-split" or "bf16".
RowErrors errors_of(const Plan& plan, const Problem& problem, MatrixView z, int count,
                    const std::string& precision);

/// At most twice the error of the plain formula, or of one rounding to fp32. Not so for NaN.
bool accurate(const RowErrors& errors);

}  // namespace fovea::bench
