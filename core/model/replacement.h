// A Replacement is another attention in some heads of a model; the others stay exact.
#pragma once

#include <map>
#include <utility>

#include "model/chosen_heads.h"
#include "session/computation.h"

namespace fovea {

struct Replacement {
  ComputeRequest attention;
  ChosenHeads where;
  /// By layer and head: what their plans are given instead of attention.given.
  std::map<std::pair<Index, Index>, Structure> given = {};

  ComputeRequest request_for(Index layer, Index head) const {
    ComputeRequest request = attention;
    if (const auto its = given.find({layer, head}); its != given.end()) request.given = its->second;
    return request;
  }
};

}  // namespace fovea
