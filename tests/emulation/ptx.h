// The instructions of kernels/device/ptx/ptx.h, for the host. With FOVEA_LIKE_HARDWARE they round
// as hardware may: exp2 is off by up to 2 ulps, log2 by 2^-22, and tensor cores cut bits off
// instead of rounding.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "../kernels/round_16.h"
#include "device/precision.h"
#include "products.h"

namespace fovea::cuda {

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(fovea::emulation::dynamic_shared_memory());
}

inline float exp2_fast(float x) {
  const float y = std::exp2(x);
#ifdef FOVEA_LIKE_HARDWARE
  if (!(y >= 0x1p-100f && y < 0x1p100f) || x == std::floor(x)) return y;
  const unsigned hash = __float_as_uint(x) * 2654435761u >> 16;
  return __uint_as_float(__float_as_uint(y) + hash % 5 - 2);
#else
  return y;
#endif
}

inline float log2_fast(float x) {
#ifdef FOVEA_LIKE_HARDWARE
  if (x < 0x1p-126f) x = 0;
  const float y = std::log2(x);
  if (!std::isfinite(y)) return y;
  const unsigned hash = __float_as_uint(x) * 2654435761u >> 16;
  const float unit = x > 0.5f && x < 2 ? 0x1p-23f : 0x1p-23f * std::abs(y);
  return y + static_cast<float>(static_cast<int>(hash % 5) - 2) * unit;
#else
  return std::log2(x);
#endif
}

inline std::uint64_t nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

inline bool aligned_to_16(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
}

// A copy is made when it is waited for, not before, and its destination is poisoned until then, so
// that code that does not wait, or that still reads what was there, reads NaN.
inline void copy_16_async(void* shared, const void* global, bool valid) {
  if (!aligned_to_16(shared) || (valid && !aligned_to_16(global)))
    fovea::emulation::fault("an asynchronous copy of 16 bytes that are not aligned");
  std::memset(shared, 0xFF, 16);
  fovea::emulation::self->copies.push_back({shared, valid ? global : nullptr});
}
inline void commit_copies() {
  auto& thread = *fovea::emulation::self;
  thread.group_ends.push_back(thread.copies.size());
}
template <int Pending>
void wait_copies() {
  auto& copies = fovea::emulation::self->copies;
  auto& ends = fovea::emulation::self->group_ends;
  if (ends.size() <= Pending) return;
  const auto last = ends.end() - Pending;  // of the groups that are made now
  const std::size_t made = *(last - 1);
  for (std::size_t i = 0; i < made; ++i)
    if (copies[i].from)
      std::memcpy(copies[i].to, copies[i].from, 16);
    else
      std::memset(copies[i].to, 0, 16);
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(made));
  ends.erase(ends.begin(), last);
  for (std::size_t& end : ends) end -= made;
}

template <Precision P>
std::uint32_t pack_16(float low, float high) {
  namespace e = fovea::emulation;
  const auto round = P == Precision::bf16 ? test::to_bf16 : test::to_fp16;
  return round(low) | static_cast<std::uint32_t>(round(high)) << 16;
}

inline float2 unpack_fp16(std::uint32_t pair) {
  return make_float2(test::from_fp16(static_cast<std::uint16_t>(pair)),
                     test::from_fp16(static_cast<std::uint16_t>(pair >> 16)));
}

namespace emulated {

inline std::uint16_t element(std::uint64_t row, int column) {
  std::uint16_t value;
  std::memcpy(&value, reinterpret_cast<const char*>(row) + 2 * column, 2);
  return value;
}

inline fovea::emulation::Lanes rows_of_matrices(const void* row) {
  if (!aligned_to_16(row))
    fovea::emulation::fault("a row of a matrix of 16 bytes that are not aligned");
  return fovea::emulation::gather(reinterpret_cast<std::uintptr_t>(row));
}

}  // namespace emulated

inline void load_matrices(std::uint32_t (&of)[4], const void* row) {
  namespace e = fovea::emulation;
  const e::Lanes rows = emulated::rows_of_matrices(row);
  for (int m = 0; m < 4; ++m)
    std::memcpy(
        &of[m],
        reinterpret_cast<const char*>(rows.value[8 * m + e::lane() / 4]) + 4 * (e::lane() % 4), 4);
}
inline void load_transposed(std::uint32_t (&of)[4], const void* row) {
  namespace e = fovea::emulation;
  const e::Lanes rows = emulated::rows_of_matrices(row);
  const int column = e::lane() / 4, first = 2 * (e::lane() % 4);
  for (int m = 0; m < 4; ++m)
    of[m] = emulated::element(rows.value[8 * m + first], column) |
            static_cast<std::uint32_t>(emulated::element(rows.value[8 * m + first + 1], column))
                << 16;
}

template <Precision P>
void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  const auto widen = P == Precision::bf16 ? test::from_bf16 : test::from_fp16;
  fovea::emulation::multiply_in_warp(c, a, {b0, b1}, widen);
}

}  // namespace fovea::cuda
