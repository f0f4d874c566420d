#include "report/text_table.h"

#include <algorithm>

#include "data/utf8.h"

namespace fovea {
namespace {

// Counts UTF-8 characters: every byte that does not continue one. All characters that are printed
// here are one column wide.
std::size_t width_of(const std::string& text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

void print(std::ostream& out, const TextTable& table) {
  std::vector<bool> left;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> titles;
  for (const auto& title : table.header) {
    left.push_back(title.starts_with('<'));
    titles.push_back(printable(left.back() ? title.substr(1) : title));
  }
  lines.push_back(titles);
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const std::string& cell : row) lines.back().push_back(printable(cell));
  }

  std::vector<std::size_t> widths(titles.size(), 0);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < widths.size() && c < line.size(); ++c)
      widths[c] = std::max(widths[c], width_of(line[c]));
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < widths.size() && c < line.size(); ++c) {
      const std::string blanks(widths[c] - width_of(line[c]), ' ');
      text += "  " + (left[c] ? line[c] + blanks : blanks + line[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  }
}

void print_facts(std::ostream& out, const std::vector<std::pair<std::string, std::string>>& facts) {
  std::size_t width = 0;
  for (const auto& [label, value] : facts)
    if (!value.empty()) width = std::max(width, width_of(label));
  for (const auto& [label, value] : facts)
    if (!value.empty())
      out << "  " << printable(label) << std::string(width - width_of(label) + 2, ' ')
          << printable(value) << '\n';
}

void print_note(std::ostream& out, const std::string& note, int indentation) {
  out << std::string(static_cast<std::size_t>(indentation), ' ') << "note: " << printable(note)
      << '\n';
}

void print_notes(std::ostream& out, const std::vector<std::string>& notes, int indentation) {
  for (const std::string& note : notes) print_note(out, note, indentation);
}

}  // namespace fovea
