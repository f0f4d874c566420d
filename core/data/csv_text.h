// Text as a cell of a CSV file.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// Whether a program for spreadsheets takes a cell with this text for a formula, quoted or not.
inline bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=@+-\t\r\n").find(text[0]) == std::string_view::npos)
    return false;
  const bool is_signed = text[0] == '+' || text[0] == '-';
  return !is_signed || text.find_first_not_of("0123456789.,eE+- ") != std::string_view::npos;
}

/// Quoted where it has to be: commas, quotes, line breaks. Texts may come from files of others: an
/// apostrophe is put before one that would be a formula.
inline std::string csv_cell(const std::string& text) {
  const std::string cell = is_formula(text) ? "'" + text : text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace fovea
