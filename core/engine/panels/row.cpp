#include <algorithm>

#include "engine/panels/panels.h"

namespace fovea::panels {
namespace {

constexpr std::size_t top_count = 8;
constexpr Index longest_curve = 4096;  // values; longer rows are pooled by their maximum

std::vector<float> curve(const Matrix& row, IndexRange keys) {
  const float* p = row.row(0) + keys.begin;
  const Index count = std::min(keys.size(), longest_curve);
  std::vector<float> out(static_cast<std::size_t>(count));
  for (Index c = 0; c < count; ++c)
    out[static_cast<std::size_t>(c)] =
        *std::max_element(p + c * keys.size() / count, p + (c + 1) * keys.size() / count);
  return out;
}

std::vector<std::pair<Index, float>> top_keys(const Matrix& row) {
  std::vector<Index> order;
  for (Index j = 0; j < row.cols(); ++j)
    if (row(0, j) > 0) order.push_back(j);  // and not NaN, which has no place in an order
  const std::size_t count = std::min(top_count, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(count),
      [&](Index a, Index b) { return row(0, a) > row(0, b) || (row(0, a) == row(0, b) && a < b); });
  std::vector<std::pair<Index, float>> out;
  for (std::size_t i = 0; i < count; ++i) out.emplace_back(order[i], row(0, order[i]));
  return out;
}

}  // namespace

Body row(const PanelInputs& in, std::string& caption, Run& run) {
  const Index n = in.computation.op->plan().n;
  if (in.query < 0 || in.query >= n)
    return Message{"Click a row of the matrix to see its query here."};
  const IndexRange one{in.query, in.query + 1};
  const Matrix exact = in.exact.op->tile(one, {0, n}, run);
  const Matrix approximate = is_exact(in) ? exact : in.computation.op->tile(one, {0, n}, run);
  RowCurve out{.query = in.query, .keys = in.cols};
  if (in.settings.norm == Norm::log) out.log_floor = in.settings.log_floor;
  out.exact = curve(exact, in.cols);
  out.approximate = curve(approximate, in.cols);
  out.top_exact = top_keys(exact);
  out.top_approximate = top_keys(approximate);
  add(caption, "query " + named(in.sequence, in.query));
  if (in.cols.size() > longest_curve) add(caption, "pooled by the maximum");
  return out;
}

}  // namespace fovea::panels
