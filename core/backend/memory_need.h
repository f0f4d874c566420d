// The MemoryNeed of a Plan: how much memory binding it and computing Z take, counted from the plan
// before anything is allocated. An upper bound that is at most a few times what is used.
#pragma once

#include <string>

#include "backend/operator_need.h"
#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

/// `threads` compute; each has memory of its own.
MemoryNeed memory_need(const Plan& plan, const Problem& head, int threads);

/// "attention, n = 131072", for a message.
std::string need_text(const Plan& plan);

}  // namespace fovea
