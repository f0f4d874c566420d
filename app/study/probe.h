// A Probe reads numbers of what is pointed at: the pair, the shown row, the selected rectangle.
#pragma once

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "panels/readings.h"
#include "study/results.h"

namespace fovea {

class Probe {
 public:
  Probe(Requests& requests, const Subject& subject, const Results& results)
      : requests_(requests), subject_(subject), results_(results) {}

  /// What was read of the subject. Null if not read yet, or if there is nothing to read.
  struct Readings {
    std::shared_ptr<const PairReading> pair;                // in the column that is pointed at
    std::vector<std::shared_ptr<const PairReading>> pairs;  // in each column
    std::shared_ptr<const RowReading> row, exact_row;       // of the selected column; of its exact
    std::shared_ptr<const SelectionReading> selection;
  };
  Readings update();

  using RowCache = ResultCache<std::pair<ComputeKey, Index>, const RowReading>;
  /// The query's row of a column, and of exact attention of the column's head. nullptr: not read
  /// yet.
  const RowCache::Answer* row(int column, Index query);
  const RowCache::Answer* exact_row(int column, Index query);

 private:
  const RowCache::Answer* read(const ColumnState& its, int place, Index query);
  std::shared_ptr<const PairReading> pair(int column);
  std::shared_ptr<const SelectionReading> selection(const ColumnState& column);

  Requests& requests_;
  const Subject& subject_;
  const Results& results_;
  ResultCache<std::tuple<ComparisonKey, Index, Index>, const PairReading> pairs_{requests_, 256};
  RowCache rows_{requests_, 24};
  ResultCache<std::tuple<ComparisonKey, IndexRange, IndexRange>, const SelectionReading>
      selections_{requests_, 8};
};

}  // namespace fovea
