// The FeatureOperator runs a FeaturePlan with a causal mask on the device, in time and memory
// linear in n.
#pragma once

#include <memory>

#include "backend/operator.h"
#include "device/shared_tensors.h"

namespace fovea::cuda {

std::unique_ptr<Operator> make_feature_operator(std::shared_ptr<const Plan> plan,
                                                const Problem& problem,
                                                std::shared_ptr<SharedTensors> tensors, Run& run);

}  // namespace fovea::cuda
