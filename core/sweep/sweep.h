// A Sweep is time, memory and error of a head's columns against its length. It holds what was
// measured (memory: counted) and nothing else; a Sweeper measures it.
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
  std::string fitted;     // what had to be fitted, as it is here: "block 32, samples 32"
  StageSummary learning;  // in no total
  StageSummary plan, upload, apply;
  StageSummary total;              // of the runs' sums: from Q, K and V to Z
  double pace_ms = 0;              // a small run of exact at that time, always the same one
  double bytes = 0;                // counted from the plan, beside Q, K, V and Z
  std::optional<double> error;     // |Z~ - Z|_F / |Z|_F; absent where exact was not
                                   // measured, or the head has no values
  std::vector<std::string> notes;  // the planner's

  bool few_samples() const { return total.samples < enough_samples; }
};

struct SweepSeries {
  Column column;
  std::vector<SweepPoint> points;                       // ascending n
  std::vector<std::pair<Index, std::string>> refusals;  // at which n it cannot be, and why

  const SweepPoint* at(Index n) const;  // nullptr: not measured
};

struct Sweep {
  std::vector<Index> lengths;       // ascending; the last is the head's own
  std::vector<SweepSeries> series;  // exact first
  double best_pace_ms = 0;
  double allowed_seconds = 0;  // runs expected to go beyond are left out
  bool complete = false;       // nothing is left to measure
  bool has_values = true;      // else there is no error
  std::string backend, device, precision;
};

/// From Q, K and V to Z, or once planned and uploaded.
enum class SweepTime { total, apply };
const StageSummary& time_of(const SweepPoint& point, SweepTime time);

/// Powers of two from 256, or from less when that gives fewer than four, and n itself.
std::vector<Index> sweep_lengths(Index n);

/// A column's values at a shorter length than its own. What does not hold there is replaced by
/// values_for_length's: sizes of all tokens and more (the variant would be exact, which it is not
/// at its own length), and trees of more leaves than tokens.
struct FittedValues {
  Values values;
  std::string fitted;  // empty: nothing
};
FittedValues fitted_values(const Column& column, Index own_n, Index n);

/// The first n tokens; borrows nothing that `head` does not own.
Problem prefix_of(const Problem& head, Index n);

/// From which n on a variant is faster than exact, at every n measured from there: between two
/// measured neighbours by straight lines in log n and log time.
struct Crossover {
  enum class Kind { unknown, never, everywhere, at };
  Kind kind = Kind::unknown;   // unknown: nothing to compare yet
  double n = 0;                // of `at`
  Index below = 0, above = 0;  // its measured neighbours; everywhere: above is the least n
  bool fitted = false;         // with parameters that were fitted there
};
/// Ratios of the variant's time to exact's, by ascending n.
Crossover crossover_of(const std::vector<std::pair<Index, double>>& ratios);
Crossover crossover_of(const Sweep& sweep, std::size_t series, SweepTime time);
/// To two digits: what straight lines between octaves are worth.
Index rounded_n(const Crossover& crossover);
/// "faster from n ≈ 1800"; `complete`: no more is to come.
std::string to_text(const Crossover& crossover, bool complete = true);

/// The variant's time over exact's of the same n; nothing where one was not measured.
std::optional<double> ratio_to_exact(const Sweep& sweep, const SweepPoint& point, SweepTime time);

/// The machine ran at less than two thirds of its best pace meanwhile.
bool throttled(const Sweep& sweep, const SweepPoint& point);

/// As label_of has it among the sweep's columns.
std::string label_of(const Sweep& sweep, std::size_t series);

/// A line a point, with a heading; what was not measured is empty.
std::string to_csv(const Sweep& sweep);

}  // namespace fovea
