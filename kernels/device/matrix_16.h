// A Matrix16 is a row-major array of 16-bit floats on the device, rounded there from fp32. Rows
// start a multiple of 16 bytes apart, as asynchronous copies and tensor cores need it; the padding
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
  std::int64_t low = 0;  // of a split matrix: how far behind the high part of a row its low part is
};

struct RoundArgs {
  const float* from = nullptr;  // [rows, from_stride], a multiple of 4
  Index rows = 0;
  int from_stride = 0;
  float factor = 1;             // what every value is multiplied by first
  std::uint16_t* to = nullptr;  // [rows, to_stride], a multiple of 8, at least from_stride
  int to_stride = 0;
  Precision precision = Precision::bf16;
  int* overflows = nullptr;  // set to 1 if a finite value became infinite
};

void round_to_16(const RoundArgs& args, cudaStream_t stream);

// Whether rounding made a finite number infinite.
class Overflow {
 public:
  explicit Overflow(const Device& device) : device_(device), flag_(device, 1) { flag_.clear(); }

  int* flag() const { return flag_.data(); }
  /// Waits for the device. Throws UnavailableError if `what` had values beyond the range of the
  /// precision.
  void require_none(Precision precision, const char* what) const;

 private:
  const Device& device_;
  Buffer<int> flag_;
};

class Matrix16 {
 public:
  Matrix16() = default;
  /// Uninitialised. `parts`: 2 for a split matrix, whose low parts follow all high parts.
  Matrix16(const Device& device, Index rows, Index cols, int parts = 1)
      : stride_((cols + 7) / 8 * 8),
        low_(parts > 1 ? rows * stride_ : 0),
        values_(device, static_cast<std::size_t>(parts * rows * stride_)) {}

  int stride() const { return static_cast<int>(stride_); }
  std::uint16_t* data() const { return values_.data(); }
  Rows16 rows() const { return {data(), stride(), low_}; }

 private:
  Index stride_ = 0, low_ = 0;
  Buffer<std::uint16_t> values_;
};

}  // namespace fovea::cuda
