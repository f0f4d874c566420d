// The NodeOperator runs a NodePlan on the CPU: sums for each tree node, then a look-up for each
// query.
#pragma once

#include <memory>

#include "backend/isa/attend.h"
#include "backend/operator.h"
#include "backend/operator_need.h"
#include "backend/workers.h"

namespace fovea {

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run);

MemoryNeed operator_need(const NodePlan& plan, const Extents& extents, int threads);

}  // namespace fovea
