#include "figure/ticks.h"

#include <cmath>

namespace fovea {
namespace {

QString superscript(int exponent) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text;
  if (exponent < 0) text += QStringLiteral("⁻");
  for (const QChar c : QString::number(std::abs(exponent))) text += digits[c.digitValue()];
  return text;
}

QString power_of_ten(int exponent) {
  if (exponent == 0) return QStringLiteral("1");
  if (exponent == 1) return QStringLiteral("10");
  return QStringLiteral("10") + superscript(exponent);
}

double nice_step(double span, int most) {
  const double raw = span / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= raw * (1 - 1e-9)) return m * power;
  return 10 * power;
}

QString plain(double value, int decimals) {
  QString text = QString::number(value, 'f', decimals);
  if (text.startsWith('-')) text.replace(0, 1, QStringLiteral("−"));
  return text;
}

}  // namespace

QString number_text(double value, int digits) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
  if (value == 0) return QStringLiteral("0");
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  QString text = QString::number(value, 'g', digits);
  if (exponent < -3 || exponent > 5) {
    const QString mantissa = QString::number(value / std::pow(10.0, exponent), 'g', digits);
    text = (mantissa == "1"    ? QString()
            : mantissa == "-1" ? QStringLiteral("-")
                               : mantissa + "×") +
           power_of_ten(exponent);
  } else if (text.contains('e')) {
    text = QString::number(value, 'f', 0);
  }
  if (text.startsWith('-')) text.replace(0, 1, QStringLiteral("−"));
  return text;
}

std::vector<Tick> linear_ticks(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high)) return {};
  if (!(high > low)) return {{low, number_text(low)}};
  const double step = nice_step(high - low, most);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    const double at = k == 0 ? 0.0 : k * step;
    const bool wide = decimals > 3 || std::abs(at) >= 1e6;
    ticks.push_back({at, at == 0 ? QStringLiteral("0")
                         : wide  ? number_text(at)
                                 : plain(at, decimals)});
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
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-6));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-6));
  if (last <= first) return {{low, number_text(low, 1)}, {high, number_text(high, 2)}};
  const int stride = std::max(1, (last - first + most - 1) / std::max(1, most));
  std::vector<Tick> ticks;
  for (int e = first; e <= last; e += stride) ticks.push_back({std::pow(10.0, e), power_of_ten(e)});
  return ticks;
}

std::vector<Tick> signed_log_ticks(double high, double least, int most) {
  if (!(high > 0) || !(least > 0)) return {{0, QStringLiteral("0")}};
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-6));
  const int first = std::min(last, static_cast<int>(std::ceil(std::log10(least) - 1e-6)));
  const int each = std::max(1, (most - 1) / 2), stride = (last - first) / each + 1;
  std::vector<Tick> ticks{{0, QStringLiteral("0")}};
  for (int e = last; e >= first; e -= stride) {
    ticks.insert(ticks.begin(), {-std::pow(10.0, e), QStringLiteral("−") + power_of_ten(e)});
    ticks.push_back({std::pow(10.0, e), power_of_ten(e)});
  }
  std::ranges::sort(ticks, {}, &Tick::at);
  return ticks;
}

std::vector<Tick> token_ticks(IndexRange tokens, int most) {
  const double size = static_cast<double>(tokens.size());
  if (tokens.size() <= 0) return {};
  Index step = static_cast<Index>(std::max(1.0, nice_step(size, most)));
  const Index binary =
      static_cast<Index>(std::exp2(std::ceil(std::log2(std::max(1.0, size / std::max(1, most))))));
  if (binary >= 16 && tokens.begin % binary == 0 && tokens.size() % (binary / 4) == 0)
    step = binary;
  std::vector<Tick> ticks;
  for (Index i = (tokens.begin + step - 1) / step * step; i < tokens.end; i += step)
    ticks.push_back({static_cast<double>(i) + 0.5, QString::number(i)});
  return ticks;
}

}  // namespace fovea
