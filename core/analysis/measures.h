// A Measure is a number by which variants, their settings and heads are compared, with its name,
// definition and unit. Tables, tool tips and axes take them from here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost.h"
#include "analysis/metrics.h"
#include "analysis/timing.h"

namespace fovea {

/// Results for one setting of a variant on one head; null if not known.
struct Evaluation {
  const Cost* cost = nullptr;
  const Metrics* metrics = nullptr;
  const MeasuredTime* time = nullptr;
  /// Where the weights lie, for exact attention without metrics; else those of the metrics.
  const SectionMass* sections = nullptr;
  std::size_t head = 0;  // index of the head: only evaluations of one head are compared
};

struct Measured {
  double value = 0;
  double standard_error = 0;          // of an estimate from sampled rows
  std::string note = {};              // "in 12 rows"
  std::optional<SpeedUp> ratio = {};  // of times
};

struct Measure {
  enum class Unit { none, count, bytes, milliseconds, times };
  enum class Better { less, more, neither };

  std::string id;          // as in JSON: "output_rel_fro"
  std::string label;       // "relative output error"; with its unit: "KL(exact ‖ …), nats"
  std::string definition;  // formula and meaning, a sentence or two
  Unit unit = Unit::none;
  Better better = Better::less;
  bool of_outputs = false;  // only heads with values have the measure
  /// The number of an evaluation; nothing if it does not have the measure.
  std::function<std::optional<Measured>(const Evaluation&)> of;
};

/// Errors first, then cost, then time; in the order in which they are shown.
const std::vector<Measure>& measures();

/// "0.275", "0.12 ± 0.003", "∞ in 12 rows", "1.2 M", "3.45 ms", "2.5 × (2.4 – 2.6)", or "–" if it
/// is not defined.
std::string to_text(const Measure& measure, const Measured& measured);

}  // namespace fovea
