// Instructions that C++ cannot express. The emulated device has a header of the same name with the
// same functions in portable C++ (tests/emulation/ptx.h).
#pragma once

#include <cstdint>

#include "device/precision.h"

namespace fovea::cuda {

/// The block's dynamic shared memory.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ float4 fovea_dynamic_shared[];
  return reinterpret_cast<T*>(fovea_dynamic_shared);
}

/// 2^x within 2 ulps; 0 for -inf.
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// log2(x) with an error of at most 2^-22 where x is in (1/2, 2), elsewhere with a relative error
/// of at most 2^-22. -inf for 0, and on a device for x < 2^-126, too; NaN for NaN.
__device__ __forceinline__ float log2_fast(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// A clock of the device, in steps of at most some microseconds.
__device__ __forceinline__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Copies 16 bytes from global to shared memory, or writes zeros; both are 16-byte aligned. The
/// copy is complete after `wait_copies`, and visible to other threads after a barrier that follows
/// it.
__device__ __forceinline__ void copy_16_async(void* shared, const void* global, bool valid) {
#if __CUDA_ARCH__ >= 800
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes));
#else
  *static_cast<float4*>(shared) =
      valid ? *static_cast<const float4*>(global) : make_float4(0, 0, 0, 0);
#endif
}

/// Makes the copies since the last commit one group.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}

/// Waits until at most `Pending` groups are incomplete.
template <int Pending>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending));
#endif
}

// What follows needs compute capability 8.0. Below that it traps; the host does not launch it
// there.

/// Two floats rounded to 16 bits, to nearest, ties to even, `low` in the lower half; infinity
/// beyond the range of fp16.
template <Precision P>
__device__ __forceinline__ std::uint32_t pack_16(float low, float high) {
  static_assert(of_16_bits(P));
  std::uint32_t pair = 0;
#if __CUDA_ARCH__ >= 800
  if constexpr (P == Precision::bf16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
  asm volatile("trap;");
#endif
  return pair;
}

/// The two numbers of fp16 that pack_16 has packed.
__device__ __forceinline__ float2 unpack_fp16(std::uint32_t pair) {
  float2 of = make_float2(0, 0);
#if __CUDA_ARCH__ >= 800
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
      : "=f"(of.x), "=f"(of.y)
      : "r"(pair));
#else
  asm volatile("trap;");
#endif
  return of;
}

/// Four 8 x 8 matrices of 16-bit values from shared memory, by the whole warp: lane l names row
/// l % 8 of matrix l / 8, 16 bytes. of[m] becomes elements (l / 4, 2 (l % 4)) and the next in its
/// row of matrix m, or of its transpose.
__device__ __forceinline__ void load_matrices(std::uint32_t (&of)[4], const void* row) {
#if __CUDA_ARCH__ >= 800
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(of[0]), "=r"(of[1]), "=r"(of[2]), "=r"(of[3])
               : "r"(from)
               : "memory");
#else
  asm volatile("trap;");
#endif
}
__device__ __forceinline__ void load_transposed(std::uint32_t (&of)[4], const void* row) {
#if __CUDA_ARCH__ >= 800
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(of[0]), "=r"(of[1]), "=r"(of[2]), "=r"(of[3])
               : "r"(from)
               : "memory");
#else
  asm volatile("trap;");
#endif
}

/// c += a b by the whole warp, a 16 x 16, b 16 x 8, of 16-bit values. With g = lane / 4 and
/// t = 2 (lane % 4), adjacent pairs of elements: a[0] at (g, t), a[1] at (g + 8, t), a[2] at
/// (g, t + 8), a[3] at (g + 8, t + 8); b0 at rows t, t + 1 of column g, b1 eight rows below;
/// c[0], c[1] at (g, t), c[2], c[3] at (g + 8, t).
template <Precision P>
__device__ __forceinline__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
  static_assert(of_16_bits(P));
#if __CUDA_ARCH__ >= 800
  if constexpr (P == Precision::bf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile("trap;");
#endif
}

}  // namespace fovea::cuda
