#include "analysis/span_mass.h"

#include <algorithm>
#include <cmath>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"

namespace fovea {
namespace {

constexpr Index entries_of_a_band = Index{1} << 22;

void require_tokens(const Grouping& groups, const std::string& which, Index n) {
  if (groups.n() != n)
    throw InputError("", "groups of " + which + " for " + std::to_string(groups.n()) +
                             " tokens; expected the " + std::to_string(n) + " " + which +
                             " of the head");
}

std::vector<Index> sizes(const Grouping& groups) {
  std::vector<Index> sizes(groups.count(), 0);
  for (const std::int32_t group : groups.group) ++sizes[group];
  return sizes;
}

/// How many queries of each group are used, `wanted` in all or a few more: equally many of each
/// group, but at least 16 and at most all.
std::vector<Index> sample_sizes(const std::vector<Index>& sizes, double wanted) {
  double total = 0;
  for (const Index size : sizes) total += static_cast<double>(size);
  if (total <= wanted) return sizes;
  std::vector<Index> ascending = sizes;
  std::ranges::sort(ascending);
  Index share = 16;
  double left = wanted;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const auto even = static_cast<Index>(left / static_cast<double>(ascending.size() - i));
    share = std::max<Index>(16, even);
    if (ascending[i] > share) break;
    left -= static_cast<double>(ascending[i]);
  }
  std::vector<Index> out;
  for (const Index size : sizes) out.push_back(std::min(size, share));
  return out;
}

/// The queries that are used, ascending.
std::vector<Index> sample(const Grouping& groups, std::vector<Index> left,
                          std::vector<Index> needed, std::uint64_t seed) {
  std::vector<Random> random;
  for (Index g = 0; g < groups.count(); ++g)
    random.emplace_back(seed, stream_of(DrawPurpose::sampled_queries, g));
  std::vector<Index> out;
  for (Index i = 0; i < groups.n(); ++i) {
    // Selection sampling: a query is taken with probability (still needed) / (still left).
    const std::int32_t g = groups.group[i];
    const auto drawn = static_cast<Index>(random[g].below(left[g]--));
    if (drawn >= needed[g]) continue;
    out.push_back(i);
    --needed[g];
  }
  return out;
}

/// Adjacent keys of one group.
struct Stretch {
  IndexRange keys;
  std::int32_t group;
};

std::vector<Stretch> stretches(const Grouping& groups) {
  std::vector<Stretch> out;
  for (Index j = 0; j < groups.n(); ++j) {
    if (out.empty() || out.back().group != groups.group[j])
      out.push_back({{j, j}, groups.group[j]});
    out.back().keys.end = j + 1;
  }
  return out;
}

/// Means and sums of squared deviations of each group of keys (Welford 1962).
class Means {
 public:
  explicit Means(Index groups) : mean_(groups, 0.0), squares_(mean_) {}

  void add(const float* row, const std::vector<Stretch>& keys) {
    std::vector<double> mass(mean_.size(), 0.0);
    for (const Stretch& stretch : keys) {
      double sum = 0;
      for (Index j = stretch.keys.begin; j < stretch.keys.end; ++j) sum += row[j];
      mass[stretch.group] += sum;
    }
    ++rows_;
    for (std::size_t g = 0; g < mass.size(); ++g) {
      const double before = mass[g] - mean_[g];
      mean_[g] += before / static_cast<double>(rows_);
      squares_[g] += before * (mass[g] - mean_[g]);
    }
  }

  /// The estimate from a sample without replacement from `population` queries.
  Estimate estimate(Index group, Index population) const {
    const auto count = static_cast<double>(rows_);
    const double correction = 1 - count / static_cast<double>(population);
    const double variance = rows_ > 1 ? squares_[group] / (count - 1) / count * correction : 0.0;
    return {mean_[group], std::sqrt(std::max(0.0, variance))};
  }

 private:
  Index rows_ = 0;
  std::vector<double> mean_, squares_;
};

/// Calls use(band) for adjacent queries at a time, few enough for one band of P.
template <class Use>
void for_bands(const std::vector<Index>& queries, Index keys, Use use) {
  const Index height = std::clamp<Index>(entries_of_a_band / keys, 1, 1024);
  for (std::size_t i = 0; i < queries.size();) {
    IndexRange band{queries[i], queries[i] + 1};
    while (++i < queries.size() && queries[i] == band.end && band.size() < height) ++band.end;
    use(band);
  }
}

}  // namespace

SpanMass span_mass(const Operator& approximate, const Operator& exact, const Grouping& queries,
                   const Grouping& keys, Run& run, double max_entries, std::uint64_t seed) {
  const auto [query_count, key_count] = exact.plan().lengths;
  require_tokens(queries, "queries", query_count);
  require_tokens(keys, "keys", key_count);
  const std::vector<Index> population = sizes(queries);
  SpanMass out{.query_groups = queries.count(),
               .key_groups = keys.count(),
               .rows = sample_sizes(population, max_entries / static_cast<double>(key_count))};
  const std::vector<Index> used = sample(queries, population, out.rows, seed);
  out.sampled = std::ssize(used) < query_count;
  const std::vector<Stretch> key_stretches = stretches(keys);
  std::vector<Means> of_exact(population.size(), Means(keys.count())), of_approximate = of_exact;
  Run quiet = run.quiet();  // progress counts queries
  Index done = 0;
  for_bands(used, key_count, [&](IndexRange band) {
    run.check();
    const Matrix p = exact.tile(band, {0, keys.n()}, quiet),
                 q = approximate.tile(band, {0, keys.n()}, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      of_exact[queries.group[i]].add(p.row(i - band.begin), key_stretches);
      of_approximate[queries.group[i]].add(q.row(i - band.begin), key_stretches);
    }
    done += band.size();
    run.reached(static_cast<double>(done) / static_cast<double>(used.size()));
  });
  for (Index a = 0; a < queries.count(); ++a)
    for (Index b = 0; b < keys.count(); ++b)
      out.cells.push_back(
          {of_exact[a].estimate(b, population[a]), of_approximate[a].estimate(b, population[a])});
  return out;
}

}  // namespace fovea
