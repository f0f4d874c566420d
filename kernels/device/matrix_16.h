// A Matrix16 is a row-major array of 16-bit floats on the device, rounded from fp32 there. Rows
// start 16 bytes apart or a multiple of that, as copies and tensor cores take them; what pads them
// is zero.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/buffer.h"
#include "device/precision.h"

namespace fovea::cuda {

/// A Matrix16 as the kernels read it: rows `stride` values apart, a multiple of 8.
struct Rows16 {
  const std::uint16_t* data = nullptr;
  int stride = 0;
};

struct RoundArgs {
  const float* from = nullptr;  // [rows, from_stride], a multiple of 4
  Index rows = 0;
  int from_stride = 0;
  float factor = 1;             // what every value is multiplied by first
  std::uint16_t* to = nullptr;  // [rows, to_stride], a multiple of 8, at least from_stride
  int to_stride = 0;
  Precision precision = Precision::bf16;
  int* overflows = nullptr;  // becomes 1 if a finite value has become infinite
};

void round_to_16(const RoundArgs& args, cudaStream_t stream);

// Whether rounding has made an infinity of a finite number.
class Overflow {
 public:
  explicit Overflow(const Device& device) : device_(device), flag_(device, 1) { flag_.clear(); }

  int* flag() const { return flag_.data(); }
  /// Waits for the device; throws UnavailableError if `what` was more than the precision holds.
  void require_none(Precision precision, const char* what) const;

 private:
  const Device& device_;
  Buffer<int> flag_;
};

class Matrix16 {
 public:
  Matrix16() = default;
  /// Uninitialised.
  Matrix16(const Device& device, Index rows, Index cols)
      : stride_((cols + 7) / 8 * 8), values_(device, static_cast<std::size_t>(rows * stride_)) {}

  int stride() const { return static_cast<int>(stride_); }
  std::uint16_t* data() const { return values_.data(); }
  Rows16 rows() const { return {data(), stride()}; }

 private:
  Index stride_ = 0;
  Buffer<std::uint16_t> values_;
};

}  // namespace fovea::cuda
