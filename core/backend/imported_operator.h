// The ImportedOperator stands for what another program computed: Z is read from its file, and P is
// read too, or is the softmax over the pairs that the file says were kept.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/operator_need.h"

namespace fovea {

/// `backend` binds the softmax. If only Z is known, apply() takes no other V than the head's own,
/// and tile() has no entries: both throw UsageError.
std::unique_ptr<Operator> make_imported_operator(std::shared_ptr<const Plan> plan,
                                                 const Problem& problem, const Backend& backend,
                                                 Run& run);

/// With the softmax on the CPU.
MemoryNeed operator_need(const ImportedPlan& plan, const Extents& extents, int threads);

}  // namespace fovea
