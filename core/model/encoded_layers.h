// The layers of an Encoder as those of a Source: Q, K and V of a layer are computed when they are
// first read, after the layers before it, so that the first layers can be looked at while nobody
// has waited for the last ones.
#pragma once

#include <memory>
#include <vector>

#include "data/source.h"
#include "model/encoder.h"

namespace fovea {

/// Layers that share `hidden`, the hidden states that go into the first of them. Any thread may
/// read them. HeadTensor::read throws what Encoder::encode throws; a layer whose computation was
/// cancelled or failed is computed again by the next read.
std::vector<Layer> layers_of(std::shared_ptr<const Encoder> encoder, Matrix hidden,
                             std::shared_ptr<const Backend> backend);

}  // namespace fovea
