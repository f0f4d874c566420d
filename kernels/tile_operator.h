// The TileOperator runs a TilePlan on the device.
#pragma once

#include <memory>

#include "backend/operator.h"
#include "device.h"

namespace fovea::cuda {

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem,
                                             std::shared_ptr<const Device> device, Run& run);

}  // namespace fovea::cuda
