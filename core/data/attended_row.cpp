#include "data/attended_row.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fovea {

AttendedRow attend(const Problem& head, Index i) {
  return attend(head, i, {0, head.keys()});
}

AttendedRow attend(const Problem& head, Index i, IndexRange some) {
  AttendedRow row{.z = std::vector<double>(head.dv())};
  std::vector<std::pair<Index, double>> logits;
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  const double* sink = head.rule && head.rule->sink ? &*head.rule->sink : nullptr;
  const IndexRange keys = some.intersected(head.band().keys(i));
  for (Index j = keys.begin; j < keys.end; ++j)
    if (!head.mask || head.mask->admits(i, j)) {
      logits.emplace_back(j, head.logit(i, j));
      largest = std::max(largest, logits.back().second);
    }
  if (logits.empty()) return row;
  if (sink) largest = std::max(largest, *sink);
  if (sink) sum = std::exp(*sink - largest);
  for (auto& [j, logit] : logits) sum += logit = std::exp(logit - largest);
  for (const auto& [j, weight] : logits) {
    double norm = 0;
    for (Index c = 0; c < head.dv(); ++c) {
      const auto v = static_cast<double>(head.v(j, c));
      row.z[c] += weight / sum * v;
      norm += v * v;
    }
    row.spread += weight / sum * std::sqrt(norm);
  }
  row.lse = largest + std::log(sum);
  row.any = true;
  return row;
}

std::vector<Index> spread_rows(Index rows, Index count) {
  std::vector<Index> out;
  count = std::min(count, rows);
  for (Index t = 0; t < count; ++t) out.push_back(count == 1 ? 0 : t * (rows - 1) / (count - 1));
  return out;
}

}  // namespace fovea
