// An ordered source is another one whose tokens are put in another order.
#pragma once

#include <string>

#include "data/source.h"
#include "variants/token_order.h"

namespace fovea {

/// What an order of the tokens of this source begins with: the grid of its picture, if it has one;
/// else what suits heads of the length of its first layer.
Values standard_order(const Source& source);

/// The source with tokens in this order (token_order.h): Q, K, V, masks, biases and results that
/// other programs computed, with the names of tokens. What lists or blocks keep is left out, with a
/// note. Throws UsageError for an order that cannot be read, InputError for heads that depend on
/// the order (causal masks, windows, recurrences, ALiBi), and for other keys than queries.
Source in_order(Source source, const std::string& order);

}  // namespace fovea
