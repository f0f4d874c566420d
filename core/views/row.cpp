// One query's row of P.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "data/larger.h"
#include "data/pixels.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

constexpr std::size_t top_count = 8;
constexpr Index longest_curve = 4096;  // values; longer rows are pooled by their maximum

using Weights = std::vector<float>;  // [nk]

std::shared_ptr<const Weights> row_of(const Operator& op, Index query, const Weights* known,
                                      Run& run) {
  if (known) return {std::shared_ptr<void>(), known};
  const Matrix row = op.tile({query, query + 1}, {0, op.plan().keys()}, run);
  return std::make_shared<const Weights>(row.row(0), row.row(0) + row.cols());
}

std::shared_ptr<const Weights> magnitudes(Weights row) {
  for (float& weight : row) weight = std::abs(weight);
  return std::make_shared<const Weights>(std::move(row));
}

std::vector<float> curve(const Weights& row, IndexRange keys) {
  const float* p = row.data() + keys.begin;
  const Index count = std::min(keys.size(), longest_curve);
  std::vector<float> out(count);
  for (Index c = 0; c < count; ++c) {
    const float* const begin = p + pixel_begin(c, keys.size(), count);
    out[c] = std::accumulate(begin, p + pixel_begin(c + 1, keys.size(), count), *begin,
                             larger_or_nan<float>);
  }
  return out;
}

std::vector<std::pair<Index, float>> top_keys(const Weights& row) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < row.size(); ++j)
    if (row[j] > 0) order.push_back(j);  // leaves NaN out, which has no place in an order
  const std::size_t count = std::min(top_count, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(count),
      [&](std::size_t a, std::size_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
  std::vector<std::pair<Index, float>> out;
  for (std::size_t i = 0; i < count; ++i)
    out.emplace_back(static_cast<Index>(order[i]), row[order[i]]);
  return out;
}

Body row(const PanelInputs& in, std::string& caption, Run& run) {
  if (in.query < 0 || in.query >= in.computation.op->plan().queries())
    return Message{"Click a row of the matrix to see its query here."};
  Run first = run.part(0, 0.5), second = run.part(0.5, 1);
  auto exact = row_of(*in.exact.op, in.query, in.exact_row, first);
  auto approximate =
      is_exact(in) ? exact : row_of(*in.computation.op, in.query, in.approximate_row, second);
  const auto is_recurrent = [](const Computation& its) {
    return its.op->plan().as<RecurrentPlan>() != nullptr;
  };
  const bool has_signs = is_recurrent(in.exact) || is_recurrent(in.computation);
  if (has_signs) {
    exact = magnitudes(*exact);
    approximate = magnitudes(*approximate);
  }
  RowCurve out{.query = in.query, .keys = in.cols};
  if (in.settings.norm == Norm::log) out.log_floor = in.settings.log_floor;
  out.exact = curve(*exact, in.cols);
  out.approximate = curve(*approximate, in.cols);
  out.top_exact = top_keys(*exact);
  out.top_approximate = top_keys(*approximate);
  add(caption, "query " + named(in.sequence, in.query));
  if (has_signs) add(caption, "magnitudes |P|");
  if (in.cols.size() > longest_curve) add(caption, "pooled by the maximum");
  return out;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind row_view() {
  return {.id = "row",
          .label = "Row",
          .meaning = "The weights of one query for all keys, exact and approximate.",
          .make = views::row,
          .needs_exact = true,
          .needs_entries = true,
          .of_query = true,
          .uses_log_floor = true,
          .has_norm = true,
          .aspect = 0.72,
          .has_keys = true};
}

}  // namespace fovea
