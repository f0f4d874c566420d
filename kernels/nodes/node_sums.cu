#include "device/cells.cuh"
#include "device/launch.h"
#include "nodes/node_sums.h"

namespace fovea::cuda {
namespace {

constexpr int node_sum_threads = 256;

// `Lanes` threads share a cell: lane l takes rows l, l + Lanes, ...
// 32 registers, 2 KiB of shared memory with lanes: eight blocks on a multiprocessor. Bound by
// memory: every row is read once.
template <class Number, int Lanes>
__global__ void __launch_bounds__(node_sum_threads) sum_kernel(const SumArgs<Number> a) {
  constexpr int per_block = node_sum_threads / Lanes;
  const int own = static_cast<int>(threadIdx.x) % per_block,
            lane = static_cast<int>(threadIdx.x) / per_block;
  const Index cell = static_cast<Index>(blockIdx.x) * per_block + own, range = cell / a.columns,
              column = cell % a.columns;
  double sum = 0;
  if (range < a.count) {
    const Range32 positions = a.ranges[range];
#pragma unroll 4
    for (std::int32_t p = positions.begin + lane; p < positions.end; p += Lanes) {
      const Index row = a.order ? a.order[p] : p;
      sum += static_cast<double>(a.rows[row * a.stride + column]);
    }
  }
  if constexpr (Lanes > 1) {
    __shared__ double part[node_sum_threads];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (lane > 0) return;
    for (int l = 1; l < Lanes; ++l) sum += part[l * per_block + own];
  }
  if (range < a.count) a.sums[cell] = sum;
}

template <class Number>
void launch_sums(const SumArgs<Number>& args, cudaStream_t stream) {
  constexpr int lanes = 8;
  if (args.many_rows)
    launch(sum_kernel<Number, lanes>,
           cells<node_sum_threads>(args.count, args.columns, stream, node_sum_threads / lanes),
           args);
  else
    launch(sum_kernel<Number, 1>, cells<node_sum_threads>(args.count, args.columns, stream), args);
}

// 20 registers, eight blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(node_sum_threads) descend_kernel(const DescendArgs a) {
  const Index cell = own_cell<node_sum_threads>(), slot = a.slots.begin + cell / a.stride,
              column = cell % a.stride;
  if (slot >= a.slots.end) return;
  const Range32 keys = a.keys[slot];
  const std::int32_t parent = a.parent[slot];
  const float share = a.alpha / static_cast<float>(keys.end - keys.begin);
  double* sum = a.sums + slot * a.stride + column;
  const double above = parent < 0 ? 0.0 : a.sums[static_cast<Index>(parent) * a.stride + column];
  *sum = above + static_cast<double>(share) * *sum;
}

// 22 registers, eight blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(node_sum_threads) look_up_kernel(const LookUpArgs a) {
  const Index cell = own_cell<node_sum_threads>(), i = cell / a.stride, column = cell % a.stride;
  if (i >= a.n) return;
  a.z[cell] = static_cast<float>(a.rows[static_cast<Index>(a.row[i]) * a.stride + column]);
}

// 99 registers, two blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(node_sum_threads) carry_kernel(const CarryArgs a) {
  const Index cell = own_cell<node_sum_threads>(), slot = cell / a.columns,
              column = cell % a.columns;
  if (slot >= a.slots) return;
  const Range32 pieces = a.pieces[slot];
  double* const sums = a.sums + column;
  double before = 0;
  constexpr int batch =
      16;  // sums are read before any is written, so that there is one wait for all
  for (Index first = pieces.begin; first < pieces.end; first += batch) {
    double sum[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b)
      sum[b] = first + b < pieces.end ? sums[(first + b) * a.columns] : 0.0;
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      if (first + b < pieces.end) sums[(first + b) * a.columns] = before;
      before += sum[b];
    }
  }
}

// 32 registers, eight blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(node_sum_threads) running_kernel(const RunningArgs a) {
  const Index cell = own_cell<node_sum_threads>(), piece = cell / a.columns,
              column = cell % a.columns;
  if (piece >= a.count) return;
  const Range32 positions = a.pieces[piece];
  double sum = a.before[cell];
#pragma unroll 8
  for (Index p = positions.begin; p < positions.end; ++p) {
    // Read-only loads may be made before the stores of earlier rounds.
    const Index row = __ldg(a.order + p);
    sum += static_cast<double>(__ldg(a.values + row * a.stride + column));
    a.running[p * a.columns + column] = static_cast<float>(sum);
  }
}

// 32 registers, eight blocks on a multiprocessor. Bound by memory: a row for every node of a path.
__global__ void __launch_bounds__(node_sum_threads) prefix_kernel(const PrefixArgs a) {
  const Index cell = own_cell<node_sum_threads>(), i = cell / a.columns, column = cell % a.columns;
  if (i >= a.queries) return;
  double total = 0;
#pragma unroll 4  // so that several depths are read at once
  for (int depth = 0; depth < a.depths; ++depth) {
    const Index at = static_cast<Index>(depth) * a.queries + i;
    const std::int32_t count = __ldg(a.count + at);
    const float alpha = __ldg(a.alpha + depth);
    if (count <= 0 || alpha == 0) continue;
    const Index last =
        static_cast<Index>(depth) * a.keys_in_all + a.keys[__ldg(a.slot + at)].begin + count - 1;
    const float share = alpha / static_cast<float>(count);
    total += static_cast<double>(share) *
             static_cast<double>(__ldg(a.running + last * a.columns + column));
  }
  a.z[i * a.z_stride + column] = static_cast<float>(total);
}

}  // namespace

void sum_ranges(const SumArgs<float>& args, cudaStream_t stream) {
  launch_sums(args, stream);
}
void sum_ranges(const SumArgs<double>& args, cudaStream_t stream) {
  launch_sums(args, stream);
}

void descend(const DescendArgs& args, cudaStream_t stream) {
  launch(descend_kernel,
         cells<node_sum_threads>(args.slots.end - args.slots.begin, args.stride, stream), args);
}

void look_up(const LookUpArgs& args, cudaStream_t stream) {
  launch(look_up_kernel, cells<node_sum_threads>(args.n, args.stride, stream), args);
}

void carry(const CarryArgs& args, cudaStream_t stream) {
  launch(carry_kernel, cells<node_sum_threads>(args.slots, args.columns, stream), args);
}

void run_sums(const RunningArgs& args, cudaStream_t stream) {
  launch(running_kernel, cells<node_sum_threads>(args.count, args.columns, stream), args);
}

void look_up_prefixes(const PrefixArgs& args, cudaStream_t stream) {
  launch(prefix_kernel, cells<node_sum_threads>(args.queries, args.columns, stream), args);
}

}  // namespace fovea::cuda
