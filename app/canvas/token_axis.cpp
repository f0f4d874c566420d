#include "canvas/token_axis.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fovea::canvas {
namespace {

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : std::to_string(exponent)) out += c == '-' ? "⁻" : digits[c - '0'];
  return out;
}

std::string printed(const char* format, int digits, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, digits, value);
  return buffer;
}

std::string with_minus_sign(std::string text) {
  return text.starts_with('-') ? "\u2212" + text.substr(1) : text;
}

}  // namespace

std::vector<Index> ticks(const TokenAxis& axis, double spacing) {
  const double least = spacing / axis.cell();
  Index step = 1;
  // Powers of two: block and tile borders fall on them.
  while (static_cast<double>(step) < least) step *= 2;
  std::vector<Index> out;
  const Index first = static_cast<Index>(std::ceil(axis.begin / static_cast<double>(step))) * step;
  for (Index t = first; static_cast<double>(t) < axis.end; t += step) out.push_back(t);
  return out;
}

std::vector<std::pair<float, float>> spans(const TokenAxis& axis,
                                           const std::vector<Index>& tokens) {
  std::vector<std::pair<float, float>> out;
  auto token = std::ranges::lower_bound(tokens, static_cast<Index>(std::floor(axis.begin)));
  for (; token != tokens.end() && static_cast<double>(*token) < axis.end; ++token) {
    const float a = axis.pixel(static_cast<double>(*token));
    const float b = std::max(a + 1, axis.pixel(static_cast<double>(*token + 1)));
    if (!out.empty() && a < out.back().second + 0.5f)
      out.back().second = b;
    else
      out.emplace_back(a, b);
  }
  return out;
}

/// Pixel p begins at p size / pixels, rounded down: the last that does so at the token or before.
Index pixel_of(IndexRange tokens, Index pixels, Index token) {
  return ((token - tokens.begin + 1) * pixels - 1) / tokens.size();
}

std::vector<double> round_numbers(double low, double high, int count) {
  std::vector<double> out;
  if (!(high > low)) return out;
  const double rough = (high - low) / std::max(count, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  const double slack = step * 1e-6;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k)
    out.push_back(k == 0 ? 0.0 : k * step);
  return out;
}

std::string number(double value, int digits) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "∞" : "\u2212∞";
  const double size = std::abs(value);
  if (value == 0 || (size >= 1e-3 && size < 1e5)) {
    if (size >= 100 || value == std::round(value))
      return with_minus_sign(printed("%.*f", 0, value));
    return with_minus_sign(printed("%.*g", digits, value));
  }
  int exponent = static_cast<int>(std::floor(std::log10(size)));
  double mantissa = value / std::pow(10.0, exponent);
  const double unit = std::pow(10.0, digits - 1);
  mantissa = std::round(mantissa * unit) / unit;
  if (std::abs(mantissa) >= 10) mantissa /= 10, ++exponent;
  if (mantissa == 1) return "10" + superscript(exponent);
  return with_minus_sign(printed("%.*g", digits, mantissa)) + "×10" + superscript(exponent);
}

std::string compact_number(double value, int digits) {
  const double size = std::abs(value);
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : number(value);
  std::string text;
  if (size < 1)
    text = printed("%.*f", digits, size);
  else
    text = size >= 1000 ? printed("%.*g", 1, size)
                        : printed("%.*g", std::max(digits, size >= 100 ? 3 : 2), size);
  if (text.starts_with("0.")) text.erase(0, 1);
  if (text.find_first_not_of(".0") == std::string::npos) return "~0";
  return (value < 0 ? "\u2212" : "") + text;
}

}  // namespace fovea::canvas
