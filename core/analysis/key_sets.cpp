#include "analysis/key_sets.h"

#include <algorithm>

#include "analysis/reach.h"
#include "analysis/support.h"

namespace fovea {

std::vector<Diagnostic> key_set_figures(const Diagnosis& of, Run& run) {
  const Plan& plan = of.approximate.plan();
  const Support support(plan);
  if (support.complete()) return {};
  double sum = 0;
  Index largest = 0;
  for (Index i = 0; i < plan.n; ++i) {
    const Index size = support.count(i);
    sum += static_cast<double>(size);
    largest = std::max(largest, size);
  }
  const Reach reach = two_hop_reach(plan, run.stop);
  return {{"row_size_mean", "Keys a query, mean", sum / static_cast<double>(plan.n), "Mean |S_i|."},
          {"row_size_max", "Keys a query, most", static_cast<double>(largest), "Largest |S_i|."},
          {"two_hop_reach", "Two-hop reach", reach.share,
           "Share of the admissible pairs between which information travels in two layers.",
           reach.sampled_rows > 0}};
}

}  // namespace fovea
