// The part of CUB's radix sort that Fovea uses, on the host: like the library's, the first call
// asks how much memory the sort takes, and only the bits [begin_bit, end_bit) of a key are
// compared.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace cub {

struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairs(void* workspace, std::size_t& bytes, const Key* keys_in,
                               Key* keys_out, const Value* values_in, Value* values_out, int count,
                               int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                               cudaStream_t stream = nullptr) {
    static_assert(std::is_unsigned_v<Key>);
    const std::size_t needed = 256;
    if (!workspace) {
      bytes = needed;
      return cudaSuccess;
    }
    if (bytes < needed || count < 0 || begin_bit < 0 || end_bit <= begin_bit ||
        end_bit > std::numeric_limits<Key>::digits)
      return cudaErrorInvalidValue;
    fovea::emulation::enqueue(stream, [=] {
      const auto digit = [&](int at) {
        const int unused = std::numeric_limits<Key>::digits - end_bit;
        return static_cast<Key>(static_cast<Key>(keys_in[at] << unused) >> (unused + begin_bit));
      };
      std::vector<int> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, digit);
      for (int at = 0; at < count; ++at) {
        keys_out[at] = keys_in[order[static_cast<std::size_t>(at)]];
        values_out[at] = values_in[order[static_cast<std::size_t>(at)]];
      }
    });
    return cudaGetLastError();
  }
};

}  // namespace cub
