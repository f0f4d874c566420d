// Which kernels computed a run.
#pragma once

#include <string>
#include <vector>

#include "backend/profile.h"
#include "device/timeline.h"

namespace fovea::test {

/// Those that the profile names, in their order: it does so with a head start only
/// (device/head_start.h).
inline std::vector<std::string> kernels_of(const Profile& profile) {
  const std::string prefix = cuda::Timeline::kernel_prefix;
  std::vector<std::string> kernels;
  for (const StageTime& stage : profile.stages())
    if (stage.name.starts_with(prefix)) kernels.push_back(stage.name.substr(prefix.size()));
  return kernels;
}

}  // namespace fovea::test
