#include "analysis/row_bands.h"

#include <algorithm>

#include "data/random.h"

namespace fovea {
namespace {
constexpr Index band_entries = Index{1} << 22;
constexpr std::uint32_t row_sample_purpose =
    0x726f7773;  // "rows": different from every variant's streams
}  // namespace

RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed) {
  const Index n = lengths.queries;
  RowBands out{.bands = {}, .rows = n, .queries = n};
  const double wanted = max_entries / static_cast<double>(lengths.keys);
  if (wanted < static_cast<double>(n)) {
    Random random(seed, stream_of(row_sample_purpose, 0));
    out.rows = std::min(n, std::max<Index>(16, static_cast<Index>(wanted)));
    // Selection sampling: row i is taken with probability (still needed) / (still left).
    for (Index i = 0, left = out.rows; left > 0; ++i)
      if (static_cast<Index>(random.below(static_cast<std::uint64_t>(n - i))) < left) {
        out.bands.push_back({i, i + 1});
        --left;
      }
    return out;
  }
  const Index height = std::clamp<Index>(band_entries / lengths.keys, 1, 1024);
  for (Index i = 0; i < n; i += height) out.bands.push_back({i, std::min(n, i + height)});
  return out;
}

}  // namespace fovea
