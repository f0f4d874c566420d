// HyperAttention's algorithms 2 and 3, straight from the paper, with dense matrices.
#pragma once

#include "laws/formulas.h"

namespace fovea::test {

/// P of theory mode, from what the plan drew.
Dense<double> hyper_theory(double real, const Instance& x);
Dense<float> hyper_theory(float real, const Instance& x);

/// What algorithm 2 goes through; all but the counts are natural logarithms.
template <class Real>
struct RowSumSteps {
  Dense<Real> logit;                         // S
  std::vector<std::vector<bool>> mask = {};  // M
  Real tau = 0;                              // of the drawn rows
  std::vector<Real> cap = {}, d = {};        // C_i, and what line 8 makes of d_i
  Index floored = 0;                         // rows with d_i < tau / kappa
  Index capped = 0, sampled = 0;             // sampled entries outside M, distinct ones
};
RowSumSteps<double> row_sum_steps(double real, const Instance& x);

}  // namespace fovea::test
