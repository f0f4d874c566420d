// A variant with some of its parameters chosen and all others at their defaults.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evaluate/computation.h"

namespace fovea {

/// `chosen` has ids of parameters and their values as text.
inline ComputeRequest request_of(const std::string& variant,
                                 const std::vector<std::pair<std::string, std::string>>& chosen) {
  ComputeRequest request{.variant = &find_variant(variant), .values = {}};
  request.values = defaults(request.variant->schema);
  for (const auto& [id, text] : chosen)
    set_value(request.variant->schema, request.values, id, text);
  return request;
}

}  // namespace fovea
