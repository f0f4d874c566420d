// A DeviceOperator is an Operator that can produce its entries on the device, so that two of them
// are compared there.
#pragma once

#include <memory>

#include "backend/operator.h"
#include "data/error.h"
#include "device/device.h"
#include "device/device_matrix.h"
#include "device/entry_rows.h"
#include "device/shared_tensors.h"

namespace fovea::cuda {

class DeviceOperator : public Operator {
 protected:
  DeviceOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
                 std::shared_ptr<SharedTensors> tensors)
      : Operator(std::move(plan), problem), tensors_(std::move(tensors)) {}

  const Device& device() const { return tensors_->device(); }
  SharedTensors& tensors() const { return *tensors_; }

  /// Columns of the values that the operator is applied to. They are shared if they are the head's.
  Tensor columns(MatrixView v, IndexRange cols) const;
  /// Keeps a form of the head's own values for all who share it, if these are all their columns.
  void keep(const Tensor& values, std::shared_ptr<const void> form) const {
    if (values.owner && values.rows.cols == problem().dv()) kept_ = std::move(form);
  }

  /// All entries, in several parts where the device has too little memory for them at once.
  Matrix entries(IndexRange rows, IndexRange cols, Run& run) const;

  /// A pooled tile, from all entries, in such parts.
  Matrix pooled(IndexRange rows, IndexRange cols, Pool pool, Run& run) const;

  /// P over rows x cols. Pairs to which the plan gives no weight hold `elsewhere`.
  virtual DeviceMatrix device_tile(const EntryRows& rows, IndexRange cols, float elsewhere,
                                   Run& run) const = 0;

 private:
  std::optional<Matrix> do_difference(const Operator& exact, IndexRange rows, IndexRange cols,
                                      Pool pool, Difference kind, Run& run) const final;
  std::optional<std::vector<RowDifference>> do_compare_rows(const Operator& exact, IndexRange rows,
                                                            Run& run) const final;

  // P~ - P pooled, or P~ alone where there is no `other`.
  Matrix pool_parts(const DeviceOperator* other, IndexRange rows, IndexRange cols, Pool pool,
                    Difference kind, Run& run) const;

  const std::shared_ptr<SharedTensors> tensors_;
  mutable std::shared_ptr<const void> kept_;
};

}  // namespace fovea::cuda
