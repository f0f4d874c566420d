// A SplitMatrix has the numbers of an fp32 matrix in two of fp16: 2^exponent x = high + 2^-11 low.
// Products of high parts, and of a high and a low part, are exact in fp32; what the third kind,
// of two low parts, would add is left out: 2^-22 of a product at most. The exponent is that of the
// matrix, so that nothing overflows, and so that only numbers 2^27 times smaller than the largest
// lose bits.
#pragma once

#include <optional>

#include "device/device_matrix.h"
#include "device/matrix_16.h"
#include "device/timeline.h"

namespace fovea::cuda {

/// Low parts are kept times 2^low_shift.
inline constexpr int low_shift = 11;

struct SplitMatrix {
  Matrix16 parts;
  int exponent = 0;
};

/// Nothing if there is a row, other than of zeros, whose largest number is 2^26 times smaller than
/// that of the matrix: it would lose bits. Products with infinite numbers become NaN. Waits for the
/// device, between stages of the timeline.
std::optional<SplitMatrix> split(const Device& device, const DeviceMatrix& from,
                                 Timeline& timeline);

struct RowSizesArgs {
  const float* rows = nullptr;
  Index count = 0;
  int stride = 0;  // a multiple of 4
  /// The bits of the largest finite magnitude, 0 at first, and of the smallest that is the largest
  /// of its row and not 0, 0xffffffff at first.
  unsigned* sizes = nullptr;
};
void find_row_sizes(const RowSizesArgs& args, cudaStream_t stream);

struct SplitArgs {
  const float* from = nullptr;  // [rows, from_stride], a multiple of 4
  Index rows = 0;
  int from_stride = 0;
  float factor = 1;             // 2^exponent
  std::uint16_t* to = nullptr;  // [rows, to_stride], a multiple of 8, at least from_stride
  int to_stride = 0;
  std::int64_t low = 0;  // where the low parts begin, from `to` on
};
void split_rows(const SplitArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
