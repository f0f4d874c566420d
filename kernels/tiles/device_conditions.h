// DeviceConditions are the rule and the mask of a head on the device.
#pragma once

#include "data/problem.h"
#include "device/buffer.h"
#include "tiles/attend_args.h"

namespace fovea::cuda {

class DeviceConditions {
 public:
  DeviceConditions() = default;
  DeviceConditions(const Problem& problem, const Device& device);

  HeadConditions head() const;

 private:
  /// A MiB at a time, as rows may be made while they are uploaded.
  void upload(const BitRows& pairs, const Device& device);

  HeadConditions fixed_;  // all but the pointers
  Buffer<float> by_distance_, by_key_, bias_;
  Buffer<std::int32_t> query_document_, key_document_;
  Buffer<std::uint32_t> bits_;
};

}  // namespace fovea::cuda
