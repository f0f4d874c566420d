// Other heads are those whose exact attention a result may be by mistake: with other pairs, another
// rule, keys of another head or keys of padding.
#pragma once

#include <string>
#include <vector>

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

struct Run;

struct OtherHead {
  Problem head;
  std::string words;  // "exact attention over all pairs"
};

/// The likely ones first. `tensors` and `result` are of the head. Throws UnavailableError if masks
/// of pairs do not fit into memory, Cancelled.
std::vector<OtherHead> other_heads(const Problem& head, const ImportedTensors& tensors,
                                   const ImportedResult& result, Run& run);

}  // namespace fovea
