// Adding a term to an exact sum.
#pragma once

#include "tiles/exact_sums.h"

namespace fovea::cuda {

/// The term is finite and not negative.
__device__ inline void add_exactly(const ExactWords& sums, Index at, float term) {
  const unsigned bits = __float_as_uint(term), exponent = bits >> 23;
  // The term is mantissa 2^(order - 150).
  const unsigned order = exponent > 0 ? exponent : 1,
                 mantissa = (bits & 0x7fffffu) | (exponent > 0 ? 0x800000u : 0u);
  const unsigned shift = order & ((1u << sums.log2_orders) - 1);
  atomicAdd(sums.words + at * (256 >> sums.log2_orders) + (order >> sums.log2_orders),
            static_cast<unsigned long long>(mantissa) << shift);
}

}  // namespace fovea::cuda
