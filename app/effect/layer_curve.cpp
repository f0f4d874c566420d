#include "effect/layer_curve.h"

#include <array>

namespace fovea {

LayerCurve::LayerCurve(ReplacedPart part, Index layers, Index points)
    : part_(std::move(part)), layers_(layers) {
  for (Index i = 1; i <= points; ++i) {
    const Index count = (i * layers + points - 1) / points;
    if (counts_.empty() || counts_.back() < count) counts_.push_back(count);
  }
}

void LayerCurve::step(EffectMeter& meter, Run& run) {
  if (complete()) return;
  const Index replaced = counts_[found_.size()];
  part_.heads = std::to_string(layers_ - replaced) + "-" + std::to_string(layers_ - 1);
  found_.push_back({replaced, meter.measure_numbers(std::array{part_}, run)});
}

}  // namespace fovea
