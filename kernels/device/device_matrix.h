// A DeviceMatrix is a row-major array of float on the device. Rows start a multiple of 16 bytes
// apart, so that they can be read four columns at a time; the padding is zero.
#pragma once

#include "device/buffer.h"

namespace fovea::cuda {

class DeviceMatrix {
 public:
  DeviceMatrix() = default;
  /// Uninitialised.
  DeviceMatrix(const Device& device, Index rows, Index cols)
      : rows_(rows),
        cols_(cols),
        stride_((cols + 3) / 4 * 4),
        values_(device, static_cast<std::size_t>(rows * stride_)) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  int stride() const { return static_cast<int>(stride_); }
  float* data() const { return values_.data(); }
  float* row(Index i) const { return values_.data() + i * stride_; }

  void clear() { values_.clear(); }

  /// Copies `from`, which has as many columns, to rows [first, first + from.rows).
  void upload(const Device& device, MatrixView from, Index first = 0) {
    if (from.empty() || device.staging().upload(from, row(first), stride_, device.stream())) return;
    const auto pitch = static_cast<std::size_t>(stride_) * sizeof(float);
    if (stride_ != cols_)
      check(cudaMemsetAsync(row(first), 0, pitch * static_cast<std::size_t>(from.rows),
                            device.stream()),
            "clearing memory");
    check(cudaMemcpy2DAsync(
              row(first), pitch, from.data, static_cast<std::size_t>(from.stride) * sizeof(float),
              static_cast<std::size_t>(cols_) * sizeof(float), static_cast<std::size_t>(from.rows),
              cudaMemcpyHostToDevice, device.stream()),
          "uploading");
  }

  /// Copies the rows of `from`, which has as many columns, to the first rows.
  void copy(const Device& device, const DeviceMatrix& from) {
    check(cudaMemcpyAsync(data(), from.data(),
                          static_cast<std::size_t>(from.rows_ * stride_) * sizeof(float),
                          cudaMemcpyDeviceToDevice, device.stream()),
          "copying");
  }

  /// The first `rows` rows, in the order of the stream: `to` is valid after Device::wait.
  void download(const Device& device, float* to, Index to_stride, Index rows) const {
    if (rows == 0 || cols_ == 0 ||
        device.staging().download(data(), stride_, to, to_stride, rows, cols_, device.stream()))
      return;
    check(
        cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_stride) * sizeof(float), data(),
                          static_cast<std::size_t>(stride_) * sizeof(float),
                          static_cast<std::size_t>(cols_) * sizeof(float),
                          static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost, device.stream()),
        "downloading");
  }

 private:
  Index rows_ = 0, cols_ = 0, stride_ = 0;
  Buffer<float> values_;
};

}  // namespace fovea::cuda
