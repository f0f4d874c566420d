// The heavy steps of planning on the device, as Backend declares them.
#pragma once

#include <span>
#include <vector>

#include "backend/profile.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/shared_tensors.h"
#include "plan/tree.h"

namespace fovea::cuda {

std::vector<std::int32_t> lsh_buckets(SharedTensors& tensors, MatrixView x, MatrixView directions);

std::vector<std::int32_t> route(SharedTensors& tensors, MatrixView x, const Tree& tree, Run& run);

/// `order` [keys.size()], on the device: positions of the keys in ascending order, equal keys in
/// the order given. Every key is in [0, key_count).
void stable_order(const Device& device, const Buffer<std::uint32_t>& keys, std::int32_t key_count,
                  std::int32_t* order);

std::vector<std::int32_t> stable_order(const Device& device, std::span<const std::int32_t> keys,
                                       std::int32_t key_count);

}  // namespace fovea::cuda
