// The kept softmax is what a result of another program should be if the file says which pairs it
// keeps.
#pragma once

#include <memory>
#include <optional>

#include "analysis/diagnostics.h"

namespace fovea {

/// The softmax over the tiles of a pass.
std::unique_ptr<Operator> bind_softmax(const Problem& head, const Pass& pass,
                                       const Backend& backend, Run& run);

struct KeptSoftmax {
  std::unique_ptr<Operator> op;
  Output output;
};

/// The softmax of the head over the pairs that the file says were kept, of which it may hold other
/// weights, too. Nothing if the file does not say, or if the head is a recurrence, which has none.
std::optional<KeptSoftmax> kept_softmax(const Diagnosis& of, Run& run);

}  // namespace fovea
