// The EffectMeter of a model that Fovea's own encoder computes.
#pragma once

#include "data/model_address.h"
#include "effect/model_effect.h"
#include "input/model_input.h"

namespace fovea {

struct OpenedModel;

std::unique_ptr<EffectMeter> own_meter(std::shared_ptr<const OpenedModel> model, ModelInput input,
                                       const ModelAddress& address, std::string title,
                                       const OpenOptions& options);

}  // namespace fovea
