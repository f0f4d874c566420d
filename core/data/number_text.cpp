#include "data/number_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace fovea {
namespace {

std::string printed(const char* format, int digits, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, digits, value);
  return buffer.data();
}

std::string power_of_ten(int exponent) {
  constexpr const char* superscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(exponent))) text += superscripts[c - '0'];
  return text;
}

std::string without_zeros(std::string text) {
  if (text.find('.') == text.npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Three significant digits and a unit that keeps the number between 1 and `step`.
std::string scaled(double value, double step, const std::vector<const char*>& units, Zeros zeros) {
  if (!std::isfinite(value)) return format_plain(value);
  std::size_t unit = 0;
  // A value that rounds to the next unit, or to one more digit, is written so: 999.6 is "1.00 k".
  while (unit + 1 < units.size() && value >= step - 0.5) {
    value /= step;
    ++unit;
  }
  const int decimals = unit == 0 && value == std::floor(value) ? 0
                       : value < 9.995                         ? 2
                       : value < 99.95                         ? 1
                                                               : 0;
  const std::string number = printed("%.*f", decimals, value), suffix = units[unit];
  return (zeros == Zeros::keep ? number : without_zeros(number)) +
         (suffix.empty() ? "" : " " + suffix);
}

}  // namespace

std::string format_number(double value, int digits) {
  std::string text = printed("%.*g", digits, value);
  const std::size_t e = text.find('e');
  if (e == text.npos) return text;
  const std::string mantissa = text.substr(0, e);
  std::string power = power_of_ten(std::stoi(text.substr(e + 1)));
  if (mantissa == "1") return power;
  return mantissa == "-1" ? "-" + power : mantissa + "×" + power;
}

std::string format_percent(double share, int digits) {
  return format_number(100 * share, digits) + " %";
}

std::string format_plain(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e6)) return printed("%.*e", 2, value);
  return printed("%.*g", 4, value);
}

std::string format_exactly(double value) {
  return printed("%.*g", 12, value);
}

std::string format_count(double count, Zeros zeros) {
  return scaled(count, 1000, {"", "k", "M", "G", "T", "P"}, zeros);
}

std::string format_bytes(double bytes, Zeros zeros) {
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}, zeros);
}

std::string format_time(double milliseconds, Zeros zeros) {
  if (std::isfinite(milliseconds) && milliseconds >= 60e3)
    return printed("%.*f", 1, milliseconds / 60e3) + " min";
  return scaled(std::isfinite(milliseconds) ? milliseconds * 1e3 : milliseconds, 1000,
                {"µs", "ms", "s"}, zeros);
}

std::string plural_of(const std::string& noun) {
  if (noun.ends_with("leaf")) return noun.substr(0, noun.size() - 1) + "ves";
  return noun + "s";
}

std::string plural(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + (count == 1 ? noun : plural_of(noun));
}

}  // namespace fovea
