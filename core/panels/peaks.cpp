#include "panels/peaks.h"

#include <algorithm>
#include <cmath>

#include "data/pixels.h"

namespace fovea {
namespace {

constexpr Index cells_a_side = 64;

Peak peak_in(const Matrix& largest, IndexRange rows, IndexRange cols) {
  Peak peak;
  for (Index r = rows.begin; r < rows.end; ++r)
    for (Index c = cols.begin; c < cols.end; ++c)
      if (const float v = largest(r, c); std::isfinite(v) && std::abs(v) > std::abs(peak.value))
        peak = {r, c, v};
  return peak;
}

}  // namespace

std::vector<Peak> peaks_of(const Matrix& largest) {
  const Index down = std::min(cells_a_side, largest.rows()),
              across = std::min(cells_a_side, largest.cols());
  std::vector<Peak> peaks;
  for (Index r = 0; r < down; ++r)
    for (Index c = 0; c < across; ++c) {
      const Peak peak = peak_in(largest, pixel_tokens(r, {0, largest.rows()}, down),
                                pixel_tokens(c, {0, largest.cols()}, across));
      if (peak.value != 0) peaks.push_back(peak);
    }
  std::ranges::stable_sort(
      peaks, [](const Peak& a, const Peak& b) { return std::abs(a.value) > std::abs(b.value); });
  return peaks;
}

}  // namespace fovea
