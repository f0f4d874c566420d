// A Replacement is another attention in some heads of a model. Heads that no Replacement names stay
// exact; no head has two.
#pragma once

#include <map>
#include <utility>

#include "evaluate/computation.h"
#include "model/chosen_heads.h"

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

/// Multiply-adds of attention in the heads of one Replacement.
struct ReplacedCost {
  Index heads = 0;
  double multiply_adds = 0, exact = 0;

  ReplacedCost& operator+=(const ReplacedCost& other) {
    heads += other.heads;
    multiply_adds += other.multiply_adds;
    exact += other.exact;
    return *this;
  }
};

}  // namespace fovea
