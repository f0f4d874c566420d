// Measures what selections cost: pairs that a mask or a selector keeps, beside all pairs, and a
// large file of lists.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/measurement.h"

namespace fovea {

struct SelectionFigures {
  /// A column, measured in each round beside exact attention. Selecting a given mask is reading it.
  struct Row {
    std::string name;
    double live = 0;  // share of the pairs of exact attention
    double select_ms = 0, apply_ms = 0;
    SpeedUp of_dense;  // multiply-adds a second of apply, over those of exact attention
    SpeedUp passes;    // the time of selecting, over that of a pass over q and k
  };
  /// Lists of keys in a file, from opening it to a column that can be computed.
  struct Opened {
    Index queries = 0, most = 0;  // keys of a query
    double bytes = 0;             // of the lists
    double ms = 0, peak_bytes = 0;
  };

  std::string device, precision;
  Index n = 0, d = 0;
  bool causal = false;
  int rounds = 0;
  double dense_ms = 0, dense_rate = 0;  // of exact attention; in GFLOP/s
  double pass_ms = 0;                   // all products of q and k, and the sums of rows
  std::vector<Row> rows;
  Opened opened;
};

struct SelectionOptions {
  Index n = 0, d = 0;
  bool causal = false;
  int rounds = 7;
  std::uint64_t seed = 0;
};

/// Writes a file of lists for four times as many tokens into the folder for temporary files.
SelectionFigures measure_selections(const SelectionOptions& options, const Backend& backend,
                                    const std::stop_token& stop);

}  // namespace fovea
