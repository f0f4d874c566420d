// The numbers of an effect in words, for the table of the EffectDock.
#pragma once

#include <vector>

#include "effect/model_effect.h"
#include "window/widgets/readings.h"

namespace fovea {

/// A row for each number that the model has: with the replacement, which is called `what`, and
/// beside it with exact attention.
std::vector<Reading> readings_of(const ModelEffect& effect, const QString& what = "replaced");

}  // namespace fovea
