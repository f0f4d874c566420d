#include "drawing/ticks.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fovea::drawing {
namespace {

/// As printf has it, in no one's locale.
std::string printed(double value, std::chars_format format, int digits) {
  char buffer[512];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format, digits).ptr;
  return {buffer, end};
}

std::string with_minus_sign(const std::string& text) {
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

std::string power_of_ten(int exponent) {
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  return "10" + superscript(exponent);
}

double nice_step(double span, int most) {
  const double raw = span / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= raw * (1 - 1e-9)) return m * power;
  return 10 * power;
}

std::string plain(double value, int decimals) {
  return with_minus_sign(printed(value == 0 ? 0.0 : value, std::chars_format::fixed, decimals));
}

}  // namespace

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  const int exponent = std::floor(std::log10(std::abs(value)));
  std::string text = printed(value, std::chars_format::general, digits);
  if (exponent < -3 || exponent > 5) {
    const std::string mantissa =
        printed(value / std::pow(10.0, exponent), std::chars_format::general, digits);
    text = (mantissa == "1"    ? ""
            : mantissa == "-1" ? "-"
                               : mantissa + "×") +
           power_of_ten(exponent);
  } else if (text.find('e') != std::string::npos) {
    text = printed(value, std::chars_format::fixed, 0);
  }
  return with_minus_sign(text);
}

std::vector<Tick> linear_ticks(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high)) return {};
  if (!(high > low)) return {{low, number_text(low)}};
  const double step = nice_step(high - low, most);
  const int decimals = std::max(0.0, -std::floor(std::log10(step) + 1e-9));
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    const double at = k == 0 ? 0.0 : k * step;
    const bool wide = decimals > 3 || std::abs(at) >= 1e6;
    ticks.push_back({at, at == 0 ? "0" : wide ? number_text(at) : plain(at, decimals)});
  }
  return ticks;
}

std::vector<Tick> whole_ticks(double low, double high, int most) {
  if (high - low >= most) return linear_ticks(low, high, most);  // steps of one and more
  std::vector<Tick> ticks;
  for (double at = std::ceil(low - 1e-9); at <= high + 1e-9; ++at)
    ticks.push_back({at, plain(at, 0)});
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int most) {
  if (!(low > 0) || !(high > low)) return linear_ticks(low, high, most);
  const int first = std::ceil(std::log10(low) - 1e-6);
  const int last = std::floor(std::log10(high) + 1e-6);
  if (last <= first) return {{low, number_text(low, 1)}, {high, number_text(high, 2)}};
  const int stride = std::max(1, (last - first + most - 1) / std::max(1, most));
  std::vector<Tick> ticks;
  for (int e = first; e <= last; e += stride) ticks.push_back({std::pow(10.0, e), power_of_ten(e)});
  return ticks;
}

std::vector<Tick> signed_log_ticks(double high, double least, int most) {
  if (!(high > 0) || !(least > 0)) return {{0, "0"}};
  const int last = std::floor(std::log10(high) + 1e-6);
  const int first = std::min<int>(last, std::ceil(std::log10(least) - 1e-6));
  const int each = std::max(1, (most - 1) / 2), stride = (last - first) / each + 1;
  std::vector<Tick> ticks{{0, "0"}};
  for (int e = last; e >= first; e -= stride) {
    ticks.insert(ticks.begin(), {-std::pow(10.0, e), "−" + power_of_ten(e)});
    ticks.push_back({std::pow(10.0, e), power_of_ten(e)});
  }
  std::ranges::sort(ticks, {}, &Tick::at);
  return ticks;
}

std::vector<Index> token_places(double low, double high, const TokenSpacing& where) {
  Index step = 1;
  while (step * where.cell < where.spacing && step < (Index{1} << 62)) step *= 2;
  std::vector<Index> places;
  for (Index t = Index(std::ceil(low / step)) * step; t < high; t += step) places.push_back(t);
  return places;
}

std::string compact_number(double value, int digits) {
  const double size = std::abs(value);
  if (value == 0 || !std::isfinite(value)) return number_text(value);
  std::string text;
  if (size < 1)
    text = printed(size, std::chars_format::fixed, digits);
  else
    text = printed(size, std::chars_format::general,
                   size >= 1000 ? 1 : std::max(digits, size >= 100 ? 3 : 2));
  if (text.starts_with("0.")) text.erase(0, 1);
  if (text.find_first_not_of(".0") == std::string::npos) return "~0";
  return (value < 0 ? "−" : "") + text;
}

}  // namespace fovea::drawing
