// The FactoredOperator runs a FeaturePlan without a causal mask as two softmaxes, on any back end
// that runs tiles. With s_r = sum_j phi_r(k_j),
//   P = B A,  A_rj = phi_r(k_j) / s_r,  B_ir = phi_r(q_i) s_r / sum over r of the same,
// A is a softmax over keys of each feature, B one over the features of each query. Logits are
// logarithms of features, so that none is too large or too small for a float.
#pragma once

#include <memory>

#include "backend/projected_operator.h"

namespace fovea {

/// `backend` binds both softmaxes; the plan has no causal mask.
std::unique_ptr<Operator> make_factored_operator(std::shared_ptr<const Plan> plan,
                                                 const Problem& problem, const Backend& backend,
                                                 Product product, Run& run);

}  // namespace fovea
