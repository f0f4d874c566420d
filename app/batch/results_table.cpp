#include "batch/results_table.h"

#include <algorithm>
#include <set>
#include <vector>

#include "data/csv_text.h"
#include "data/error.h"
#include "io/json.h"

namespace fovea {
namespace {

std::string cell_of(const Document& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text == "infinite") return "inf";
  if (text == "-infinite") return "-inf";
  return csv_cell(text);
}

/// Whether a sweep may use this name for a number: "row_rel_error_p90", "set.block". The names of
/// measures and parameters are of this form in every version of the program.
bool is_name(const std::string& key) {
  constexpr std::size_t longest = 64;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !key.empty() && key.size() <= longest && is_letter(key[0]) &&
         std::ranges::all_of(key, [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

constexpr const char* mend =
    "; expected a row of this sweep: without the line its item is computed again";

/// Requires a flat row whose names can be columns of a table, as a sweep writes it.
void require_columns(const std::string& where, const Json& row) {
  for (const auto& [key, value] : row.items()) {
    if (!is_name(key)) throw InputError(where, "has the name " + excerpt(key) + mend);
    if (value.is_structured())
      throw InputError(where, "has " + kind_of(value) + " by the name " + excerpt(key) + mend);
  }
}

/// All keys of the rows. A new key of a row is placed before the key that follows it in the row.
class Columns {
 public:
  void add(const Document& row) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : row.items()) keys.push_back(key);
    std::size_t place = names_.size();
    for (auto key = keys.rbegin(); key != keys.rend(); ++key)
      if (known_.insert(*key).second)
        names_.insert(names_.begin() + static_cast<std::ptrdiff_t>(place), *key);
      else
        place = std::ranges::find(names_, *key) - names_.begin();
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::set<std::string> known_;
  std::vector<std::string> names_;
};

}  // namespace

void require_part_of_row(const std::string& where, std::string_view part) {
  constexpr std::string_view begin = "{\"item\":";
  part = part.substr(0, part.find_last_not_of('\0') + 1);
  if (part.substr(0, begin.size()) != begin.substr(0, part.size()))
    throw InputError(where, "has no end of line and is no part of a row that was being written" +
                                std::string(mend));
}

std::size_t ResultsTable::add(const std::string& where, std::string line) {
  Json row;
  try {
    row = parse_json(where, line);
  } catch (const InputError& error) {
    throw InputError("", std::string(error.what()) + mend);
  }
  const auto item = row.is_object() ? row.find("item") : row.end();
  if (!row.is_object() || item == row.end() || !item->is_number_unsigned() ||
      !row.contains("error") || !row.contains("plan"))
    throw InputError(where, excerpt(row) + mend);
  require_columns(where, row);
  if (row["plan"] != plan_)
    throw InputError(where, "is of the plan " + excerpt(row["plan"]) + ", the others are of \"" +
                                plan_ + "\"; expected results of one plan");
  const auto number = item->get<std::size_t>();
  if (number >= items_)
    throw InputError(where,
                     "is item " + std::to_string(number) + " of " + std::to_string(items_) + mend);
  Row made{.line = std::move(line), .failed = !row["error"].is_null()};
  const auto found = rows_.find(number);
  if (found == rows_.end() || !made.failed || found->second.failed) rows_[number] = std::move(made);
  return number;
}

std::size_t ResultsTable::failed() const {
  return std::ranges::count_if(rows_, [](const auto& row) { return row.second.failed; });
}

void ResultsTable::write_lines(std::ostream& out) const {
  for (const auto& [item, row] : rows_) out << row.line << '\n';
}

void ResultsTable::write_csv(std::ostream& out) const {
  Columns columns;
  for (const auto& [item, row] : rows_) columns.add(Document::parse(row.line));
  std::string text;
  for (const std::string& name : columns.names())
    text += (text.empty() ? "" : ",") + csv_cell(name);
  out << text << '\n';
  for (const auto& [item, row] : rows_) {
    const Document document = Document::parse(row.line);
    text.clear();
    bool first = true;
    for (const std::string& name : columns.names()) {
      if (!first) text += ',';
      first = false;
      if (const auto cell = document.find(name); cell != document.end()) text += cell_of(*cell);
    }
    out << text << '\n';
  }
}

}  // namespace fovea
