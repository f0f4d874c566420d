// Every function of kernels/device/ptx/ptx_hopper.h on random data, against what its comment says,
// worked out on the host, as ptx_conformance.cpp does it for ptx.h.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "kernels/conformance/hopper_kernels.h"
#include "kernels/round_16.h"
#include "larger_error.h"

using namespace fovea::test;
using fovea::cuda::Precision;

namespace {

void skip() {
  MESSAGE("skipped: needs compute capability 9.0");
}

template <Precision P, int value_groups>
void check_products(int depth) {
  std::mt19937_64 bits(depth);
  std::normal_distribution<float> normal;
  const auto round = P == Precision::bf16 ? to_bf16 : to_fp16;
  const auto widen = P == Precision::bf16 ? from_bf16 : from_fp16;
  const auto random = [&](int count) {
    std::vector<std::uint16_t> out;
    for (int i = 0; i < count; ++i) out.push_back(round(normal(bits)));
    return out;
  };
  const Warpgroup in{random(64 * 64), random(128 * 64), random(128 * 128), depth};
  const Products found = run_products<P, value_groups>(in);
  const auto at = [&](const std::vector<std::uint16_t>& m, int columns, int r, int c) {
    return double{widen(m[static_cast<std::size_t>(r * columns + c)])};
  };
  double worst_s = 0, worst_z = 0;
  for (int r = 0; r < 64; ++r)
    for (int n = 0; n < 128; ++n) {
      const auto place = static_cast<std::size_t>(128 * r + n);
      double sum = 0, size = 0;
      for (int k = 0; k < depth; ++k) {
        const double term = at(in.a, 64, r, k) * at(in.b, 64, n, k);
        sum += term;
        size += std::abs(term);
      }
      worst_s = larger_error(worst_s, std::abs(found.s[place] - sum) / size);
      if (n >= 8 * value_groups) continue;
      sum = size = 1;
      for (int k = 0; k < 128; ++k) {  // s is what the device has found
        const double term = double{widen(round(found.s[static_cast<std::size_t>(128 * r + k)]))} *
                            at(in.v, 128, k, n);
        sum += term;
        size += std::abs(term);
      }
      worst_z = larger_error(worst_z, std::abs(found.z[place] - sum) / size);
    }
  // Tensor cores may cut off the bits of each of 17 terms in every step of 16.
  CHECK(worst_s <= 17 * 0x1p-23 * depth / 16);
  CHECK(worst_z <= 17 * 0x1p-23 * 8);
}

}  // namespace

TEST_CASE("ptx, 9.0: boxes arrive in their phases, permuted, with zeros outside the matrix") {
  if (!has_hopper()) return skip();
  Boxes boxes{.rows = 150, .stride = 72, .row = {40, -3}, .column = {64, 0}};
  for (int i = 0; i < boxes.rows * boxes.stride; ++i)
    boxes.matrix.push_back(static_cast<std::uint16_t>(i + 1));
  const std::vector<std::uint16_t> found = run_boxes(boxes);
  REQUIRE(found.size() == 2 * 128 * 64);
  int wrong = 0;
  for (int b = 0; b < 2; ++b)
    for (int r = 0; r < 128; ++r)
      for (int c = 0; c < 64; ++c) {
        const int row = boxes.row[b] + r, column = boxes.column[b] + c,
                  at = (128 * b + r) * 64 + (c / 8 ^ r % 8) * 8 + c % 8;
        const bool inside = row >= 0 && row < boxes.rows && column < boxes.stride;
        wrong += found[static_cast<std::size_t>(at)] !=
                 (inside ? boxes.matrix[static_cast<std::size_t>(row * boxes.stride + column)] : 0);
      }
  CHECK(wrong == 0);
}

TEST_CASE("ptx, 9.0: products of warpgroups of columns, and of rows with factors in registers") {
  if (!has_hopper()) return skip();
  for (const int depth : {16, 64}) {
    check_products<Precision::bf16, 8>(depth);
    check_products<Precision::bf16, 16>(depth);
    check_products<Precision::fp16, 8>(depth);
    check_products<Precision::fp16, 16>(depth);
  }
}
