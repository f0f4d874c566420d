#include "drawing/ticks.h"

#include <algorithm>
#include <cmath>

#include "data/number_text.h"

namespace fovea::drawing {
namespace {

double nice_step(double span, int most) {
  const double raw = span / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= raw * (1 - 1e-9)) return m * power;
  return 10 * power;
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high)) return {};
  if (!(high > low)) return {{low, format_drawn(low)}};
  const double step = nice_step(high - low, most);
  const int decimals = std::max(0.0, -std::floor(std::log10(step) + 1e-9));
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    const double at = k == 0 ? 0.0 : k * step;
    const bool wide = decimals > 3 || std::abs(at) >= 1e6;
    ticks.push_back({at, at == 0 ? "0" : wide ? format_drawn(at) : format_fixed(at, decimals)});
  }
  return ticks;
}

std::vector<Tick> whole_ticks(double low, double high, int most) {
  if (high - low >= most) return linear_ticks(low, high, most);  // steps of one and more
  std::vector<Tick> ticks;
  for (double at = std::ceil(low - 1e-9); at <= high + 1e-9; ++at)
    ticks.push_back({at, format_fixed(at, 0)});
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int most) {
  if (!(low > 0) || !(high > low)) return linear_ticks(low, high, most);
  const int first = std::ceil(std::log10(low) - 1e-6);
  const int last = std::floor(std::log10(high) + 1e-6);
  if (last <= first) return {{low, format_drawn(low, 1)}, {high, format_drawn(high, 2)}};
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

}  // namespace fovea::drawing
