// sort orders positions by key: the library's stable radix sort, on the bits that keys have.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fovea::cuda {

struct SortArgs {
  const std::uint32_t* keys = nullptr;   // [n] below 2^bits
  std::uint32_t* sorted_keys = nullptr;  // [n]
  std::int32_t* positions = nullptr;     // [n] for the sort's own use
  std::int32_t* order = nullptr;         // [n] positions of the keys in ascending order
  int n = 0;
  int bits = 1;  // at least 1
};

/// Device memory that the sort needs besides.
std::size_t sort_workspace(const SortArgs& args);

void sort(const SortArgs& args, void* workspace, std::size_t bytes, cudaStream_t stream);

}  // namespace fovea::cuda
