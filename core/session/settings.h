// A setting of a variant has values for all of its parameters. This file finds the settings that
// are worth comparing.
#pragma once

#include "variants/variant.h"

namespace fovea {

/// Combinations of the values that a variant's fields call worth trying on a head of n tokens
/// (Field::worth_trying): first that of values_for_length, then from coarse to fine, each once, at
/// most `most`. Only the first may be exact on n tokens (Variant::is_exact). A planner may still
/// refuse one, as it knows which values exclude each other.
std::vector<Values> settings_worth_trying(const Variant& variant, Index n, std::size_t most = 40);

/// "block 16, samples 32": the parameters with several values worth trying on n tokens, and those
/// that differ from the default for n; all parameters if there are none of these.
std::string setting_text(const Variant& variant, const Values& values, Index n);

/// "block=16 samples=32": each parameter as `--set` takes it.
std::string assignments_text(const Variant& variant, const Values& values);

}  // namespace fovea
