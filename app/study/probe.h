// A Probe reads numbers of what is pointed at: the pair, the shown row, the selected rectangle.
#pragma once

#include <memory>
#include <vector>

#include "analysis/block_mask.h"
#include "study/results.h"

namespace fovea {

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

/// A row of P over all keys.
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

class Probe {
 public:
  Probe(Requests& requests, const Subject& subject, const Results& results)
      : requests_(requests), subject_(subject), results_(results) {}

  /// Of the subject; null: not read yet, or there is nothing to read.
  struct Readings {
    std::shared_ptr<const PairReading> pair;
    std::shared_ptr<const RowReading> row, exact_row;  // of the selected column; of exact
    std::shared_ptr<const SelectionReading> selection;
  };
  Readings update();

  using RowCache = ResultCache<RowKey, RowReading>;
  /// The shown query's row of a column, or of exact attention (-1). nullptr: not read yet.
  const RowCache::Answer* row(int column);

  void clear();
  /// What failed is requested again.
  void forget_errors() {
    pairs_.forget_errors();
    rows_.forget_errors();
    selections_.forget_errors();
  }

 private:
  Requests& requests_;
  const Subject& subject_;
  const Results& results_;
  ResultCache<PairKey, PairReading> pairs_{64};
  RowCache rows_{24};
  ResultCache<SelectionKey, SelectionReading> selections_{8};
};

}  // namespace fovea
