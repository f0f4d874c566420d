// Trials of settings in the place of attention in a model: `--y loss` of `fovea pareto` and `fovea
// heads`.
#pragma once

#include "cli/exploration.h"

namespace fovea {

/// What a trial replaces: all chosen heads together, or one of them alone.
enum class ReplacedBy { all_heads, each_head };

/// Tries the settings worth trying of all variants in the model of the source, a forward pass each.
/// Exact attention is a trial that changes nothing. Throws UsageError if the source is no model,
/// and for options that say what a head's own attention is, such as --causal.
Exploration explore_model(const ExplorationOptions& options, ReplacedBy what,
                          const Console& console);

/// What the trials have changed: "loss" if the model predicts the next token, else "hidden".
const Quantity& model_quantity(const Exploration& exploration);

}  // namespace fovea
