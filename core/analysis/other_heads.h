// Other heads are those whose exact attention a result may be by mistake: with other pairs, another
// rule, keys of another head or keys of padding.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

struct Run;

/// The exact attention of the first of these heads, the likely ones first, that `fits`, in words:
/// "exact attention over all pairs". Nothing if none does. `tensors` and `result` are of the head,
/// and `wrong` are the rows of z that differ from its attention, ascending, at least one.
/// Throws UnavailableError if the kept pairs do not fit into memory, Cancelled.
std::optional<std::string> first_of_other_heads(const Problem& head, const ImportedTensors& tensors,
                                                const ImportedResult& result,
                                                std::span<const Index> wrong,
                                                const std::function<bool(const Problem&)>& fits,
                                                Run& run);

}  // namespace fovea
