#include "tiles/bound_list.h"

#include <cmath>
#include <numbers>

#include "device/split_matrix.h"
#include "tiles/pyramid.h"

namespace fovea::cuda {

BoundList::BoundList(const Plan& plan, const Problem& problem, Precision precision,
                     const Device& device, Run& run)
    : device_(device),
      precision_(precision),
      log2_scale_(static_cast<float>(problem.scale * std::numbers::log2e)) {
  {
    const auto stage = run.profile.stage("flatten");
    list_ = tile_list(plan);
  }
  const int query_top = list_.mean_queries ? list_.query_top : 0;
  Timeline timeline(device);
  const Overflow overflow(device);
  {
    const auto stage = timeline.stage("upload");
    k_ = upload_tokens(problem.k, list_.key_top);
    q_ = upload_tokens(problem.q, query_top);
    indices_ = {device, std::span<const std::int32_t>(list_.indices)};
    weights_ = {device, std::span<const float>(list_.weights)};
    chunks_ = {device, std::span<const std::int32_t>(list_.chunks)};
    conditions_ = DeviceConditions(problem, device);
    if (problem.rule && problem.rule->sink)
      log2_sink_ = static_cast<float>(*problem.rule->sink * std::numbers::log2e);
  }
  if (precision != Precision::fp32 || list_.key_top > 0 || query_top > 0) {
    const auto stage = timeline.stage("coarsen and round");
    coarsen(k_.data(), problem.keys(), k_.stride(), list_.key_top, device.stream());
    coarsen(q_.data(), problem.queries(), q_.stride(), query_top, device.stream());
    if (of_16_bits(precision)) {
      k16_ = rounded(k_, 1, overflow);
      q16_ = rounded(q_, log2_scale_, overflow);
    }
  }
  if (precision == Precision::fp32_split) split_queries_and_keys(timeline);
  timeline.finish(run.profile);
  overflow.require_none(precision, "q, times its scale, or k");
}

void BoundList::split_queries_and_keys(Timeline& timeline) {
  std::optional<SplitMatrix> q = split(device_, q_, timeline), k = split(device_, k_, timeline);
  if (!q || !k) {
    precision_ = Precision::fp32;
    return;
  }
  logit_factor_ = static_cast<float>(
      std::ldexp(static_cast<double>(log2_scale_), -(q->exponent + k->exponent)));
  q16_ = std::move(q->parts);
  k16_ = std::move(k->parts);
}

QueryTiles BoundList::query_tiles(const QueryTile* tiles, Index count, const ColumnRun* runs,
                                  const std::int32_t* orders) const {
  QueryTiles out{tiles, static_cast<int>(count), lists(runs)};
  if (orders) out.lists.indices = orders;
  return out;
}

Fp32Operands BoundList::fp32_operands(Rows v) const {
  return {{q_.data(), q_.stride()}, {k_.data(), k_.stride()}, v, log2_scale_};
}

MmaOperands BoundList::mma_operands(Rows16 v, float value_factor) const {
  return {q16_.rows(), k16_.rows(), v, logit_factor_, value_factor, k_.rows()};
}

Lists BoundList::lists(const ColumnRun* runs) const {
  return {runs,
          indices_.data(),
          weights_.data(),
          chunks_.data(),
          static_cast<std::int32_t>(lengths().queries),
          conditions_.head()};
}

DeviceMatrix BoundList::upload_tokens(MatrixView rows, int top) const {
  DeviceMatrix out(device_, pyramid_rows(rows.rows, top + 1), rows.cols);
  out.upload(device_, rows);
  return out;
}

Matrix16 BoundList::rounded(const DeviceMatrix& from, float factor,
                            const Overflow& overflow) const {
  Matrix16 to(device_, from.rows(), from.cols());
  round_to_16({.from = from.data(),
               .rows = from.rows(),
               .from_stride = from.stride(),
               .factor = factor,
               .to = to.data(),
               .to_stride = to.stride(),
               .precision = precision_,
               .overflows = overflow.flag()},
              device_.stream());
  return to;
}

}  // namespace fovea::cuda
