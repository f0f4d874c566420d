#include "analysis/timing.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

// Linear between the order statistics; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

StageSummary summary_of(const std::string& name, std::vector<double> times) {
  if (times.empty()) return {.name = name};
  std::ranges::sort(times);
  return {.name = name,
          .median_ms = quantile(times, 0.5),
          .p10_ms = quantile(times, 0.1),
          .p90_ms = quantile(times, 0.9),
          .samples = static_cast<int>(times.size())};
}

}  // namespace

std::vector<StageSummary> summarise(const std::vector<Profile>& profiles) {
  std::vector<std::pair<std::string, std::vector<double>>> by_stage;
  for (const Profile& profile : profiles)
    for (const StageTime& stage : profile.stages()) {
      auto it = std::ranges::find(by_stage, stage.name, [](const auto& s) { return s.first; });
      if (it == by_stage.end()) it = by_stage.insert(by_stage.end(), {stage.name, {}});
      it->second.push_back(stage.milliseconds);
    }
  std::vector<StageSummary> out;
  for (auto& [name, times] : by_stage) out.push_back(summary_of(name, std::move(times)));
  return out;
}

StageSummary summarise_total(const std::vector<Profile>& profiles) {
  std::vector<double> totals;
  for (const Profile& profile : profiles) totals.push_back(profile.total_ms());
  return summary_of("total", std::move(totals));
}

Timing summarise(const TimingSamples& samples) {
  return {.plan = summarise(samples.plan),
          .upload = summarise(samples.upload),
          .apply = summarise(samples.apply),
          .plan_total = summarise_total(samples.plan),
          .upload_total = summarise_total(samples.upload),
          .apply_total = summarise_total(samples.apply),
          .few_samples = samples.apply.size() < enough_samples};
}

}  // namespace fovea
