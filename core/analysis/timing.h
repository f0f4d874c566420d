// A Timing is how long planning, binding and each stage of apply took, over repeated runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/profile.h"

namespace fovea {

/// Fewer runs than this have no 95 % interval of a median, and are reported as few.
inline constexpr int enough_samples = 6;

/// Ratios of times say little if p90 over p10 of the rounds is this or more.
inline constexpr double unsteady_from = 1.5;

/// Quantiles of a duration.
struct StageSummary {
  std::string name;
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  int samples = 0;

  bool unsteady() const { return p10_ms > 0 && p90_ms >= unsteady_from * p10_ms; }
};

/// Why the ratio of the times of exact attention and another computation says little, and what to
/// do. Empty if both are steady.
std::string unsteady_note(const StageSummary& exact, const StageSummary& other);

/// How many times faster one computation is than exact attention: the ratio of their times in the
/// same round. Rounds that follow one another find the machine in one state (which processors it
/// lends, what else runs), so they are a *sitting*, which counts once, by its median.
struct SpeedUp {
  /// Contains the median of all possible sittings with a probability of 95 % or more: from the k-th
  /// smallest to the k-th largest of the sittings' medians, with the largest k that keeps 95 %. It
  /// assumes only that sittings are independent.
  struct Interval {
    double low = 0, high = 0;
  };
  double median = 0;                      // of the sittings' medians
  std::optional<Interval> interval = {};  // absent if there are fewer sittings than enough_samples
  int samples = 0;                        // rounds
  int sittings = 0;

  /// The rounds do not tell which is faster.
  bool undecided() const { return interval && interval->low <= 1 && 1 <= interval->high; }
  /// The rounds tell that neither is faster by more than a tenth.
  bool equal() const { return undecided() && interval->low * 1.1 >= 1 && interval->high <= 1.1; }
};
/// What to say of a ratio of times, after "Exact's time over this one's".
inline constexpr char speed_up_words[] =
    " in the same rounds: the median of the ratios, and an interval that holds it with 95 % "
    "confidence. Rounds without a pause between them count once, where there are enough others";
/// Below a table of times and speed-ups.
inline constexpr char speed_ups_note[] =
    "Speed-ups are medians of the ratios of each round, not ratios of the medians beside them, "
    "with intervals of 95 % confidence where there are enough rounds.";
/// `sittings` are the ratios of the rounds of each; there is at least one, and none is empty.
SpeedUp speed_up_in(const std::vector<std::vector<double>>& sittings);
/// Each round is a sitting.
SpeedUp speed_up_of(const std::vector<double>& ratios);
/// "2.4 ×", "no difference", "not decided".
std::string short_text(const SpeedUp& speed_up);
/// The same with the interval: "2.4 × (2.3 – 2.5)", "not decided (0.92 – 1.8)".
std::string to_text(const SpeedUp& speed_up);
/// What the number is, as it need not be the ratio of two medians that stand beside it: "median of
/// the ratios of 44 rounds in 11 sittings", "median of the ratios of 15 rounds", "ratio of one
/// round".
std::string basis_text(const SpeedUp& speed_up);

/// One run from Q, K and V to Z.
struct TimedRun {
  Profile learning;  // stages that the paper does beforehand, such as building a tree: in no total
  Profile plan, upload, apply;

  double total_ms() const { return plan.total_ms() + upload.total_ms() + apply.total_ms(); }
  double spent_ms() const { return learning.total_ms() + total_ms(); }
};

struct Timing {
  std::vector<StageSummary> plan, upload, apply;  // by stage, in order of first appearance
  StageSummary learning, plan_total, upload_total, apply_total;
  StageSummary total;  // of the runs' sums, without learning

  bool few_samples() const { return total.samples < enough_samples; }
};

/// What repeated rounds of a computation and of exact attention say.
struct MeasuredTime {
  Timing timing;
  std::optional<SpeedUp> apply_speed_up, total_speed_up;
  std::optional<StageSummary> exact_total;  // of exact attention, in the rounds of the speed-ups
  bool slow = false;  // the machine was slowed down during some of these rounds
  bool cold = false;  // some are first runs, which took too long to be repeated
};

/// Median, p10 and p90; of no values all are 0.
StageSummary summary_of(std::string name, std::vector<double> values);
/// Medians of the stages of several profiles of the same work; `total` is of the sums.
std::vector<StageSummary> summarise(const std::vector<Profile>& profiles);
Timing summarise(const std::vector<TimedRun>& runs);

/// The label of the part "upload": a back end without memory of its own "prepares" instead.
inline const char* upload_label(std::string_view backend) {
  return backend == "cpu" ? "prepare" : "upload";
}

}  // namespace fovea
