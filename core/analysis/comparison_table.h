// A ComparisonTable has a column for each evaluated setting and a row for each measure.
#pragma once

#include <string>
#include <vector>

#include "analysis/measures.h"

namespace fovea {

struct ComparisonTable {
  struct Cell {
    std::string text;  // empty: the setting does not have the measure
    double value = 0;
    bool best = false;  // of its row; not where all are equal
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

enum class TableFormat { text, markdown, latex };
/// The best of each row is marked: with * in text, bold elsewhere. Text is separated by tabs, which
/// spreadsheets take; LaTeX is a tabular, with what is special to it escaped.
std::string to_text(const ComparisonTable& table, TableFormat format);

}  // namespace fovea
