// The ImportedOperator stands for what another program computed: Z is that of its file, and P too,
// or softmax over the pairs that the file says were kept.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace fovea {

/// `backend` binds the softmax. apply() takes the head's own V where only Z is known: it throws
/// UsageError for another one, and so does tile().
std::unique_ptr<Operator> make_imported_operator(std::shared_ptr<const Plan> plan,
                                                 const Problem& problem, const Backend& backend,
                                                 Run& run);

}  // namespace fovea
