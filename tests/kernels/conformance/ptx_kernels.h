// Launchers, from host memory to host memory, of kernels that do nothing but call the functions of
// kernels/device/ptx/ptx.h. All fail the test with a message if the device does.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/precision.h"

namespace fovea::test {

/// exp2_fast of each.
std::vector<float> run_exp2(const std::vector<float>& x);
/// log2_fast of each.
std::vector<float> run_log2(const std::vector<float>& x);

/// How many nanoseconds a thread finds that it has waited, at least `least`.
std::uint64_t run_wait(std::uint64_t least);

/// pack_16 of each pair: low, high, low, high, ...
template <cuda::Precision P>
std::vector<std::uint32_t> run_pack(const std::vector<float>& pairs);

/// unpack_fp16 of each: low, high, low, high, ...
std::vector<float> run_unpack(const std::vector<std::uint32_t>& pairs);

/// Three groups of asynchronous copies, 16 bytes for each of 128 threads: word w of thread t in
/// group g becomes from[4 from_slot(g, t) + w], or 0 where valid[128 g + t] is 0. The first group
/// is read while two are pending, the second while one is.
struct Copies {
  std::vector<std::uint32_t> from;  // 3 x 128 x 4
  std::vector<int> valid;           // 3 x 128
};
inline constexpr int copy_threads = 128, copy_groups = 3;
constexpr int from_slot(int group, int thread) {
  return group * copy_threads + (37 * thread + 11 * group) % copy_threads;
}
std::vector<std::uint32_t> run_copies(const Copies& copies);

/// load_matrices, or load_transposed, by one warp: lane l names the 16 bytes 8 place[l] of shared
/// memory, which holds `values`. [lane][matrix]
struct Rows16Bits {
  std::vector<std::uint16_t> values;  // at most 2048
  std::array<int, 32> place{};
};
std::vector<std::uint32_t> run_load(const Rows16Bits& rows, bool transposed);

/// multiply_add by each of several warps: per lane a[4], b0, b1 and c[4]; the new c.
struct Fragments {
  std::vector<std::uint32_t> a, b;  // [warp][lane][4], [warp][lane][2]
  std::vector<float> c;             // [warp][lane][4]
};
template <cuda::Precision P>
std::vector<float> run_multiply_add(const Fragments& fragments);

}  // namespace fovea::test
