#include "tiles/bound_list.h"

#include <cmath>
#include <numbers>

#include "tiles/pyramid.h"

namespace fovea::cuda {

BoundList::BoundList(const Plan& plan, const Problem& problem, Precision precision,
                     SharedTensors& tensors, Run& run)
    : tensors_(tensors),
      precision_(precision),
      log2_scale_(static_cast<float>(problem.scale * std::numbers::log2e)) {
  {
    const auto stage = run.profile.stage("flatten");
    list_ = tile_list(plan);
  }
  const Tensor q{problem.q, problem.owner}, k{problem.k, problem.owner};
  const int query_top = list_.mean_queries ? list_.query_top : 0;
  Timeline timeline(device());
  const Overflow overflow(device());
  {
    const auto stage = timeline.stage("upload");
    indices_ = {device(), std::span<const std::int32_t>(list_.indices)};
    weights_ = {device(), std::span<const float>(list_.weights)};
    chunks_ = {device(), std::span<const std::int32_t>(list_.chunks)};
    conditions_ = DeviceConditions(problem, device());
    if (problem.rule && problem.rule->sink)
      log2_sink_ = static_cast<float>(*problem.rule->sink * std::numbers::log2e);
  }
  k_ = with_means(k, list_.key_top, timeline);
  q_ = with_means(q, query_top, timeline);
  if (of_16_bits(precision)) {
    k16_ = rounded(k, list_.key_top, precision, 1, overflow, timeline);
    q16_ = rounded(q, query_top, precision, log2_scale_, overflow, timeline);
  } else if (precision == Precision::fp32_split) {
    k16_ = split_up(k, list_.key_top, timeline);
    q16_ = split_up(q, query_top, timeline);
    if (q16_ && k16_)
      logit_factor_ = static_cast<float>(
          std::ldexp(static_cast<double>(log2_scale_), -(q16_->exponent + k16_->exponent)));
    else
      precision_ = Precision::fp32;
  }
  timeline.finish(run.profile);
  if (of_16_bits(precision)) overflow.require_none(precision, "q, times its scale, or k");
}

QueryTiles BoundList::query_tiles(const QueryTile* tiles, Index count, const ColumnRun* runs,
                                  const std::int32_t* orders) const {
  QueryTiles out{tiles, static_cast<int>(count), lists(runs)};
  if (orders) out.lists.indices = orders;
  return out;
}

Fp32Operands BoundList::fp32_operands(Rows v) const {
  return {{q_->data(), q_->stride()}, {k_->data(), k_->stride()}, v, log2_scale_};
}

MmaOperands BoundList::mma_operands(Rows16 v, float value_factor) const {
  return {q16_->parts.rows(), k16_->parts.rows(), v, logit_factor_, value_factor, k_->rows()};
}

Lists BoundList::lists(const ColumnRun* runs) const {
  return {runs,
          indices_.data(),
          weights_.data(),
          chunks_.data(),
          static_cast<std::int32_t>(lengths().queries),
          conditions_.head()};
}

std::shared_ptr<const DeviceMatrix> BoundList::with_means(const Tensor& tensor, int top,
                                                          Timeline& timeline) const {
  const auto upload = [&] {
    const auto stage = timeline.stage("upload");
    return tensors_.uploaded(tensor);
  };
  if (top == 0) return upload();
  return tensors_.form<DeviceMatrix>(tensor, {.top = top}, [&] {
    const auto tokens = upload();
    const auto stage = timeline.stage("coarsen and round");
    DeviceMatrix out(device(), pyramid_rows(tokens->rows(), top + 1), tokens->cols());
    out.copy(device(), *tokens);
    coarsen(out.data(), tokens->rows(), out.stride(), top, device().stream());
    return out;
  });
}

std::shared_ptr<const SplitMatrix> BoundList::rounded(const Tensor& tensor, int top,
                                                      Precision precision, float factor,
                                                      const Overflow& overflow,
                                                      Timeline& timeline) const {
  return tensors_.form<SplitMatrix>(tensor, {precision, top, factor}, [&] {
    const auto from = with_means(tensor, top, timeline);
    const auto stage = timeline.stage("coarsen and round");
    SplitMatrix out{Matrix16(device(), from->rows(), from->cols())};
    round_to_16({.from = from->data(),
                 .rows = from->rows(),
                 .from_stride = from->stride(),
                 .factor = factor,
                 .to = out.parts.data(),
                 .to_stride = out.parts.stride(),
                 .precision = precision,
                 .overflows = overflow.flag()},
                device().stream());
    return out;
  });
}

std::shared_ptr<const SplitMatrix> BoundList::split_up(const Tensor& tensor, int top,
                                                       Timeline& timeline) const {
  const auto found = tensors_.form<std::optional<SplitMatrix>>(
      tensor, {Precision::fp32_split, top},
      [&] { return split(device(), *with_means(tensor, top, timeline), timeline); });
  return *found ? std::shared_ptr<const SplitMatrix>(found, &**found) : nullptr;
}

}  // namespace fovea::cuda
