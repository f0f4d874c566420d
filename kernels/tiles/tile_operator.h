// The TileOperator runs a TilePlan on the device: Z in the given precision, entries of P and their
// sums in fp32.
#pragma once

#include <memory>

#include "backend/operator.h"
#include "device/precision.h"
#include "device/shared_tensors.h"

namespace fovea::cuda {

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, Precision precision,
                                             std::shared_ptr<SharedTensors> tensors, Run& run);

}  // namespace fovea::cuda
