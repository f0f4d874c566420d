#include "analysis/timing.h"

#include <algorithm>
#include <cmath>

#include "analysis/median_interval.h"
#include "data/number_text.h"

namespace fovea {
namespace {

// Linear between the order statistics; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// Two digits, or as many as keep a ratio on one side of 1 from being written as 1.
std::string ratio_text(double ratio) {
  int digits = 2;
  while (ratio != 1 && digits < 6 && format_drawn(ratio, digits) == "1") ++digits;
  return ratio < 10 ? format_number(ratio, digits, Zeros::keep) : format_drawn(ratio, digits);
}

std::string spread_text(const StageSummary& time) {
  return format_number(time.p90_ms / time.p10_ms, 2);
}

}  // namespace

std::string unsteady_note(const StageSummary& exact, const StageSummary& other) {
  if (!exact.unsteady() && !other.unsteady()) return {};
  return "the speed-up says little: p90 / p10 of the rounds is " + spread_text(other) +
         ", and of exact's " + spread_text(exact) +
         ", as other work on the machine interrupts some rounds and not others. Measure on an idle "
         "machine, or with more rounds";
}

SpeedUp speed_up_in(const std::vector<std::vector<double>>& sittings) {
  SpeedUp out{.sittings = static_cast<int>(sittings.size())};
  std::vector<double> medians;
  for (std::vector<double> ratios : sittings) {
    out.samples += static_cast<int>(ratios.size());
    std::ranges::sort(ratios);
    medians.push_back(quantile(ratios, 0.5));
  }
  std::ranges::sort(medians);
  out.median = quantile(medians, 0.5);
  if (const auto interval = interval_of_median(medians))
    out.interval = {interval->low, interval->high};
  return out;
}

SpeedUp speed_up_of(const std::vector<double>& ratios) {
  std::vector<std::vector<double>> sittings;
  for (const double ratio : ratios) sittings.push_back({ratio});
  return speed_up_in(sittings);
}

std::string short_text(const SpeedUp& speed_up) {
  if (speed_up.equal()) return "no difference";
  return speed_up.undecided() ? "not decided" : ratio_text(speed_up.median) + " ×";
}

std::string to_text(const SpeedUp& speed_up) {
  if (!speed_up.interval) return short_text(speed_up);
  return short_text(speed_up) + " (" + ratio_text(speed_up.interval->low) + " – " +
         ratio_text(speed_up.interval->high) + ")";
}

std::string basis_text(const SpeedUp& speed_up) {
  if (speed_up.samples == 1) return "ratio of one round";
  const std::string rounds = "median of the ratios of " + plural(speed_up.samples, "round");
  return speed_up.sittings == speed_up.samples
             ? rounds
             : rounds + " in " + plural(speed_up.sittings, "sitting");
}

StageSummary summary_of(std::string name, std::vector<double> values) {
  if (values.empty()) return {.name = std::move(name)};
  std::ranges::sort(values);
  return {.name = std::move(name),
          .median_ms = quantile(values, 0.5),
          .p10_ms = quantile(values, 0.1),
          .p90_ms = quantile(values, 0.9),
          .samples = static_cast<int>(values.size())};
}

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

Timing summarise(const std::vector<TimedRun>& runs) {
  const auto profiles = [&](Profile TimedRun::*part) {
    std::vector<Profile> all;
    for (const TimedRun& run : runs) all.push_back(run.*part);
    return all;
  };
  const auto sums = [&](const char* name, Profile TimedRun::*part) {
    std::vector<double> all;
    for (const TimedRun& run : runs)
      if (!(run.*part).stages().empty()) all.push_back((run.*part).total_ms());
    return summary_of(name, std::move(all));
  };
  std::vector<double> totals;
  for (const TimedRun& run : runs) totals.push_back(run.total_ms());
  return {.plan = summarise(profiles(&TimedRun::plan)),
          .upload = summarise(profiles(&TimedRun::upload)),
          .apply = summarise(profiles(&TimedRun::apply)),
          .learning = sums("learning", &TimedRun::learning),
          .plan_total = sums("plan", &TimedRun::plan),
          .upload_total = sums("upload", &TimedRun::upload),
          .apply_total = sums("apply", &TimedRun::apply),
          .total = summary_of("total", std::move(totals))};
}

}  // namespace fovea
