// The GatedOperator runs a GatedPlan: the back end's own operator for each branch, whose results
// are added up with the gates.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/operator_need.h"

namespace fovea {

/// `backend` binds the branches.
std::unique_ptr<Operator> make_gated_operator(std::shared_ptr<const Plan> plan,
                                              const Problem& problem, const Backend& backend,
                                              Run& run);

/// What it needs if the CPU runs the branches.
MemoryNeed operator_need(const GatedPlan& plan, const Extents& extents, int threads);

}  // namespace fovea
