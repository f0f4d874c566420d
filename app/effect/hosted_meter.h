// The EffectMeter of a model that another process computes.
#pragma once

#include "data/model_address.h"
#include "effect/model_effect.h"
#include "input/model_place.h"

namespace fovea {

/// Throws InputError for a model that does not say how many heads it has, and for one of images.
std::unique_ptr<EffectMeter> hosted_meter(const ModelAddress& address, const ModelPlace& place,
                                          std::string title, const OpenOptions& options);

}  // namespace fovea
