// The TileOperator runs a TilePlan on the CPU: one streaming softmax over strips of 64 queries.
#pragma once

#include <memory>

#include "backend/isa/attend.h"
#include "backend/operator.h"
#include "backend/operator_need.h"
#include "backend/workers.h"

namespace fovea {

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run);

MemoryNeed operator_need(const TilePlan& plan, const Extents& extents, int threads);

}  // namespace fovea
