// The DeviceNeed of a Plan: how much memory of the device its operator takes, counted from the plan
// before anything is uploaded. An upper bound that is at most a few times what is used.
#pragma once

#include "data/problem.h"
#include "device/precision.h"
#include "device/shared_tensors.h"
#include "plan/plan.h"

namespace fovea::cuda {

struct DeviceNeed {
  double bound = 0;    // bytes of what is bound, Q and K among them
  double applied = 0;  // bytes beside it while Z is computed, V and Z among them
  double total() const { return bound + applied; }
};

/// 0 for plans that are bound by other operators, which are counted when they are bound. Maps and
/// running sums are made in as many parts as there is memory for: the least of them are counted. If
/// `shared` is given, tensors that are on the device already are left out.
DeviceNeed device_need(const Plan& plan, const Problem& problem, Precision precision,
                       const SharedTensors* shared = nullptr);

}  // namespace fovea::cuda
