// A Sweep is time, memory and error of a head's columns against its length. It holds only what was
// measured, and memory that was counted; a Sweeper measures it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace fovea {

/// One column at one length: the head's first n tokens.
struct SweepPoint {
  Index n = 0;
  Values values;          // the column's, or fitted to this length
  std::string fitted;     // the values that had to be fitted: "block 32, samples 32"
  StageSummary learning;  // in no total
  StageSummary plan, upload, apply;
  StageSummary total;  // of the runs' sums: from Q, K and V to Z
  double pace_ms = 0;  // time of a small run of exact, always the same, at that moment
  double bytes = 0;    // counted from the plan, beside Q, K, V and Z
  /// |Z~ - Z|_F / |Z|_F; absent if exact was not measured, or the head has no values.
  std::optional<double> error;
  std::vector<std::string> notes;  // the planner's

  bool few_samples() const { return total.samples < enough_samples; }
};

struct SweepSeries {
  Column column;
  std::vector<SweepPoint> points;  // ascending n
  /// Lengths at which it cannot be measured, and why.
  std::vector<std::pair<Index, std::string>> refusals;

  const SweepPoint* at(Index n) const;  // nullptr: not measured
};

struct Sweep {
  std::vector<Index> lengths;       // ascending; the last is the head's own
  std::vector<SweepSeries> series;  // exact first
  double best_pace_ms = 0;
  double allowed_seconds = 0;  // runs expected to go beyond are left out
  bool complete = false;       // nothing is left to measure
  bool has_values = true;      // otherwise there is no error
  std::string backend, device, precision;
};

/// total is from Q, K and V to Z; apply is the part after planning and uploading.
enum class SweepTime { total, apply };
const StageSummary& time_of(const SweepPoint& point, SweepTime time);

/// Powers of two from 256, or from less when that gives fewer than four, and n itself.
std::vector<Index> sweep_lengths(Index n);

/// A column's values at a shorter length than its own. Values that do not hold there are replaced
/// by those of values_for_length: sizes of all tokens or more, with which the variant would be
/// exact as it is not at its own length, and trees with more leaves than tokens.
struct FittedValues {
  Values values;
  std::string fitted;  // empty if nothing was fitted
};
FittedValues fitted_values(const Column& column, Index own_n, Index n);

/// The n from which a variant is faster than exact at every measured n. It lies between two
/// measured neighbours, on straight lines in log n and log time.
struct Crossover {
  enum class Kind { unknown, never, everywhere, at };
  Kind kind = Kind::unknown;  // unknown: nothing to compare yet
  double n = 0;               // of `at`
  /// Its measured neighbours; if it is faster everywhere, above is the least n.
  Index below = 0, above = 0;
  /// Where it would lie with every ratio at its low end, p10 of the variant's time over p90 of
  /// exact's, and at its high end. 0 if the variant then is faster everywhere, infinite if nowhere.
  double earliest = 0, latest = 0;
  bool fitted = false;  // with parameters that were fitted there
};
/// Ratios of the variant's time to exact's, by ascending n.
Crossover crossover_of(const std::vector<std::pair<Index, double>>& ratios);
Crossover crossover_of(const Sweep& sweep, std::size_t series, SweepTime time);
/// n to two digits: straight lines between octaves are not worth more.
Index rounded_n(const Crossover& crossover);
/// "faster from n ≈ 1800". `complete` says that nothing more will be measured.
std::string to_text(const Crossover& crossover, bool complete = true);

/// The variant's time over that of exact at the same n; nothing if either was not measured.
std::optional<double> ratio_to_exact(const Sweep& sweep, const SweepPoint& point, SweepTime time);

/// Whether the machine ran at less than two thirds of its best pace meanwhile.
bool throttled(const Sweep& sweep, const SweepPoint& point);

/// The label of a series among the sweep's columns, as label_of has it.
std::string label_of(const Sweep& sweep, std::size_t series);

/// A heading, and a line for each point; numbers that were not measured are empty.
std::string to_csv(const Sweep& sweep);

}  // namespace fovea
