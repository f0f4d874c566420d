// What each result of a Study depends on: equal keys, equal results. And the results themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/block_mask.h"
#include "data/source.h"
#include "panels/panel.h"
#include "session/session.h"
#include "study/resident_use.h"

namespace fovea {

struct HeadKey {
  std::uint64_t source = 0;  // number of the opened source
  Index layer = 0, head = 0;
  std::optional<bool> causal;
  std::optional<double> scale;
  friend bool operator==(const HeadKey&, const HeadKey&) = default;
};

struct ComputeKey {
  HeadKey head;
  Column column;
  friend bool operator==(const ComputeKey&, const ComputeKey&) = default;
};

/// Metrics and diagnostics.
struct ComparisonKey {
  ComputeKey approximate, exact;
  friend bool operator==(const ComparisonKey&, const ComparisonKey&) = default;
};

struct PanelKey {
  ComputeKey approximate, exact;
  View view = View::heatmap;
  ViewSettings settings;  // only what the view depends on
  IndexRange rows, cols;
  Index max_pixels = 0;
  Index query = 0;
  bool with_metrics = false, with_diagnostics = false;
  friend bool operator==(const PanelKey&, const PanelKey&) = default;
};

/// A map of a long head; `exact` and `error` only of an error map.
struct MapKey {
  ComputeKey approximate, exact;
  View view = View::heatmap;
  Pool::Kind pool = Pool::Kind::max;
  ErrorKind error = ErrorKind::signed_difference;
  friend bool operator==(const MapKey&, const MapKey&) = default;
};

/// What a canvas cell shows of its map.
struct MapPanel {
  PanelKey key;
  std::uint64_t version = 0;  // of the map, when it was made
  std::chrono::steady_clock::time_point when = {};
  std::shared_ptr<const Panel> panel;
  std::string error;
};

/// A small look at a head, for choosing one.
struct HeadCardKey {
  std::uint64_t source = 0;
  Index layer = 0, head = 0;
  std::optional<bool> causal;
  std::optional<double> scale;
  Column column;  // whose error is shown
  friend bool operator==(const HeadCardKey&, const HeadCardKey&) = default;
};
struct HeadCard {
  Index layer = 0, head = 0;
  Matrix picture;  // P, max-pooled over columns; rows pooled too, or sampled when long
  bool sampled = false;
  double entropy = 0;           // mean over rows, nats, relative to log n: 1 is uniform
  double density = 0;           // share of the entries above 1/n
  std::optional<double> error;  // |Z~ - Z|_F / |Z|_F of the column
};

/// Runs of one computation, warm-up excluded.
struct TimingSamples {
  std::vector<Profile> plan, upload, apply;
  double pace_ms = 0;                 // of the machine, after them
  std::optional<ResidentUse> memory;  // of planning, upload and one run, where it was measured
};

/// What is known of one pair, in one column.
struct PairKey {
  ComputeKey approximate, exact;
  Index query = 0, key = 0;
  friend bool operator==(const PairKey&, const PairKey&) = default;
};
struct PairReading {
  Index query = 0, key = 0;
  double exact = 0, approximate = 0;
  PairInfo info;
};

/// A row of P over all keys, for shading tokens and patches.
struct RowKey {
  ComputeKey column;
  Index query = 0;
  friend bool operator==(const RowKey&, const RowKey&) = default;
};
struct RowReading {
  Index query = 0;
  std::vector<float> values;  // [n]
};

/// Statistics of a selected rectangle.
struct SelectionKey {
  ComputeKey approximate, exact;
  IndexRange rows, cols;
  friend bool operator==(const SelectionKey&, const SelectionKey&) = default;
};
struct SelectionReading {
  IndexRange rows, cols;
  double exact_mass = 0, approximate_mass = 0;  // mean over the rows
  double exact_max = 0, approximate_max = 0;
  double rms_error = 0;
  bool sampled = false;  // rows were sampled
};

}  // namespace fovea
