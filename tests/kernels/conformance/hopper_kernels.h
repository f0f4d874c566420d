// Launchers, from host memory to host memory, of kernels that do nothing but call the functions of
// kernels/device/ptx/ptx_hopper.h. All fail the test with a message if the device does.
#pragma once

#include <cstdint>
#include <vector>

#include "device/precision.h"

namespace fovea::test {

/// Whether the device has compute capability 9.0, and its driver makes tensor maps.
bool has_hopper();

/// Two boxes of 64 columns and 128 rows, one after the other through one barrier, of a matrix
/// [rows, stride]: shared memory as they leave it, [2][128][64] values.
struct Boxes {
  std::vector<std::uint16_t> matrix;
  int rows = 0, stride = 0;  // a multiple of 8
  int row[2] = {}, column[2] = {};
};
std::vector<std::uint16_t> run_boxes(const Boxes& boxes);

/// By a warpgroup that has taken registers from another one: s = a b^T of the first `depth`
/// columns, a multiple of 16 up to 64, while z is found: 1 added to s rounded to 16 bits times the
/// first 8 value_groups columns of v.
struct Warpgroup {
  std::vector<std::uint16_t> a, b, v;  // [64][64], [128][64], [128][128]
  int depth = 64;
};
struct Products {
  std::vector<float> s, z;  // [64][128] each
};
template <cuda::Precision P, int value_groups>
Products run_products(const Warpgroup& in);

}  // namespace fovea::test
