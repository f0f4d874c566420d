// Every function of kernels/device/ptx/ptx.h on random data, against what its comment says, worked
// out on the host. The emulated device passes the same cases, so it and a real one do the same.
#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/conformance/ptx_kernels.h"
#include "kernels/round_16.h"
#include "larger_error.h"

using namespace fovea::test;
using fovea::cuda::Precision;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

struct RandomNumbers {
  std::mt19937_64 bits{20240607};
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(bits);
  }
  float normal() { return std::normal_distribution<float>()(bits); }
  int below(int count) { return static_cast<int>(bits() % static_cast<unsigned>(count)); }
};

std::uint16_t round_to(Precision p, float x) {
  return p == Precision::bf16 ? to_bf16(x) : to_fp16(x);
}
float widen(Precision p, std::uint16_t x) {
  return p == Precision::bf16 ? from_bf16(x) : from_fp16(x);
}

// Numbers of all sizes, halves between two neighbours, and the ends of the range.
std::vector<float> numbers_to_round(Precision p, RandomNumbers& random) {
  std::vector<float> out{0.0f,     -0.0f,    infinity,  -infinity, not_a_number, 65504.0f,
                         65519.9f, 65520.0f, -65520.0f, 1e30f,     0x1p-24f,     0x1p-25f};
  while (out.size() < 4096) {
    const float x = std::ldexp(random.normal(), random.below(60) - 30);
    out.push_back(x);
    // Half-way to the next number of 16 bits, away from zero.
    const std::uint16_t below = round_to(p, x);
    const float low = widen(p, below), high = widen(p, static_cast<std::uint16_t>(below + 1));
    if (std::isfinite(high)) out.push_back(low / 2 + high / 2);
  }
  out.resize(4096);
  return out;
}

template <Precision P>
void check_packing() {
  RandomNumbers random;
  const std::vector<float> pairs = numbers_to_round(P, random);
  const std::vector<std::uint32_t> packed = run_pack<P>(pairs);
  int wrong = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto half = static_cast<std::uint16_t>(packed[i / 2] >> (i % 2 == 0 ? 0 : 16));
    if (std::isnan(pairs[i]))
      wrong += !std::isnan(widen(P, half));
    else
      wrong += half != round_to(P, pairs[i]);
  }
  CHECK(wrong == 0);
}

// Element (row, column) of the 16 x 16 matrix whose fragments the lanes of a warp hold in a[4], and
// of the 16 x 8 one in b[2], as the header says.
float element_of_a(Precision p, const std::uint32_t* a, int row, int column) {
  const int lane = 4 * (row % 8) + column % 8 / 2, part = row / 8 + 2 * (column / 8);
  return widen(p, static_cast<std::uint16_t>(a[4 * lane + part] >> (16 * (column % 2))));
}
float element_of_b(Precision p, const std::uint32_t* b, int row, int column) {
  const int lane = 4 * column + row % 8 / 2;
  return widen(p, static_cast<std::uint16_t>(b[2 * lane + row / 8] >> (16 * (row % 2))));
}

template <Precision P>
void check_products() {
  constexpr int warps = 32;
  RandomNumbers random;
  const auto pair = [&] {
    return round_to(P, random.normal()) | static_cast<std::uint32_t>(round_to(P, random.normal()))
                                              << 16;
  };
  Fragments fragments;
  for (int i = 0; i < warps * 128; ++i) {
    fragments.a.push_back(pair());
    if (i % 2 == 0) fragments.b.push_back(pair());
    fragments.c.push_back(random.normal());
  }
  const std::vector<float> found = run_multiply_add<P>(fragments);
  double worst = 0;
  for (int warp = 0; warp < warps; ++warp) {
    const std::uint32_t *a = fragments.a.data() + 128 * warp, *b = fragments.b.data() + 64 * warp;
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        const int lane = 4 * (row % 8) + column / 2, part = column % 2 + 2 * (row / 8);
        const auto at = static_cast<std::size_t>(128 * warp + 4 * lane + part);
        double sum = fragments.c[at], size = std::abs(sum);
        for (int k = 0; k < 16; ++k) {
          const double term = double{element_of_a(P, a, row, k)} * element_of_b(P, b, k, column);
          sum += term;
          size += std::abs(term);
        }
        const double off = std::abs(found[at] - sum) / size;
        worst = larger_error(worst, off);
      }
  }
  CHECK(worst <= 17 * 0x1p-23);  // tensor cores may cut off the bits of each of 17 terms
}

}  // namespace

TEST_CASE("ptx: exp2_fast is within 2 ulps, and 0 for -inf") {
  RandomNumbers random;
  std::vector<float> x{-infinity, infinity, not_a_number, 0.0f,  -0.0f,
                       1.0f,      -1.0f,    -126.0f,      127.0f};
  while (x.size() < 20000) x.push_back(static_cast<float>(random.uniform(-130, 128)));
  const std::vector<float> y = run_exp2(x);
  CHECK(y[0] == 0);
  CHECK(y[1] == infinity);
  CHECK(std::isnan(y[2]));
  double worst = 0;
  for (std::size_t i = 3; i < x.size(); ++i) {
    const double truth = std::exp2(static_cast<double>(x[i]));
    const double ulp = std::ldexp(0x1p-23, std::ilogb(truth));
    // Numbers below 2^-126 may become 0.
    const double off = truth < 0x1p-126 ? (y[i] <= 0x1p-126f ? 0 : INFINITY)
                                        : std::abs(static_cast<double>(y[i]) - truth) / ulp;
    worst = larger_error(worst, off);
  }
  CHECK(worst <= 2);
}

TEST_CASE(
    "ptx: log2_fast is within 2^-22 around 1, has that relative error elsewhere, -inf for 0") {
  RandomNumbers random;
  std::vector<float> x{0.0f, infinity, not_a_number, 1.0f, 0.5f, 2.0f, 0x1p-126f, 0x1.fffffep127f};
  while (x.size() < 20000)
    x.push_back(static_cast<float>(
        std::exp2(x.size() % 2 ? random.uniform(-1, 1) : random.uniform(-126, 128))));
  const std::vector<float> y = run_log2(x);
  CHECK(y[0] == -infinity);
  CHECK(y[1] == infinity);
  CHECK(std::isnan(y[2]));
  double worst = 0;
  for (std::size_t i = 3; i < x.size(); ++i) {
    const double truth = std::log2(static_cast<double>(x[i]));
    const double allowed = x[i] > 0.5f && x[i] < 2 ? 1 : std::abs(truth);
    worst = larger_error(worst, std::abs(static_cast<double>(y[i]) - truth) / allowed);
  }
  CHECK(worst <= 0x1p-22 + 0x1p-24);  // and the rounding of the result
}

TEST_CASE("ptx: pack_16 rounds to nearest, ties to even, the first number in the lower half") {
  check_packing<Precision::bf16>();
  check_packing<Precision::fp16>();
}

TEST_CASE("ptx: unpack_fp16 gives back every number of fp16") {
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    pairs.push_back(bits | (bits ^ 0x55aa) << 16);
  const std::vector<float> found = run_unpack(pairs);
  int wrong = 0;
  const auto check = [&](float its, std::uint32_t bits) {
    const float right = from_fp16(static_cast<std::uint16_t>(bits));
    wrong += std::isnan(right)
                 ? !std::isnan(its)
                 : std::bit_cast<std::uint32_t>(its) != std::bit_cast<std::uint32_t>(right);
  };
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    check(found[2 * bits], bits);
    check(found[2 * bits + 1], bits ^ 0x55aa);
  }
  CHECK(wrong == 0);
}

TEST_CASE("ptx: asynchronous copies arrive in their groups, or are zeros") {
  RandomNumbers random;
  Copies copies;
  for (int i = 0; i < copy_groups * copy_threads; ++i) {
    copies.valid.push_back(random.below(4) > 0);
    for (int w = 0; w < 4; ++w) copies.from.push_back(static_cast<std::uint32_t>(random.bits()));
  }
  const std::vector<std::uint32_t> found = run_copies(copies);
  int wrong = 0;
  for (int g = 0; g < copy_groups; ++g)
    for (int t = 0; t < copy_threads; ++t)
      for (int w = 0; w < 4; ++w) {
        const auto at = static_cast<std::size_t>(g * copy_threads + t),
                   from = static_cast<std::size_t>(4 * from_slot(g, t) + w);
        wrong += found[4 * at + static_cast<std::size_t>(w)] !=
                 (copies.valid[at] != 0 ? copies.from[from] : 0);
      }
  CHECK(wrong == 0);
}

TEST_CASE("ptx: the clock passes as that of the host does") {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t waited = run_wait(3'000'000);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(waited >= 3'000'000);
  CHECK(took >= std::chrono::nanoseconds(waited) - std::chrono::microseconds(50));
}

TEST_CASE("ptx: load_matrices and load_transposed give each lane its elements") {
  RandomNumbers random;
  Rows16Bits rows;
  while (rows.values.size() < 2048)
    rows.values.push_back(static_cast<std::uint16_t>(random.bits()));
  for (int round = 0; round < 8; ++round) {
    for (int& place : rows.place) place = random.below(256);
    const std::vector<std::uint32_t> straight = run_load(rows, false),
                                     turned = run_load(rows, true);
    const auto element = [&](int matrix, int row, int column) {
      return rows.values[static_cast<std::size_t>(8 * rows.place[8 * matrix + row] + column)];
    };
    int wrong = 0;
    for (int lane = 0; lane < 32; ++lane)
      for (int m = 0; m < 4; ++m) {
        const int row = lane / 4, column = 2 * (lane % 4);
        const auto at = static_cast<std::size_t>(4 * lane + m);
        wrong += straight[at] != (element(m, row, column) |
                                  static_cast<std::uint32_t>(element(m, row, column + 1)) << 16);
        wrong += turned[at] != (element(m, column, row) |
                                static_cast<std::uint32_t>(element(m, column + 1, row)) << 16);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("ptx: multiply_add is the product of the fragments") {
  check_products<Precision::bf16>();
  check_products<Precision::fp16>();
}
