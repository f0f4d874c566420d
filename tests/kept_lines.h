// Lines that a test compares with those that are kept in a file beside it, for all that is said or
// drawn in many places: whatever changes in any of them is seen in one file.
#pragma once

#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace fovea::test {

/// A number in a line, as far as it goes from `at`; empty if there is none.
inline std::string number_at(const std::string& line, std::size_t at) {
  const auto digit = [&](std::size_t i) {
    return i < line.size() && std::isdigit(static_cast<unsigned char>(line[i]));
  };
  std::size_t end = at;
  while (digit(end)) ++end;
  if (end == at) return {};
  if (end < line.size() && line[end] == '.' && digit(end + 1))
    for (++end; digit(end);) ++end;
  if (end + 2 < line.size() && line[end] == 'e' && (line[end + 1] == '-' || line[end + 1] == '+') &&
      digit(end + 2))
    for (end += 2; digit(end);) ++end;
  return line.substr(at, end - at);
}

/// Whole numbers are equal. Others may differ by two in the last place or by 1e-4 of themselves, as
/// another processor rounds sums otherwise, and what is below 1e-5 is rounding itself.
inline bool same_number(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (a.find_first_of(".e") == a.npos && b.find_first_of(".e") == b.npos) return false;
  const double x = std::stod(a), y = std::stod(b);
  if (std::max(x, y) < 1e-5) return true;
  const auto step = [](const std::string& text) {
    const std::size_t point = text.find('.'), power = text.find('e');
    const double digits = point == text.npos ? 0 : double(std::min(power, text.size()) - point - 1);
    return std::pow(10, (power == text.npos ? 0 : std::stod(text.substr(power + 1))) - digits);
  };
  constexpr double relative = 1e-4;
  return std::abs(x - y) <= std::max(2.001 * std::max(step(a), step(b)), relative * std::max(x, y));
}

/// Whether two lines are the same but for the last places of numbers.
inline bool same_line(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const std::string x = number_at(a, i), y = number_at(b, j);
    if (x.empty() != y.empty()) return false;
    if (x.empty() ? a[i] != b[j] : !same_number(x, y)) return false;
    i += std::max<std::size_t>(x.size(), 1), j += std::max<std::size_t>(y.size(), 1);
  }
  return i == a.size() && j == b.size();
}

/// The lines are those of tests/`file`; FOVEA_UPDATE_GOLDEN=1 writes them.
inline void check_kept(const std::string& file, std::vector<std::string> lines) {
  for (std::string& line : lines)
    for (std::size_t at; (at = line.find('\n')) != line.npos;) line.replace(at, 1, "\\n");
  CHECK(lines.size() > 1);
  const std::string path = FOVEA_TESTS "/" + file;
  CAPTURE(path);
  if (std::getenv("FOVEA_UPDATE_GOLDEN")) {
    std::ofstream out(path);
    for (const std::string& line : lines) out << line << '\n';
  }
  std::ifstream in(path);
  std::vector<std::string> kept;
  for (std::string line; std::getline(in, line);) kept.push_back(line);
  int told = 0;
  for (std::size_t at = 0; at < std::max(lines.size(), kept.size()) && told < 5; ++at) {
    const std::string found = at < lines.size() ? lines[at] : "(no line)",
                      expected = at < kept.size() ? kept[at] : "(no line)";
    if (same_line(found, expected)) continue;
    ++told;
    CAPTURE(at + 1);
    CHECK(found == expected);
  }
}

}  // namespace fovea::test
