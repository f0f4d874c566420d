// Text as a cell of a CSV file.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// Whether a spreadsheet takes a cell with this text for a formula, quoted or not.
inline bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=@+-\t\r\n").find(text[0]) == std::string_view::npos)
    return false;
  const bool is_signed = text[0] == '+' || text[0] == '-';
  return !is_signed || text.find_first_not_of("0123456789.,eE+- ") != std::string_view::npos;
}

/// The cell is quoted if it holds commas, quotes or line breaks. Texts may come from strangers'
/// files: an apostrophe is put before a text that would be a formula.
inline std::string csv_cell(const std::string& text) {
  const std::string cell = is_formula(text) ? "'" + text : text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace fovea
