// A ResultsTable has the rows of a sweep, at most one for each item, as they are written: each is a
// line of JSON Lines, a flat object with "item", "plan" and "error" (null where it did not fail).
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "report/json_output.h"

namespace fovea {

class ResultsTable {
 public:
  /// `plan` is the fingerprint that all rows must have.
  ResultsTable(std::string plan, std::size_t items) : plan_(std::move(plan)), items_(items) {}

  struct Row {
    std::string line;
    bool failed = false;
  };

  /// Keeps, if an item has two rows, the one that did not fail, else the later one. `where` names
  /// file and line. Throws InputError for anything but a row of this plan. Returns the item.
  std::size_t add(const std::string& where, std::string line);

  const std::map<std::size_t, Row>& rows() const { return rows_; }
  std::size_t failed() const;
  std::size_t missing() const { return items_ - rows_.size(); }

  /// Writes the rows in the order of items.
  void write_lines(std::ostream& out) const;
  /// Writes a table: a heading with every key of any row, and a line for each row. The cell of a
  /// missing key is empty; infinity is "inf"; texts are written by csv_cell().
  void write_csv(std::ostream& out) const;

 private:
  std::string plan_;
  std::size_t items_ = 0;
  std::map<std::size_t, Row> rows_;
};

/// Throws InputError unless the text may be the beginning of a row whose writer was killed. After a
/// power cut, zero bytes can stand in place of the rest of the row, or of the whole row.
void require_part_of_row(const std::string& where, std::string_view part);

}  // namespace fovea
