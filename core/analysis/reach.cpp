#include "analysis/reach.h"

#include "analysis/row_bands.h"
#include "analysis/support.h"
#include "data/error.h"

namespace fovea {

Reach two_hop_reach(const Plan& plan, std::stop_token stop, Index max_rows, std::uint64_t seed) {
  const Support support(plan);
  const IndexRange all{0, plan.n};
  const RowBands rows =
      row_bands(plan.n, static_cast<double>(max_rows) * static_cast<double>(plan.n), seed);
  double reached = 0, admissible = 0;
  std::vector<char> seen(static_cast<std::size_t>(plan.n));
  for (const IndexRange& band : rows.bands)
    for (Index i = band.begin; i < band.end; ++i) {
      if (stop.stop_requested()) throw Cancelled();
      std::ranges::fill(seen, 0);
      support.for_parts(i, all, [&](const Support::Part& first) {
        for (Index k = first.keys.begin; k < first.keys.end; ++k)
          support.for_parts(k, all, [&](const Support::Part& second) {
            std::fill_n(seen.begin() + second.keys.begin, second.keys.size(), 1);
          });
      });
      reached += static_cast<double>(std::ranges::count(seen, 1));
      admissible += static_cast<double>(plan.causal ? i + 1 : plan.n);
    }
  return {reached / admissible, rows.sampled() ? rows.rows : 0};
}

}  // namespace fovea
