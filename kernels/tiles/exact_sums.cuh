// Adding a term to an exact sum.
#pragma once

#include "tiles/exact_sums.h"

namespace fovea::cuda {

/// A term as its word of a sum holds it: terms of the same word can be added beforehand.
struct ExactTerm {
  unsigned word;
  unsigned long long value;

  __device__ ExactTerm(unsigned its_word, unsigned long long its_value)
      : word(its_word), value(its_value) {}
  /// `term` is finite and not negative.
  __device__ ExactTerm(const ExactWords& sums, float term) {
    const unsigned bits = __float_as_uint(term), exponent = bits >> 23;
    // The term is mantissa 2^(order - 150).
    const unsigned order = exponent > 0 ? exponent : 1,
                   mantissa = (bits & 0x7fffffu) | (exponent > 0 ? 0x800000u : 0u);
    word = order >> sums.log2_orders;
    value = static_cast<unsigned long long>(mantissa) << (order & ((1u << sums.log2_orders) - 1));
  }
};

__device__ inline void add_exactly(const ExactWords& sums, Index at, const ExactTerm& term) {
  atomicAdd(sums.words + at * (256 >> sums.log2_orders) + term.word, term.value);
}

}  // namespace fovea::cuda
