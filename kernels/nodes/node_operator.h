// The NodeOperator runs a NodePlan on the device: tree attention without logits, in O(n dv h) work.
#pragma once

#include <memory>

#include "backend/operator.h"
#include "device/shared_tensors.h"

namespace fovea::cuda {

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem,
                                             std::shared_ptr<SharedTensors> tensors, Run& run);

}  // namespace fovea::cuda
