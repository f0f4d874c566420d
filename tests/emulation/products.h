// Products of warps, and of warpgroups. What the latter read in shared memory, and the registers of
// their factors, are read when they are waited for, not before; the registers of their sums are
// poisoned until then.
#pragma once

#include <cstdint>

namespace fovea::emulation {

/// c += a b, a 16 x 16, b 16 x 8, in the registers of the warp's lanes.
void multiply_in_warp(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      float (*widen)(std::uint16_t));

/// c += a b, a 64 x 16, b 16 x 8 `count`; c = a b unless `add`.
struct Product {
  float (*sums)[4] = nullptr;  // of this thread, [count][4]
  int count = 0;
  const std::uint32_t* registers = nullptr;  // of a; null if it is in shared memory, as `a` says
  std::uint64_t a = 0, b = 0;                // descriptors
  bool transposed = false;                   // b is given by its rows, not by its columns
  bool add = true;
  float (*widen)(std::uint16_t) = nullptr;
};

/// That have been started since the program began, by any thread.
long products_so_far();

void fence_products();
void start_product(const Product& product);
void commit_products();
void wait_products(int pending);

}  // namespace fovea::emulation
