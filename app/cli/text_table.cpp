#include "cli/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace fovea {
namespace {

// Counts UTF-8 characters: every byte that does not continue one. All characters that are printed
// here are one column wide.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string formatted(const char* format, int digits, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, digits, value);
  return buffer.data();
}

// Three significant digits and a unit that keeps the number between 1 and `step`.
std::string scaled(double value, double step, const std::vector<const char*>& units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= step) {
    value /= step;
    ++unit;
  }
  const int decimals = unit == 0 && value == std::floor(value) ? 0
                       : value < 10                            ? 2
                       : value < 100                           ? 1
                                                               : 0;
  const std::string suffix = units[unit];
  return formatted("%.*f", decimals, value) + (suffix.empty() ? "" : " " + suffix);
}

}  // namespace

void print(std::ostream& out, const TextTable& table) {
  std::vector<bool> left;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> titles;
  for (const auto& title : table.header) {
    left.push_back(title.starts_with('<'));
    titles.push_back(left.back() ? title.substr(1) : title);
  }
  lines.push_back(titles);
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());

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
      out << "  " << label << std::string(width - width_of(label) + 2, ' ') << value << '\n';
}

std::string number_text(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e6)) return formatted("%.*e", 2, value);
  return formatted("%.*g", 4, value);
}

std::string count_text(double count) {
  if (!std::isfinite(count)) return number_text(count);
  return scaled(count, 1000, {"", "K", "M", "G", "T", "P"});
}

std::string bytes_text(double bytes) {
  if (!std::isfinite(bytes)) return number_text(bytes);
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string time_text(double milliseconds) {
  if (!std::isfinite(milliseconds)) return number_text(milliseconds);
  return milliseconds >= 60e3 ? formatted("%.*f", 1, milliseconds / 60e3) + " min"
                              : scaled(milliseconds * 1e3, 1000, {"µs", "ms", "s"});
}

std::string plural(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace fovea
