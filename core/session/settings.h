// A setting of a variant is values for all of its parameters. Here is which settings of each are
// worth comparing.
#pragma once

#include "variants/variant.h"

namespace fovea {

/// The combinations of the values that the fields of a variant state as worth trying on a head of n
/// tokens (Field::worth_trying): that of values_for_length first, then from coarse to fine, each
/// once, at most `most` of them. A planner may still refuse one: it knows what values exclude each
/// other.
std::vector<Values> settings_worth_trying(const Variant& variant, Index n, std::size_t most = 40);

/// "block 16, samples 32": the parameters of which the variant has several values worth trying on n
/// tokens, and those that are not the default for n; all of them where these are none.
std::string setting_text(const Variant& variant, const Values& values, Index n);

/// "block=16 samples=32": each parameter as `--set` takes it.
std::string assignments_text(const Variant& variant, const Values& values);

}  // namespace fovea
