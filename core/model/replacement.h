// A Replacement is another attention in some heads of a model; the others stay exact.
#pragma once

#include "model/chosen_heads.h"
#include "session/computation.h"

namespace fovea {

struct Replacement {
  ComputeRequest attention;
  ChosenHeads where;
};

}  // namespace fovea
