// A ComparisonTable has a column for each evaluated setting and a row for each measure.
#pragma once

#include <string>
#include <vector>

#include "analysis/measures.h"
#include "data/marked_table.h"

namespace fovea {

struct ComparisonTable {
  struct Cell {
    std::string text;   // empty: the setting does not have the measure
    std::string basis;  // of a ratio of times: what it is the median of
    double value = 0;
    bool best = false;       // of its row; false if all are equal
    bool undecided = false;  // a ratio that may be 1, which is never the best
  };
  struct Row {
    const Measure* measure;
    std::vector<Cell> cells;  // one for each title
  };
  std::vector<std::string> titles;
  std::vector<Row> rows;  // of measures that at least one setting has
};

ComparisonTable comparison_table(std::vector<std::string> titles,
                                 const std::vector<Evaluation>& evaluations);

/// The order of the columns by a row: the best first, those without the measure last.
std::vector<std::size_t> order_by(const ComparisonTable& table, std::size_t row);

/// The best of each row is marked.
std::string to_text(const ComparisonTable& table, TableFormat format);

}  // namespace fovea
