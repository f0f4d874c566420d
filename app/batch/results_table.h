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
  /// `plan`: the fingerprint that all rows must have.
  ResultsTable(std::string plan, std::size_t items) : plan_(std::move(plan)), items_(items) {}

  struct Row {
    std::string line;
    bool failed = false;
  };

  /// Keeps, if an item has two rows, the one that did not fail, else the later one. `where` names
  /// file and line. Throws InputError for what is no row, or one of another plan. Returns the item.
  std::size_t add(const std::string& where, std::string line);

  const std::map<std::size_t, Row>& rows() const { return rows_; }
  std::size_t failed() const;
  std::size_t missing() const { return items_ - rows_.size(); }

  /// Row after row by item.
  void write_lines(std::ostream& out) const;
  /// The same as a table: a heading with every key of any row, and a line for each row. Where a row
  /// does not have a key it is empty; infinity is "inf"; texts are as csv_cell() has them.
  void write_csv(std::ostream& out) const;

 private:
  std::string plan_;
  std::size_t items_ = 0;
  std::map<std::size_t, Row> rows_;
};

/// Throws InputError, unless it may be the begin of a row whose writer was killed. After a power
/// cut zero bytes can stand where the rest of the row, or all of it, was to be written.
void require_part_of_row(const std::string& where, std::string_view part);

}  // namespace fovea
