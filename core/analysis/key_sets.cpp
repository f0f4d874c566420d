#include "analysis/key_sets.h"

#include <algorithm>

#include "analysis/reach.h"
#include "analysis/support.h"

namespace fovea {

std::vector<Diagnostic> key_set_figures(const Diagnosis& of, Run& run) {
  const Plan& plan = of.approximate.plan();
  const Support support(plan);
  if (support.complete(run.stop)) return {};
  double sum = 0;
  Index largest = 0;
  constexpr Index often = 512;
  for (Index i = 0; i < plan.queries(); ++i) {
    if (i % often == 0) run.check();
    const Index size = support.count(i);
    sum += static_cast<double>(size);
    largest = std::max(largest, size);
  }
  std::vector<Diagnostic> figures{
      {"row_size_mean", "Keys a query, mean", sum / static_cast<double>(plan.queries()),
       "Mean |S_i|."},
      {"row_size_max", "Keys a query, most", static_cast<double>(largest), "Largest |S_i|."}};
  if (!plan.lengths.equal()) return figures;  // keys are not queries of the layer below
  // To walk single pairs through two layers takes longer than the attention itself.
  if (plan.head_mask && plan.mask) return figures;
  const Reach reach = two_hop_reach(plan, run.stop);
  figures.push_back(
      {"two_hop_reach", "Two-hop reach", reach.share.value,
       "Share of the admissible pairs between which information travels in two layers.",
       reach.sampled_rows > 0, false, reach.share.standard_error});
  return figures;
}

}  // namespace fovea
