#include "analysis/rounding_figures.h"

#include <limits>
#include <string>

namespace fovea {
namespace {

void add_tensor(const TensorRounding& rounding, std::vector<Diagnostic>& figures) {
  const std::string& x = rounding.tensor;
  figures.push_back({.id = x + "_error",
                     .label = "Error of " + x,
                     .value = rounding.error,
                     .meaning = "‖x′ − x‖ / ‖x‖ of this tensor; x′ is what it was rounded to."});
  figures.push_back({.id = x + "_scale",
                     .label = "Largest scale of " + x,
                     .value = rounding.largest_scale,
                     .meaning = "Numbers are divided by the scale of their block before they are "
                                "rounded. The scale of smoothed keys is that of k − m."});
  figures.push_back({.id = x + "_clipped",
                     .label = "Clipped in " + x,
                     .value = rounding.clipped,
                     .meaning = "The share of the numbers of this tensor (of k − m if keys are "
                                "smoothed) that, divided by their scale, lay beyond the largest "
                                "number of the format and became that."});
  figures.push_back({.id = x + "_zeroed",
                     .label = "Rounded to 0 in " + x,
                     .value = rounding.zeroed,
                     .meaning = "The share of the numbers of this tensor (of k − m if keys are "
                                "smoothed) that became 0 and were not 0."});
}

void add_outlier(const TensorRounding& keys, std::vector<Diagnostic>& figures) {
  const bool any = keys.worst_channel >= 0;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  figures.push_back({.id = "outlier_channel",
                     .label = "Outlier channel of k",
                     .value = any ? static_cast<double>(keys.worst_channel) : none,
                     .meaning = "The channel (column) of the keys whose rounding errors have the "
                                "largest sum of squares."});
  figures.push_back({.id = "outlier_share",
                     .label = "Error in the outlier channel",
                     .value = any ? keys.worst_share : none,
                     .meaning = "The share of ‖k′ − k‖² that lies in the outlier channel."});
}

}  // namespace

std::vector<Diagnostic> rounding_figures(const Diagnosis& of, Run&) {
  std::vector<Diagnostic> figures;
  const auto& rounded = of.approximate.plan().rounded;
  if (!rounded) return figures;
  for (const TensorRounding& rounding : rounded->tensors) add_tensor(rounding, figures);
  for (const TensorRounding& rounding : rounded->tensors)
    if (rounding.tensor == "k") add_outlier(rounding, figures);
  return figures;
}

}  // namespace fovea
