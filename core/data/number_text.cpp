#include "data/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace fovea {
namespace {

using Format = std::chars_format;

constexpr const char* text_of_nan = "–";

/// As printf's %f, %g and %e in the locale "C", whatever the locale of the program is.
std::string printed(Format format, int digits, double value) {
  std::array<char, 512> buffer{};  // the largest double has 309 digits before its point
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits).ptr;
  return {buffer.data(), end};
}

std::string with_true_minus(const std::string& text) {
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string without_zeros(std::string text) {
  if (text.find('.') == text.npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// A number after rounding, which may have raised its exponent: 9.996e-5 to three digits is 1e-4.
struct Scientific {
  std::string mantissa;  // "-4.5"
  int exponent = 0;
};

Scientific rounded_to(int digits, double value) {
  const std::string text = printed(Format::scientific, digits - 1, value);
  const std::size_t e = text.find('e');
  return {without_zeros(text.substr(0, e)), std::stoi(text.substr(e + 1))};
}

/// "-4.5×10⁻⁷", "10⁶".
std::string to_text(const Scientific& number) {
  std::string power = power_of_ten(number.exponent);
  if (number.mantissa == "1") return power;
  return number.mantissa == "-1" ? "-" + power : number.mantissa + "×" + power;
}

// Three significant digits and a unit that keeps the number between 1 and `step`.
std::string scaled(double value, double step, const std::vector<const char*>& units, Zeros zeros) {
  if (!std::isfinite(value)) return format_plain(value);
  std::size_t unit = 0;
  // A value that rounds up to the next unit, or to one more digit, is written in that form: 999.6
  // is "1.00 k".
  while (unit + 1 < units.size() && value >= step - 0.5) {
    value /= step;
    ++unit;
  }
  const int decimals = unit == 0 && value == std::floor(value) ? 0
                       : value < 9.995                         ? 2
                       : value < 99.95                         ? 1
                                                               : 0;
  const std::string number = printed(Format::fixed, decimals, value), suffix = units[unit];
  return (zeros == Zeros::keep ? number : without_zeros(number)) +
         (suffix.empty() ? "" : " " + suffix);
}

}  // namespace

std::string power_of_ten(int exponent) {
  constexpr const char* superscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(exponent))) text += superscripts[c - '0'];
  return text;
}

std::string format_number(double value, int digits, Zeros zeros) {
  if (std::isnan(value)) return text_of_nan;
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const std::string text = printed(Format::general, digits, value);
  const Scientific rounded = rounded_to(digits, value);
  if (text.find('e') != text.npos) return to_text(rounded);
  if (zeros == Zeros::drop || value == 0) return text;
  return printed(Format::fixed, std::max(0, digits - 1 - rounded.exponent), value);
}

std::string format_drawn(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  const Scientific rounded = rounded_to(digits, value);
  if (rounded.exponent < -3 || std::abs(value) >= 1e6) return with_true_minus(to_text(rounded));
  const std::string text = printed(Format::general, digits, value);
  return text.find('e') == text.npos ? with_true_minus(text) : format_fixed(value, 0);
}

std::string format_compact(double value, int decimals) {
  const double size = std::abs(value);
  if (value == 0 || !std::isfinite(value)) return format_drawn(value);
  const int digits = std::max(decimals, size >= 100 ? 3 : 2);
  std::string text =
      size < 1 ? printed(Format::fixed, decimals, size) : printed(Format::general, digits, size);
  if (text.find('e') != text.npos) return format_drawn(value, 1);
  if (text.starts_with("0.")) text.erase(0, 1);
  if (text.find_first_not_of(".0") == text.npos)
    text = power_of_ten(static_cast<int>(std::floor(std::log10(size))));
  return (value < 0 ? "−" : "") + text;
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return with_true_minus(format_number(value));
  return with_true_minus(printed(Format::fixed, decimals, value == 0 ? 0.0 : value));  // never "−0"
}

std::string format_percent(double share, int digits) {
  return std::isnan(share) ? text_of_nan : format_number(100 * share, digits) + " %";
}

std::string format_share(double share) {
  const double percent = 100 * share;
  return std::isnan(share) || percent < 10 ? format_percent(share, 2)
                                           : format_fixed(percent, 0) + " %";
}

std::string format_plain(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e6)) return to_text(rounded_to(3, value));
  const std::string text = printed(Format::general, 4, value);
  return text.find('e') == text.npos ? text : format_number(value, 4);
}

std::string format_exactly(double value) {
  if (std::isnan(value)) return "nan";  // of whichever sign
  constexpr int enough = 17;            // for every double
  for (int digits = 12;; ++digits) {
    const std::string text = printed(Format::general, digits, value);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (digits == enough || read == value) return text;
  }
}

std::string format_count(double count, Zeros zeros) {
  return scaled(count, 1000, {"", "k", "M", "G", "T", "P"}, zeros);
}

std::string format_bytes(double bytes, Zeros zeros) {
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}, zeros);
}

std::string format_time(double milliseconds, Zeros zeros) {
  if (std::isfinite(milliseconds) && milliseconds >= 60e3)
    return printed(Format::fixed, 1, milliseconds / 60e3) + " min";
  return scaled(std::isfinite(milliseconds) ? milliseconds * 1e3 : milliseconds, 1000,
                {"µs", "ms", "s"}, zeros);
}

std::string plural_of(const std::string& noun) {
  if (noun.ends_with("leaf")) return noun.substr(0, noun.size() - 1) + "ves";
  if (noun.ends_with("ry")) return noun.substr(0, noun.size() - 1) + "ies";
  return noun + "s";
}

std::string plural(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + (count == 1 ? noun : plural_of(noun));
}

}  // namespace fovea
