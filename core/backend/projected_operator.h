// The ProjectedOperator runs a ProjectedPlan: the back end's own operator for its tiles, with
// values that are mixed before, and entries that are mixed after.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.h"
#include "backend/operator_need.h"

namespace fovea {

/// As Backend::product, but usable for as long as the operator lives.
using Product = std::function<Matrix(MatrixView a, MatrixView b, Run& run)>;

/// `backend` binds the tiles.
std::unique_ptr<Operator> make_projected_operator(std::shared_ptr<const Plan> plan,
                                                  const Problem& problem, const Backend& backend,
                                                  Product product, Run& run);

/// With the tiles on the CPU.
MemoryNeed operator_need(const ProjectedPlan& plan, const Extents& extents, int threads);

}  // namespace fovea
