// A ComputeReport is the result of `fovea compute`, written as JSON (also into the metadata of its
// output file) and as text.
#pragma once

#include <optional>
#include <ostream>

#include "analysis/diagnostics.h"
#include "analysis/metrics.h"
#include "data/source.h"
#include "evaluate/timed_runs.h"
#include "report/json_output.h"

namespace fovea {

struct HeadReport {
  Index head = 0;
  TimedRun first_run;  // cold
  TimedRuns rounds;
  Cost cost;
  std::vector<std::string> notes;
  std::optional<Metrics> metrics;
  std::vector<Diagnostic> diagnostics;
  /// The largest difference of Z from the output that the file holds, over the largest entry.
  std::optional<double> from_own_output;
};

struct ComputeReport {
  std::string source;
  std::vector<std::string> source_notes;
  Index layer = 0;
  std::string layer_label;
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  std::string backend, device, precision;
  double scale = 0;
  bool causal = false;
  std::string conditions;  // ", sliding window 4096"; empty if none beside the mask
  std::string recurrence;  // "gated delta rule", that the head has in place of a softmax; or empty
  Lengths lengths;
  Index d = 0, dv = 0;
  std::vector<HeadReport> heads;  // in the order computed
  std::string output;             // the file written, if any
};

/// Everything that qualifies numbers from these layers of a source: a guessed layout, content
/// features, a mask that one of the layers does not state, notes.
std::vector<std::string> notes_of(const Source& source, const std::vector<Index>& layers);
/// The layers of rows of a table.
template <class Rows>
std::vector<Index> layers_of(const Rows& rows) {
  std::vector<Index> layers;
  for (const auto& row : rows) layers.push_back(row.layer);
  return layers;
}

Document to_json(const ComputeReport& report);
void print(std::ostream& out, const ComputeReport& report);

}  // namespace fovea
