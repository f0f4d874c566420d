// The RecurrentOperator runs a RecurrentPlan on the CPU: entries of P by rows of queries that go
// back through chunks of keys, Z by states that go forward through them.
#pragma once

#include <memory>

#include "backend/isa/attend.h"
#include "backend/operator.h"
#include "backend/operator_need.h"
#include "backend/workers.h"

namespace fovea {

std::unique_ptr<Operator> make_recurrent_operator(std::shared_ptr<const Plan> plan,
                                                  const Problem& problem, const isa::Loops& loops,
                                                  std::shared_ptr<Workers> workers, Run& run);

MemoryNeed operator_need(const RecurrentPlan& plan, const Extents& extents, int threads);

}  // namespace fovea
