// Head measures say what a head does: which tokens its queries attend, how far away, and how
// evenly. Tables, tool tips, axes and the command line take them from here.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"
#include "plan/plan.h"

namespace fovea {

/// A row of P, and what its query is.
struct HeadRow {
  std::span<const float> weights;  // [keys]
  double sum = 0;                  // of the weights: less than 1 beside a sink
  Index query = 0;
  Index place = 0;                 // of the query's token among the keys
  Index first = 0;                 // the first key that any query may attend
  std::span<const Index> earlier;  // places before it of the same token, ascending
  const Plan* plan = nullptr;      // knows the mask; null if all pairs count

  bool admits(Index key) const;
};

struct HeadMeasure {
  /// What it needs to know besides P: that the queries are tokens of the keys, or also which ones.
  enum class Needs { nothing, places, tokens };

  std::string id;          // as in JSON: "previous_token"
  std::string label;       // "previous token"; with its unit: "entropy, nats"
  std::string definition;  // formula, meaning and source
  Needs needs = Needs::nothing;
  bool is_share = false;  // a part of a row's weight, from 0 to 1
  /// What one row says; nothing if the row does not count. Null: it is of P as a whole.
  std::function<std::optional<double>(const HeadRow&)> of_row;
};

/// In the order in which they are shown.
const std::vector<HeadMeasure>& head_measures();
/// Its place in head_measures(); nothing if there is no measure with this id.
std::optional<std::size_t> head_measure_with(const std::string& id);

/// What a head has of a measure.
struct HeadValue {
  Estimate estimate;    // NaN if it is not known
  std::string missing;  // why it is not known
  Index queries = 0;    // that were read and count
};

struct MeasuredHead {
  std::vector<HeadValue> values;  // in the order of head_measures()
  Lengths lengths;
  Index rows = 0;               // that were read
  Index rows_without_keys = 0;  // of these, which are left out
};

/// A head as it is measured.
struct HeadToMeasure {
  Lengths lengths;
  ReadRows read;
  const Plan* plan = nullptr;       // of exact attention; null if P is given
  bool places_known = true;         // the queries are the last tokens of the keys
  std::vector<std::string> tokens;  // [keys]; empty if they are not known
};

/// Beyond `max_entries` entries of P a sample of rows is read, drawn from `seed`; the effective
/// rank is that of all rows. Never holds more of P than a band of rows, or the decomposed_side
/// squared. Values of a head with an entry that is not finite are NaN. Throws Cancelled.
MeasuredHead measure_head(const HeadToMeasure& head, Run& run,
                          double max_entries = most_read_entries, std::uint64_t seed = 0);

/// A measure of one head over several inputs, of those that have it.
struct OverInputs {
  double mean = 0;       // NaN if no input has it
  double deviation = 0;  // standard deviation of a sample; 0 of a single input
  Index inputs = 0;
};
OverInputs over_inputs(std::span<const MeasuredHead> inputs, std::size_t measure);

/// "0.275" of a share, "12.3", "≈ 12.3 ± 0.4", "–".
std::string to_text(const HeadMeasure& measure, const Estimate& estimate);
/// Over several inputs: "0.275 ± 0.012", or without a deviation where it is of a single input.
std::string to_text(const HeadMeasure& measure, const OverInputs& inputs);

}  // namespace fovea
