// Effects of window attention in a model, as tests measure them.
#pragma once

#include <string>
#include <vector>

#include "effect/model_effect.h"

namespace fovea::test {

inline ReplacedPart windows(const std::string& width, const std::string& heads = "all") {
  return {.variant = &find_variant("window"),
          .settings = {{"width", width}},
          .seed = 0,
          .heads = heads};
}

inline ModelEffect measured(EffectMeter& meter, const std::vector<ReplacedPart>& parts) {
  Profile profile;
  Run run{profile};
  return meter.measure(parts, run);
}

}  // namespace fovea::test
