// A BoundList is a TileList on the device, with Q and K in the precision of Z, and in fp32.
#pragma once

#include <cmath>

#include "data/problem.h"
#include "device/buffer.h"
#include "device/device_matrix.h"
#include "device/shared_tensors.h"
#include "device/split_matrix.h"
#include "device/timeline.h"
#include "tiles/attend_args.h"
#include "tiles/attend_mma.h"
#include "tiles/device_conditions.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

class BoundList {
 public:
  /// `plan` holds a TilePlan. All arguments but `run` outlive this.
  BoundList(const Plan& plan, const Problem& problem, Precision precision, SharedTensors& tensors,
            Run& run);

  const Device& device() const { return tensors_.device(); }
  const TileList& list() const { return list_; }
  /// fp32 instead of fp32_split where the rows of Q or K are too unlike to be split.
  Precision precision() const { return precision_; }
  Lengths lengths() const { return list_.lengths; }
  int d() const { return static_cast<int>(q_->cols()); }

  bool has_sink() const { return log2_sink_ != -INFINITY; }
  float log2_sink() const { return log2_sink_; }  // -inf: none

  /// Query tiles on the device, with their runs and orders there. orders: null for those of the
  /// list.
  QueryTiles query_tiles(const QueryTile* tiles, Index count, const ColumnRun* runs,
                         const std::int32_t* orders = nullptr) const;
  Lists lists(const ColumnRun* runs) const;

  Fp32Operands fp32_operands(Rows v = {}) const;
  MmaOperands mma_operands(Rows16 v, float value_factor) const;

  /// The tensor, and the means of its clusters up to level `top` (pyramid.h).
  std::shared_ptr<const DeviceMatrix> with_means(const Tensor& tensor, int top,
                                                 Timeline& timeline) const;
  /// The tensor with its means, times `factor`, in 16 bits, as parts of exponent 0.
  std::shared_ptr<const SplitMatrix> rounded(const Tensor& tensor, int top, Precision precision,
                                             float factor, const Overflow& overflow,
                                             Timeline& timeline) const;
  /// The tensor with its means, split; null if it cannot be split.
  std::shared_ptr<const SplitMatrix> split_up(const Tensor& tensor, int top,
                                              Timeline& timeline) const;

 private:
  SharedTensors& tensors_;
  Precision precision_;
  const float log2_scale_;
  TileList list_;
  std::shared_ptr<const DeviceMatrix> q_, k_;
  std::shared_ptr<const SplitMatrix> q16_, k16_;  // null in fp32
  float logit_factor_ = 1;
  Buffer<std::int32_t> indices_, chunks_;
  Buffer<float> weights_;
  float log2_sink_ = -INFINITY;
  DeviceConditions conditions_;
};

}  // namespace fovea::cuda
