// A Timing is how long planning, upload and each stage of apply took, over repeated runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/profile.h"

namespace fovea {

/// Fewer runs than this are said to be few.
inline constexpr int enough_samples = 5;

struct StageSummary {
  std::string name;
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  int samples = 0;
};

/// Repeated runs of the same work.
struct TimingSamples {
  std::vector<Profile> plan, upload, apply;
};

struct Timing {
  std::vector<StageSummary> plan, upload, apply;  // by stage, in order of first appearance
  StageSummary plan_total, upload_total, apply_total;
  bool few_samples = false;  // fewer than enough_samples; mentioned wherever they are shown
};

/// Medians of the stages of several profiles of the same work; `total` is of the sums.
std::vector<StageSummary> summarise(const std::vector<Profile>& profiles);
StageSummary summarise_total(const std::vector<Profile>& profiles);
Timing summarise(const TimingSamples& samples);

}  // namespace fovea
