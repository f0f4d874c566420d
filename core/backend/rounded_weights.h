// Weights of attention that are rounded before they meet the values, over the back end's own
// operator for the weights as they are.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/operator_need.h"
#include "backend/projected_operator.h"

namespace fovea {

/// `backend` binds the plan without its WeightRounding, which it must have.
std::unique_ptr<Operator> make_rounded_weights_operator(std::shared_ptr<const Plan> plan,
                                                        const Problem& problem,
                                                        const Backend& backend, Product product,
                                                        Run& run);

/// The plan of the weights as they are before they are rounded.
std::shared_ptr<const Plan> without_weight_rounding(Plan plan);

/// What it needs beside the operator of the weights as they are.
MemoryNeed rounded_weights_need(const Extents& extents);

/// The weights P_i* of one row from a key on that is a multiple of rounding.share, rounded in
/// place. `largest` is the largest weight of the whole row.
void round_weights(const WeightRounding& rounding, float largest, std::span<float> weights);

}  // namespace fovea
