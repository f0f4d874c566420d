// Instructions of compute capability 9.0 alone (target sm_90a), beside those of ptx.h: barriers in
// shared memory, copies of boxes by the tensor memory accelerator, products of warpgroups. The
// emulated device has a header of the same name (tests/emulation/ptx_hopper.h).
#pragma once

#include <cuda.h>

#include <cstdint>

#include "device/matrix_descriptor.h"
#include "ptx.h"

namespace fovea::cuda {

/// The address that descriptors and instructions use for shared memory.
__device__ __forceinline__ std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

// ---- Barriers: phases that end with the last arrival and the last byte ------------------------

using PhaseBarrier = std::uint64_t;  // in shared memory

/// By one thread. Others use the barrier after publish_barriers by the same thread and a
/// __syncthreads. Each phase ends after `arrivals`, and after the bytes that are expected in it.
__device__ __forceinline__ void init_barrier(PhaseBarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void publish_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Arrives `arrivals` times. What this thread did before is seen by those that wait for the phase.
__device__ __forceinline__ void arrive(PhaseBarrier* barrier, int arrivals = 1) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
#endif
}

/// An arrival, after which the phase also waits for so many bytes of copy_box_async.
__device__ __forceinline__ void arrive_expecting(PhaseBarrier* barrier, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#endif
}

/// An arrival that happens when all copy_16_async of this thread so far are complete; the thread
/// does not wait. Says nothing of what else the thread has written.
__device__ __forceinline__ void arrive_after_copies(PhaseBarrier* barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
#endif
}

/// Whether the phase of this parity has ended, as wait_for_phase numbers them; waits for some
/// microseconds at most.
__device__ __forceinline__ bool phase_has_ended(PhaseBarrier* barrier, unsigned parity) {
  std::uint32_t yes = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n}"
      : "=r"(yes)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
#endif
  return yes != 0;
}

/// Waits until the phase of this parity has ended: 0 for the first one, 1 for the second and, at
/// once, for the one before the first. False: it has not ended in two seconds.
__device__ __forceinline__ bool wait_for_phase(PhaseBarrier* barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
  if (phase_has_ended(barrier, parity)) return true;
  constexpr std::uint64_t limit = 2'000'000'000;
  for (const std::uint64_t start = nanoseconds(); !phase_has_ended(barrier, parity);)
    if (nanoseconds() - start > limit) return false;
#endif
  return true;
}

// ---- Copies -----------------------------------------------------------------------------------

/// By one thread: copies the box of a tensor map from (row, column) on to shared memory, in rows of
/// 128 bytes whose eight pieces of 16 bytes are permuted by their address (piece p of row r lies at
/// p ^ r % 8), with zeros for what lies outside the matrix. `shared` is aligned to 1024 bytes. The
/// bytes count in the current phase of the barrier.
__device__ __forceinline__ void copy_box_async(void* shared, const CUtensorMap* map, int column,
                                               int row, PhaseBarrier* barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
#endif
}

/// What this thread has written to shared memory or seen written there, other than by
/// copy_box_async, is seen by the products that it starts and the boxes that it copies from now on.
__device__ __forceinline__ void fence_async_proxy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// ---- Registers --------------------------------------------------------------------------------

/// By a whole warpgroup of a kernel that has `Launched` registers a thread: from now on it has
/// `Kept` of them, fewer or more; more are waited for until others have given them back. Multiples
/// of 8, from 24 to 240.
template <int Launched, int Kept>
__device__ __forceinline__ void set_registers() {
  static_assert(Kept % 8 == 0 && Kept >= 24 && Kept <= 240);
#if __CUDA_ARCH__ >= 900
  if constexpr (Kept < Launched)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Kept));
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Kept));
#endif
}

// ---- Products of a warpgroup: 128 threads, four warps in sequence -------------------------------

/// Before the first product after this thread has touched the registers of sums or factors.
__device__ __forceinline__ void fence_products() {
#if __CUDA_ARCH__ >= 900
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// Makes the products since the last call one group.
__device__ __forceinline__ void commit_products() {
#if __CUDA_ARCH__ >= 900
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until at most `Pending` groups are incomplete; `sums` are those of complete ones.
template <int Pending, int Count>
__device__ __forceinline__ void wait_products(float (&sums)[Count][4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#pragma unroll
  for (int j = 0; j < Count; ++j)  // no use of a sum is moved before the wait
#pragma unroll
    for (int c = 0; c < 4; ++c) asm volatile("" : "+f"(sums[j][c])::"memory");
#endif
}

// The products are c = a b or c += a b with a 64 x 16 and b 16 x 8 Count, added in fp32. Warp w of
// the warpgroup has rows 16 w to 16 w + 15: c[j] of a thread are, in the layout of multiply_add in
// ptx.h, its sums in columns 8 j to 8 j + 7.
#define FOVEA_SUMS_4(j) "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
#define FOVEA_SUMS_16(j) \
  FOVEA_SUMS_4(j), FOVEA_SUMS_4(j + 1), FOVEA_SUMS_4(j + 2), FOVEA_SUMS_4(j + 3)
#define FOVEA_SUMS_32 FOVEA_SUMS_16(0), FOVEA_SUMS_16(4)
#define FOVEA_SUMS_64 FOVEA_SUMS_32, FOVEA_SUMS_16(8), FOVEA_SUMS_16(12)
#define FOVEA_NAMES_32                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define FOVEA_NAMES_64                                                            \
  FOVEA_NAMES_32                                                                  \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, " \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/// a and b are columns_of: of 64 rows, and of 8 Count rows, which are b's columns. `add` false:
/// c = a b.
template <Precision P, int Count>
__device__ __forceinline__ void multiply_columns(float (&c)[Count][4], std::uint64_t a,
                                                 std::uint64_t b, bool add) {
  static_assert(P != Precision::fp32 && Count == 16);
#if __CUDA_ARCH__ >= 900
  const int adds = add;
#define FOVEA_COLUMNS(type)                                                            \
  asm volatile(                                                                        \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                     \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" FOVEA_NAMES_64 \
      "}, %64, %65, p, 1, 1, 0, 0;\n}"                                                 \
      : FOVEA_SUMS_64                                                                  \
      : "l"(a), "l"(b), "r"(adds))
  if constexpr (P == Precision::bf16)
    FOVEA_COLUMNS("bf16");
  else
    FOVEA_COLUMNS("f16");
#undef FOVEA_COLUMNS
#endif
}

/// c += a b. a: registers of each warp as in multiply_add of ptx.h; b: rows_of, 8 Count columns.
template <Precision P, int Count>
__device__ __forceinline__ void multiply_rows(float (&c)[Count][4], const std::uint32_t (&a)[4],
                                              std::uint64_t b) {
  static_assert(P != Precision::fp32 && (Count == 8 || Count == 16));
#if __CUDA_ARCH__ >= 900
#define FOVEA_ROWS(n, type, names, sums, first, second, third, fourth, fifth)                \
  asm volatile(                                                                              \
      "{\n.reg .pred p;\nsetp.eq.u32 p, 1, 1;\n"                                             \
      "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" names "}, {" first \
      ", " second ", " third ", " fourth "}, " fifth ", p, 1, 1, 1;\n}"                      \
      : sums                                                                                 \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
  if constexpr (Count == 8 && P == Precision::bf16)
    FOVEA_ROWS("64", "bf16", FOVEA_NAMES_32, FOVEA_SUMS_32, "%32", "%33", "%34", "%35", "%36");
  else if constexpr (Count == 8)
    FOVEA_ROWS("64", "f16", FOVEA_NAMES_32, FOVEA_SUMS_32, "%32", "%33", "%34", "%35", "%36");
  else if constexpr (P == Precision::bf16)
    FOVEA_ROWS("128", "bf16", FOVEA_NAMES_64, FOVEA_SUMS_64, "%64", "%65", "%66", "%67", "%68");
  else
    FOVEA_ROWS("128", "f16", FOVEA_NAMES_64, FOVEA_SUMS_64, "%64", "%65", "%66", "%67", "%68");
#undef FOVEA_ROWS
#endif
}

#undef FOVEA_SUMS_4
#undef FOVEA_SUMS_16
#undef FOVEA_SUMS_32
#undef FOVEA_SUMS_64
#undef FOVEA_NAMES_32
#undef FOVEA_NAMES_64

}  // namespace fovea::cuda
