// ExactSums are sums of floats >= 0 that are exact, and therefore the same in whatever order atomic
// operations add their terms. A term is a whole number times a power of two; each sum has several
// words, and a word adds up the whole numbers of terms of similar size.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/device_matrix.h"

namespace fovea::cuda {

/// As kernels take them. A word is for terms of 2^log2_orders adjacent powers of two.
struct ExactWords {
  unsigned long long* words = nullptr;  // [sums][256 >> log2_orders]
  int log2_orders = 0;
};

class ExactSums {
 public:
  ExactSums() = default;
  /// A sum of zero for every element of `totals`, its padding too, each with at most `most` terms.
  ExactSums(const Device& device, const DeviceMatrix& totals, Index most);

  ExactWords words() const { return {words_.data(), log2_orders_}; }

  /// Writes the sums, rounded once, to the matrix; elements that are not 0 already are left.
  void round_to(const DeviceMatrix& totals, cudaStream_t stream) const;

 private:
  int log2_orders_ = 0;
  Buffer<unsigned long long> words_;
};

/// Stores to totals[at] what its words hold, where totals[at] is 0.
void round_sums(const ExactWords& sums, Index count, float* totals, cudaStream_t stream);

}  // namespace fovea::cuda
