#include "analysis/row_bands.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/draw_purpose.h"
#include "data/random.h"

namespace fovea {
namespace {
constexpr Index entries_per_band = Index{1} << 22;

/// How many rows of `lengths` are read.
Index rows_of(Lengths lengths, double max_entries) {
  const double wanted = max_entries / static_cast<double>(lengths.keys);
  if (wanted >= static_cast<double>(lengths.queries)) return lengths.queries;
  return std::min(lengths.queries, std::max<Index>(16, static_cast<Index>(wanted)));
}

/// The chance of each row in a sample of so many rows: half of the sample is drawn evenly, half in
/// proportion to size. The part of the second half that rows with a chance of 1 do not need goes to
/// the other rows.
std::vector<double> chances_by_size(std::span<const double> sizes, Index sample) {
  const auto n = static_cast<double>(sizes.size());
  const double even = static_cast<double>(sample) / (2 * n);
  std::vector<double> chances(sizes.size(), even);
  const auto is_below = [](double chance) { return chance < 1; };
  for (double left = static_cast<double>(sample) / 2;;) {  // of the second half
    double all = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (is_below(chances[i])) all += sizes[i];
    if (!(all > 0) || !std::isfinite(all)) {
      const auto others = static_cast<double>(std::ranges::count_if(chances, is_below));
      for (double& chance : chances)
        if (is_below(chance)) chance += left / others;
      return chances;
    }
    const double scale = left / all, before = left;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (is_below(chances[i]) && even + scale * sizes[i] >= 1) {
        chances[i] = 1;
        left -= 1 - even;
      }
    if (left < before) continue;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (is_below(chances[i])) chances[i] += scale * sizes[i];
    return chances;
  }
}

}  // namespace

RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed) {
  const Index n = lengths.queries;
  RowBands out{.rows = rows_of(lengths, max_entries), .queries = n};
  if (out.sampled()) {
    Random random(seed, stream_of(DrawPurpose::sampled_rows, 0));
    // Selection sampling: row i is taken with probability (still needed) / (still left).
    for (Index i = 0, left = out.rows; left > 0; ++i)
      if (static_cast<Index>(random.below(static_cast<std::uint64_t>(n - i))) < left) {
        out.bands.push_back({i, i + 1});
        --left;
      }
    return out;
  }
  const Index height = std::clamp<Index>(entries_per_band / lengths.keys, 1, 1024);
  for (Index i = 0; i < n; i += height) out.bands.push_back({i, std::min(n, i + height)});
  return out;
}

// Pareto sampling (Rosén, "On sampling with probability proportional to size", J. Stat. Plan.
// Inference 62, 1997): each row draws u uniformly and is ranked by u / (1 - u) over π / (1 - π), π
// being its chance; the rows of the lowest ranks are the sample. Its size is fixed, and a row is in
// it with chance π but for terms that vanish as samples grow.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed,
                   std::span<const double> sizes) {
  const Index sample = rows_of(lengths, max_entries);
  if (sample == lengths.queries) return row_bands(lengths, max_entries, seed);
  const std::vector<double> chances = chances_by_size(sizes, sample);
  Random random(seed, stream_of(DrawPurpose::sampled_rows, 1));
  std::vector<std::pair<double, Index>> by_rank;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const double u = random.uniform(), chance = chances[i];
    by_rank.emplace_back(u / (1 - u) * (1 - chance) / chance, static_cast<Index>(i));
  }
  std::ranges::nth_element(by_rank, by_rank.begin() + sample);
  by_rank.resize(static_cast<std::size_t>(sample));
  std::ranges::sort(by_rank, {}, &std::pair<double, Index>::second);
  RowBands out{.rows = sample, .queries = lengths.queries};
  for (const auto& [rank, row] : by_rank) {
    out.bands.push_back({row, row + 1});
    out.chances.push_back(chances[static_cast<std::size_t>(row)]);
  }
  return out;
}

}  // namespace fovea
