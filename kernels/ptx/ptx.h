// The instructions that C++ has no words for. The emulated device has a header of the same name,
// with the same functions in portable C++ (tests/emulation/ptx.h).
#pragma once

#include <cstdint>

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

/// Copies 16 bytes from global to shared memory, or writes zeros; both 16-byte aligned. It has
/// happened after `wait_copies`, for other threads after a barrier behind that.
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

/// Copies since the last commit are one group.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}

/// Waits until at most `Pending` groups are under way.
template <int Pending>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending));
#endif
}

}  // namespace fovea::cuda
