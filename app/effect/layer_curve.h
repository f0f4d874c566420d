// A LayerCurve replaces attention in the last layers of a model, in more and more of them, as
// Figure 3 of the HyperAttention paper does.
#pragma once

#include <vector>

#include "effect/model_effect.h"

namespace fovea {

struct LayerPoint {
  Index replaced = 0;  // layers, the last ones
  ModelEffect effect;
};

class LayerCurve {
 public:
  /// Replaces the last 1, ..., all of `layers` layers by `part`, whose heads are ignored, at
  /// `points` numbers of layers at most.
  LayerCurve(ReplacedPart part, Index layers, Index points = standard_points);

  bool complete() const { return found_.size() == counts_.size(); }
  std::size_t count() const { return counts_.size(); }
  /// Measures the next one. Throws what measure() throws; then it can be called again.
  void step(EffectMeter& meter, Run& run);

  const ReplacedPart& part() const { return part_; }
  const std::vector<LayerPoint>& found() const { return found_; }

  static constexpr Index standard_points = 7;

 private:
  ReplacedPart part_;
  Index layers_;
  std::vector<Index> counts_;  // ascending
  std::vector<LayerPoint> found_;
};

}  // namespace fovea
