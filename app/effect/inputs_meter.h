// The EffectMeter of a model that reads all texts or images of a folder, one after the other.
#pragma once

#include "data/model_address.h"
#include "effect/model_effect.h"

namespace fovea {

/// An input that cannot be opened or measured is left out of the means, and named with the reason.
/// Throws InputError if the folder holds no text and no image, and what effect_meter() throws for
/// the first of them if none can be opened. What measure() throws is that of the first input if
/// none can be measured.
std::unique_ptr<EffectMeter> inputs_meter(const ModelAddress& address, const OpenOptions& options);

/// One effect of those of these parts on several inputs; at least one was measured.
ModelEffect effect_over(std::span<const ReplacedPart> parts, std::vector<InputEffect> inputs);

}  // namespace fovea
