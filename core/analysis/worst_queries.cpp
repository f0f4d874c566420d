#include "analysis/worst_queries.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace fovea {

std::vector<Index> worst_queries(std::span<const float> errors) {
  std::vector<Index> order(errors.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater{}, [&](Index query) {
    const float error = errors[query];
    return std::isfinite(error) ? error : std::numeric_limits<float>::infinity();
  });
  return order;
}

}  // namespace fovea
