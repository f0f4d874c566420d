#include "analysis/row_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/random.h"

namespace fovea {
namespace {
constexpr Index band_entries = Index{1} << 22;
constexpr std::uint32_t row_sample_purpose =
    0x726f7773;  // "rows": different from every variant's streams

/// How many rows of `lengths` are read.
Index rows_of(Lengths lengths, double max_entries) {
  const double wanted = max_entries / static_cast<double>(lengths.keys);
  if (wanted >= static_cast<double>(lengths.queries)) return lengths.queries;
  return std::min(lengths.queries, std::max<Index>(16, static_cast<Index>(wanted)));
}

/// The chance of each row in a sample of so many: half of it even, half by size. Rows with a chance
/// of 1 or more are certain, and what is left is divided among the others in the same way.
std::vector<double> chances_by_size(std::span<const double> sizes, Index sample) {
  std::vector<double> chances(sizes.size());
  for (bool changed = true; changed;) {
    double drawn = static_cast<double>(sample), rows = 0, all = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (chances[i] < 1)
        ++rows, all += sizes[i];
      else
        --drawn;
    const bool usable = all > 0 && std::isfinite(all);
    changed = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (chances[i] >= 1) continue;
      const double share = usable ? 0.5 / rows + 0.5 * sizes[i] / all : 1 / rows;
      chances[i] = std::min(1.0, drawn * share);
      changed |= chances[i] == 1;
    }
  }
  return chances;
}

}  // namespace

RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed) {
  const Index n = lengths.queries;
  RowBands out{.rows = rows_of(lengths, max_entries), .queries = n};
  if (out.sampled()) {
    Random random(seed, stream_of(row_sample_purpose, 0));
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

// Pareto sampling (Rosén, J. Stat. Plan. Inference 62, 1997): of all rows those with the smallest
// odds of a uniform number by the odds of their chance. Their number is fixed, and a row is among
// them with its chance but for terms that vanish with the sample's size.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed,
                   std::span<const double> sizes) {
  const Index sample = rows_of(lengths, max_entries);
  if (sample == lengths.queries) return row_bands(lengths, max_entries, seed);
  const std::vector<double> chances = chances_by_size(sizes, sample);
  Random random(seed, stream_of(row_sample_purpose, 1));
  std::vector<std::pair<double, Index>> by_odds;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const double u = random.uniform(), chance = chances[i];
    by_odds.emplace_back(u / (1 - u) * (1 - chance) / chance, static_cast<Index>(i));
  }
  std::ranges::nth_element(by_odds, by_odds.begin() + sample);
  by_odds.resize(static_cast<std::size_t>(sample));
  std::ranges::sort(by_odds, {}, &std::pair<double, Index>::second);
  RowBands out{.rows = sample, .queries = lengths.queries};
  for (const auto& [odds, row] : by_odds) {
    out.bands.push_back({row, row + 1});
    out.chances.push_back(chances[static_cast<std::size_t>(row)]);
  }
  return out;
}

}  // namespace fovea
