#include <cub/device/device_radix_sort.cuh>

#include "device/launch.h"
#include "planning/sort.h"

namespace fovea::cuda {
namespace {

constexpr int sort_threads = 256;

// 8 registers, eight blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(sort_threads) count_up_kernel(std::int32_t* positions, int n) {
  const unsigned at = blockIdx.x * sort_threads + threadIdx.x;
  if (at < static_cast<unsigned>(n)) positions[at] = static_cast<std::int32_t>(at);
}

}  // namespace

std::size_t sort_workspace(const SortArgs& args) {
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, args.keys, args.sorted_keys, args.positions,
                                        args.order, args.n, 0, args.bits),
        "asking what sorting takes");
  return bytes;
}

void sort(const SortArgs& args, void* workspace, std::size_t bytes, cudaStream_t stream) {
  launch(count_up_kernel,
         {.grid = dim3((static_cast<unsigned>(args.n) + sort_threads - 1) / sort_threads),
          .block = dim3(sort_threads),
          .stream = stream},
         args.positions, args.n);
  check(cub::DeviceRadixSort::SortPairs(workspace, bytes, args.keys, args.sorted_keys,
                                        args.positions, args.order, args.n, 0, args.bits, stream),
        "sorting");
}

}  // namespace fovea::cuda
