// A MarkedTable is words and numbers in rows and columns, some of them marked, to be copied.
#pragma once

#include <string>
#include <vector>

namespace fovea {

struct MarkedTable {
  struct Cell {
    std::string text;
    bool marked = false;
  };
  struct Row {
    std::string title;
    std::vector<Cell> cells;  // one for each title
  };
  std::string corner;  // above the titles of rows, before those of columns
  std::vector<std::string> titles;
  std::vector<Row> rows;
  std::string foot = {};  // a sentence on the numbers
};

enum class TableFormat { text, markdown, latex };
/// Marked cells have a * in text and are bold elsewhere. Text is separated by tabs, which
/// spreadsheets accept. LaTeX is a tabular with the lines of booktabs; its special characters are
/// escaped. The foot is a line below the table, in LaTeX a comment.
std::string to_text(const MarkedTable& table, TableFormat format);

}  // namespace fovea
