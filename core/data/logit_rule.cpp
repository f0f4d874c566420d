#include "data/logit_rule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea {

LogitRule LogitRule::prefix(Index all_queries, Index all_keys, Index queries, Index keys) const {
  LogitRule out{.soft_cap = soft_cap, .by_distance = {}, .by_key = {}, .bias = {}, .sink = sink};
  if (!by_distance.empty()) {
    const auto first = by_distance.begin() + (all_keys - keys);
    out.by_distance.assign(first, by_distance.end() - (all_queries - queries));
  }
  if (!by_key.empty()) out.by_key.assign(by_key.begin(), by_key.begin() + keys);
  if (!bias.empty()) {
    out.bias = Matrix(keys, queries);
    for (Index j = 0; j < keys; ++j) std::copy_n(bias.row(j), queries, out.bias.row(j));
  }
  return out;
}

double LogitRule::capped(double logit) const {
  return soft_cap > 0 ? soft_cap * std::tanh(logit / soft_cap) : logit;
}

double LogitRule::with_sink(double log2_sum) const {
  if (!sink) return log2_sum;
  const double log2_sink = *sink * std::numbers::log2e;
  const double most = std::max(log2_sum, log2_sink), least = std::min(log2_sum, log2_sink);
  // Not std::max of a NaN, which would hide a row that is not finite.
  if (std::isnan(log2_sum) || std::isinf(most)) return std::isnan(log2_sum) ? log2_sum : most;
  return most + std::log2(1 + std::exp2(least - most));
}

double LogitRule::bias_of(Index i, Index j, Index keys) const {
  double sum = 0;
  if (!by_distance.empty()) sum += static_cast<double>(by_distance[i - j + keys - 1]);
  if (!by_key.empty()) sum += static_cast<double>(by_key[j]);
  if (!bias.empty()) sum += static_cast<double>(bias(j, i));
  return sum;
}

}  // namespace fovea
