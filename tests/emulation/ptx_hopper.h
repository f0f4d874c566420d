// The instructions of kernels/device/ptx/ptx_hopper.h, for the host.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "async.h"
#include "device/matrix_descriptor.h"
#include "products.h"
#include "ptx.h"

namespace fovea::cuda {

inline std::uint32_t shared_address(const void* shared) {
  return fovea::emulation::shared_address(shared);
}

using PhaseBarrier = std::uint64_t;

inline void init_barrier(PhaseBarrier* barrier, int arrivals) {
  fovea::emulation::init_barrier(barrier, arrivals);
}
inline void publish_barriers() {}
inline void arrive(PhaseBarrier* barrier, int arrivals = 1) {
  fovea::emulation::arrive(barrier, 0, arrivals);
}
inline void arrive_expecting(PhaseBarrier* barrier, int bytes) {
  fovea::emulation::arrive(barrier, bytes);
}
inline void arrive_after_copies(PhaseBarrier* barrier) {
  fovea::emulation::arrive_after_copies(barrier);
}
inline bool wait_for_phase(PhaseBarrier* barrier, unsigned parity) {
  return fovea::emulation::wait_for_phase(barrier, parity);
}
inline void copy_box_async(void* shared, const CUtensorMap* map, int column, int row,
                           PhaseBarrier* barrier) {
  fovea::emulation::copy_box(shared, *map, column, row, barrier);
}
inline void fence_async_proxy() {
  fovea::emulation::fence_async_proxy();
}

template <int Launched, int Kept>
void set_registers() {
  static_assert(Kept % 8 == 0 && Kept >= 24 && Kept <= 240);
  fovea::emulation::set_registers(Launched, Kept);
}

inline void fence_products() {
  fovea::emulation::fence_products();
}
inline void commit_products() {
  fovea::emulation::commit_products();
}
template <int Pending, int Count>
void wait_products(float (&)[Count][4]) {
  fovea::emulation::wait_products(Pending);
}

template <Precision P, int Count>
void multiply_columns(float (&c)[Count][4], std::uint64_t a, std::uint64_t b, bool add) {
  fovea::emulation::start_product(
      {.sums = c,
       .count = Count,
       .a = a,
       .b = b,
       .add = add,
       .widen = P == Precision::bf16 ? test::from_bf16 : test::from_fp16});
}
template <Precision P, int Count>
void multiply_rows(float (&c)[Count][4], const std::uint32_t (&a)[4], std::uint64_t b) {
  fovea::emulation::start_product(
      {.sums = c,
       .count = Count,
       .registers = a,
       .b = b,
       .transposed = true,
       .widen = P == Precision::bf16 ? test::from_bf16 : test::from_fp16});
}

}  // namespace fovea::cuda
