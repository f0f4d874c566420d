#include "device/launch.h"
#include "nodes/node_search.h"

namespace fovea::cuda {
namespace {

constexpr int search_threads = 128;

dim3 search_blocks(std::int32_t n) {
  return dim3((static_cast<unsigned>(n) + search_threads - 1) / search_threads);
}

// The first position in [begin, end) where `before` no longer holds.
template <class Before>
__device__ std::int32_t first_not(std::int32_t begin, std::int32_t end, Before before) {
  while (begin < end) {
    const std::int32_t middle = begin + (end - begin) / 2;
    if (before(middle))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// One thread per position.
// 18 registers, 16 blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(search_threads) place_kernel(const PlaceArgs a) {
  const auto p = static_cast<std::int32_t>(blockIdx.x * search_threads + threadIdx.x);
  if (p >= a.n) return;
  const std::int32_t key = a.leaf_order[p];
  a.slot[key] = static_cast<std::uint32_t>(
      first_not(0, a.slots, [&](std::int32_t s) { return a.keys[s].end <= p; }));
  a.place[key] = p;
}

// One thread per query follows its path from the root.
// 30 registers, 16 blocks on a multiprocessor. Bound by latency: a binary search in every node.
__global__ void __launch_bounds__(search_threads) search_kernel(const SearchArgs a) {
  const auto i = static_cast<std::int32_t>(blockIdx.x * search_threads + threadIdx.x);
  if (i >= a.queries) return;
  const std::int32_t token = i + a.keys_in_all - a.queries;  // the last key that it may attend
  const std::int64_t leaf = a.query_leaf[i];
  std::int32_t deepest = 0;  // the root holds every key
  bool shared = true;        // no node below one without keys has any
  double path = 0;
  for (int depth = 0; depth < a.depths; ++depth) {
    std::int32_t slot = -1, count = 0;
    if (shared) {
      const std::int64_t node = leaf / a.leaves_below[depth];
      const std::int32_t end = a.first[depth + 1];
      const std::int32_t at =
          first_not(a.first[depth], end, [&](std::int32_t s) { return a.node[s] < node; });
      shared = at < end && a.node[at] == node;
      if (shared) slot = deepest = at;
    }
    const std::int64_t to = static_cast<std::int64_t>(depth) * a.queries;
    if (slot >= 0) {
      const Range32 keys = a.keys[slot];
      const std::int32_t* order = a.orders + static_cast<std::int64_t>(depth) * a.keys_in_all;
      const std::int32_t last =
          a.causal
              ? first_not(keys.begin, keys.end, [&](std::int32_t p) { return order[p] <= token; })
              : keys.end;
      count = last - keys.begin;
    }
    if (count > 0) path += static_cast<double>(a.alpha[depth] / static_cast<float>(count));
    a.found.slot[to + i] = slot;
    a.found.count[to + i] = count;
    a.found.path[to + i] = static_cast<float>(path);
  }
  a.deepest[i] = deepest;
}

}  // namespace

void place_keys(const PlaceArgs& args, cudaStream_t stream) {
  launch(place_kernel,
         {.grid = search_blocks(args.n), .block = dim3(search_threads), .stream = stream}, args);
}

void find_queries(const SearchArgs& args, cudaStream_t stream) {
  launch(search_kernel,
         {.grid = search_blocks(args.queries), .block = dim3(search_threads), .stream = stream},
         args);
}

}  // namespace fovea::cuda
