// The FeatureOperator runs a FeaturePlan on the CPU: features attend keys, and queries attend
// features, which is linear in n. Both are streaming softmaxes, so nothing is too large or too
// small.
#pragma once

#include <memory>

#include "backend/isa/attend.h"
#include "backend/operator.h"
#include "backend/operator_need.h"
#include "backend/workers.h"

namespace fovea {

std::unique_ptr<Operator> make_feature_operator(std::shared_ptr<const Plan> plan,
                                                const Problem& problem, const isa::Loops& loops,
                                                std::shared_ptr<Workers> workers, Run& run);

MemoryNeed operator_need(const FeaturePlan& plan, const Extents& extents, int threads);

}  // namespace fovea
