// leaf_loss computes a step of learning a tree on the device: the sums over keys in fp32, in an
// order that the batch fixes.
#pragma once

#include "backend/leaf_gradient.h"
#include "backend/profile.h"
#include "device/device.h"

namespace fovea::cuda {

MembershipGradient leaf_loss(const Device& device, const TokenBatch& batch, Run& run);

}  // namespace fovea::cuda
