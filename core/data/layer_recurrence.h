// The recurrence of a head from the gates that its layer has.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "data/layer_conditions.h"

namespace fovea {

/// Reads the gates of a head that has its conditions already. Throws InputError for other
/// conditions than a causal mask and a scale, and for gates of other sizes or ranges; what
/// HeadTensor::read throws.
std::shared_ptr<const Recurrence> recurrence_of(const RecurrenceTensors& tensors,
                                                const Problem& problem, const std::string& where,
                                                const std::stop_token& stop);

}  // namespace fovea
