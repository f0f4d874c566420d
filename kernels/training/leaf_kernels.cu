// The products of [queries, keys] by d and dv are bound by multiplications in fp32; of the others
// find_losses_without has one block for each query. At a few hundred queries a step each of the
// four launches takes about as long as a launch does.
#include "device/block_sum.cuh"
#include "device/launch.h"
#include "device/load_columns.cuh"
#include "training/leaf_kernels.h"

namespace fovea::cuda {
namespace {

constexpr int leaf_threads = 128, leaf_width = 32;  // columns of vectors at a time
constexpr float no_pair = -1e30f;                   // as in LeafBatch

__device__ bool forbidden(float logit) {
  return logit <= no_pair / 2;
}

constexpr int logit_rows = 32, logit_keys = 64, logit_lanes = 16,
              logit_bands = leaf_threads / logit_lanes;
constexpr int logit_rows_each = logit_rows / logit_bands,
              logit_keys_each = logit_keys / logit_lanes;

// One block for 32 queries and 64 keys.
// 48 registers, 12 KiB of shared memory: ten blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(leaf_threads) logits_kernel(const LeafArgs a) {
  __shared__ float q[logit_rows][leaf_width + 1], k[logit_keys][leaf_width + 1];
  const int first = static_cast<int>(blockIdx.y) * logit_rows,
            begin = static_cast<int>(blockIdx.x) * logit_keys;
  const int tx = static_cast<int>(threadIdx.x) % logit_lanes,
            ty = static_cast<int>(threadIdx.x) / logit_lanes;
  float s[logit_rows_each][logit_keys_each] = {};
  for (int column = 0; column < a.d; column += leaf_width) {
    __syncthreads();
    load_columns<leaf_threads>(q, column, a.d, [&](int row) {
      return first + row < a.queries ? a.q + static_cast<Index>(first + row) * a.q_stride : nullptr;
    });
    load_columns<leaf_threads>(k, column, a.d, [&](int row) {
      return begin + row < a.keys ? a.k + static_cast<Index>(begin + row) * a.k_stride : nullptr;
    });
    __syncthreads();
#pragma unroll 8
    for (int c = 0; c < leaf_width; ++c)
#pragma unroll
      for (int i = 0; i < logit_rows_each; ++i)
#pragma unroll
        for (int j = 0; j < logit_keys_each; ++j)
          s[i][j] = fmaf(q[ty + logit_bands * i][c], k[tx + logit_lanes * j][c], s[i][j]);
  }
#pragma unroll
  for (int i = 0; i < logit_rows_each; ++i)
#pragma unroll
    for (int j = 0; j < logit_keys_each; ++j) {
      const int query = first + ty + logit_bands * i, key = begin + tx + logit_lanes * j;
      if (query >= a.queries || key >= a.keys) continue;
      const bool admitted = !a.admissible || a.place[key] < a.admissible[query];
      a.logits[static_cast<Index>(query) * a.keys + key] = admitted ? a.scale * s[i][j] : no_pair;
    }
}

// The least over the block, in all threads.
template <class T>
__device__ T block_least(T value) {
  __shared__ T of_warp[leaf_threads / 32];
  for (int flip = 16; flip > 0; flip /= 2)
    value = min(value, __shfl_xor_sync(0xffffffffu, value, flip));
  __syncthreads();  // all threads have read an earlier one
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  T least = of_warp[0];
  for (int w = 1; w < leaf_threads / 32; ++w) least = min(least, of_warp[w]);
  return least;
}

constexpr int output_rows = 16, output_lanes = leaf_threads / output_rows;
constexpr int output_columns = 64, output_columns_each = output_columns / output_lanes;

// One block for a leaf and 16 queries, eight threads each.
class LeafOutputs {
 public:
  __device__ explicit LeafOutputs(const LeafArgs& args)
      : a_(args),
        leaf_(static_cast<int>(blockIdx.x)),
        begin_(args.leaf_begin[leaf_]),
        end_(args.leaf_begin[leaf_ + 1]),
        row_(static_cast<int>(threadIdx.x) / output_lanes),
        lane_(static_cast<int>(threadIdx.x) % output_lanes),
        query_(static_cast<int>(blockIdx.y) * output_rows + row_),
        exists_(query_ < args.queries) {}

  __device__ void run() {
    find_sum();
    const bool empty = forbidden(most_);
    const bool own = exists_ && !empty && a_.query_leaf[query_] == leaf_;
    float loss = 0;
    for (int column = 0; column < a_.dv; column += output_columns) {
      float z[output_columns_each] = {};
      add_values(column, z);
      for (int c = 0; c < output_columns_each; ++c) {
        const int at = column + lane_ + output_lanes * c;
        if (!exists_ || at >= a_.dv) continue;
        const float value = empty ? 0.0f : z[c] / sum_;
        const Index place = static_cast<Index>(query_) * a_.v_stride + at;
        const float apart = value - a_.t[place];
        loss = fmaf(apart, apart, loss);
        if (own) a_.z[place] = value;
      }
    }
    for (int flip = 1; flip < output_lanes; flip *= 2)
      loss += __shfl_xor_sync(0xffffffffu, loss, flip);
    if (lane_ > 0 || !exists_) return;
    a_.by_query[static_cast<Index>(query_) * a_.leaves + leaf_] = loss;
    if (own) a_.lse[query_] = most_ + logf(sum_);
  }

 private:
  __device__ float logit(int key) const {
    return exists_ ? a_.logits[static_cast<Index>(query_) * a_.keys + key] : no_pair;
  }

  __device__ void find_sum() {
    for (int j = begin_ + lane_; j < end_; j += output_lanes) most_ = fmaxf(most_, logit(j));
    for (int flip = 1; flip < output_lanes; flip *= 2)
      most_ = fmaxf(most_, __shfl_xor_sync(0xffffffffu, most_, flip));
    for (int j = begin_ + lane_; j < end_; j += output_lanes) sum_ += expf(logit(j) - most_);
    for (int flip = 1; flip < output_lanes; flip *= 2)
      sum_ += __shfl_xor_sync(0xffffffffu, sum_, flip);
  }

  __device__ void add_values(int column, float (&z)[output_columns_each]) const {
    __shared__ float weight[output_rows][leaf_width + 1], value[leaf_width][output_columns];
    for (int key = begin_; key < end_; key += leaf_width) {
      const int count = min(leaf_width, end_ - key);
      __syncthreads();
      for (int j = lane_; j < leaf_width; j += output_lanes)
        weight[row_][j] = j < count ? expf(logit(key + j) - most_) : 0.0f;
      for (int at = static_cast<int>(threadIdx.x); at < leaf_width * output_columns;
           at += leaf_threads) {
        const int j = at / output_columns, c = column + at % output_columns;
        value[j][at % output_columns] =
            j < count && c < a_.dv ? a_.v[static_cast<Index>(key + j) * a_.v_stride + c] : 0.0f;
      }
      __syncthreads();
      for (int j = 0; j < count; ++j)
#pragma unroll
        for (int c = 0; c < output_columns_each; ++c)
          z[c] = fmaf(weight[row_][j], value[j][lane_ + output_lanes * c], z[c]);
    }
  }

  const LeafArgs& a_;
  const int leaf_, begin_, end_, row_, lane_, query_;
  const bool exists_;
  float most_ = no_pair, sum_ = 0;
};

// 40 registers, 10 KiB of shared memory: twelve blocks on a multiprocessor. Bound by reads of
// values.
__global__ void __launch_bounds__(leaf_threads) outputs_kernel(const LeafArgs args) {
  LeafOutputs(args).run();
}

// The share of a key in its leaf.
__device__ float leaf_share(const LeafArgs& a, int query, int key) {
  const float logit = a.logits[static_cast<Index>(query) * a.keys + key];
  return forbidden(logit) ? 0.0f : expf(logit - a.lse[query]);
}

// The loss of a query without one key of its leaf, by its definition: 1 - share may be a rounding.
__device__ float loss_without(const LeafArgs& a, int query, int key, int begin, int end) {
  __shared__ float weight[leaf_threads];
  const float* logit = a.logits + static_cast<Index>(query) * a.keys;
  float most = no_pair;
  for (int j = begin + static_cast<int>(threadIdx.x); j < end; j += leaf_threads)
    if (j != key) most = fmaxf(most, logit[j]);
  most = -block_least(-most);
  float loss = 0;
  for (int first = 0; first < a.dv; first += leaf_threads) {
    const int c = first + static_cast<int>(threadIdx.x);
    float sum = 0, z = 0;
    for (int tile = begin; tile < end && !forbidden(most); tile += leaf_threads) {
      const int j = tile + static_cast<int>(threadIdx.x);
      __syncthreads();
      weight[threadIdx.x] = j < end && j != key ? expf(logit[j] - most) : 0.0f;
      __syncthreads();
      for (int k = 0; k < min(leaf_threads, end - tile); ++k) {
        sum += weight[k];
        if (c < a.dv) z = fmaf(weight[k], a.v[static_cast<Index>(tile + k) * a.v_stride + c], z);
      }
    }
    if (c >= a.dv) continue;
    const float apart =
        (sum > 0 ? z / sum : 0.0f) - a.t[static_cast<Index>(query) * a.v_stride + c];
    loss = fmaf(apart, apart, loss);
  }
  return block_sum<leaf_threads>(loss);
}

// One block for each query.
// 32 registers, 16 blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(leaf_threads) losses_without_kernel(const LeafArgs a) {
  const int query = static_cast<int>(blockIdx.x), leaf = a.query_leaf[query];
  const int begin = a.leaf_begin[leaf], end = a.leaf_begin[leaf + 1];
  int key = end;
  for (int j = begin + static_cast<int>(threadIdx.x); j < end; j += leaf_threads)
    if (leaf_share(a, query, j) >= 0.5f) key = min(key, j);
  key = block_least(key);
  const float loss = key < end ? loss_without(a, query, key, begin, end) : 0.0f;
  if (threadIdx.x > 0) return;
  a.dominant[query] = key < end ? key : -1;
  a.loss_without[query] = loss;
}

constexpr int together = 4;  // queries

// One block for a leaf and 128 keys, one thread each.
class KeyChanges {
 public:
  __device__ explicit KeyChanges(const LeafArgs& args)
      : a_(args),
        leaf_(static_cast<int>(blockIdx.x)),
        key_(static_cast<int>(blockIdx.y) * leaf_threads + static_cast<int>(threadIdx.x)) {}

  __device__ void run() {
    const int end = a_.order_begin[leaf_ + 1];
    float sum = 0;
    for (int first = a_.order_begin[leaf_]; first < end; first += together) {
      float along[together] = {}, apart[together] = {};
      find_products(first, min(together, end - first), along, apart);
#pragma unroll
      for (int b = 0; b < together; ++b)
        if (first + b < end && key_ < a_.keys)
          sum += change(a_.in_order[first + b], along[b], apart[b]);
    }
    if (key_ < a_.keys) a_.by_key[static_cast<Index>(key_) * a_.leaves + leaf_] = sum;
  }

 private:
  // along = R.(v - Z), apart = |v - Z|^2 of the thread's key and some queries.
  __device__ void find_products(int first, int count, float (&along)[together],
                                float (&apart)[together]) const {
    __shared__ float value[leaf_threads][leaf_width + 1], z[together][leaf_width + 1],
        r[together][leaf_width + 1];
    const Index begin = static_cast<Index>(blockIdx.y) * leaf_threads;
    const auto of_query = [&](const float* rows, int b) {
      return b < count ? rows + static_cast<Index>(a_.in_order[first + b]) * a_.v_stride : nullptr;
    };
    for (int column = 0; column < a_.dv; column += leaf_width) {
      __syncthreads();
      load_columns<leaf_threads>(value, column, a_.dv, [&](int row) {
        return begin + row < a_.keys ? a_.v + (begin + row) * a_.v_stride : nullptr;
      });
      load_columns<leaf_threads>(z, column, a_.dv, [&](int b) { return of_query(a_.z, b); });
      load_columns<leaf_threads>(r, column, a_.dv, [&](int b) { return of_query(a_.t, b); });
      __syncthreads();
      for (int c = 0; c < leaf_width; ++c)
#pragma unroll
        for (int b = 0; b < together; ++b) {
          const float step = value[threadIdx.x][c] - z[b][c];
          along[b] = fmaf(z[b][c] - r[b][c], step, along[b]);
          apart[b] = fmaf(step, step, apart[b]);
        }
    }
  }

  // What a query of the leaf adds to dE/dg of the thread's key.
  __device__ float change(int query, float along, float apart) const {
    const float logit = a_.logits[static_cast<Index>(query) * a_.keys + key_];
    if (forbidden(logit)) return 0;
    if (key_ < a_.leaf_begin[leaf_] || key_ >= a_.leaf_begin[leaf_ + 1]) {
      // Into a leaf without keys the key comes with weight 1.
      const float c = 1 / (expf(fminf(a_.lse[query] - logit, 80.0f)) + 1);
      return c * fmaf(c, apart, 2 * along);
    }
    if (a_.dominant[query] == key_)
      return a_.by_query[static_cast<Index>(query) * a_.leaves + leaf_] - a_.loss_without[query];
    const float p = leaf_share(a_, query, key_), c = -p / (1 - p);
    return -c * fmaf(c, apart, 2 * along);
  }

  const LeafArgs& a_;
  const int leaf_, key_;
};

// 72 registers, 18 KiB of shared memory: seven blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(leaf_threads, 6) key_changes_kernel(const LeafArgs args) {
  KeyChanges(args).run();
}

// At most 65535 blocks along y.
dim3 grid(int x, int per_x, int y, int per_y) {
  return dim3(static_cast<unsigned>((x + per_x - 1) / per_x),
              static_cast<unsigned>((y + per_y - 1) / per_y));
}

}  // namespace

void find_logits(const LeafArgs& args, cudaStream_t stream) {
  launch(logits_kernel,
         {.grid = grid(args.keys, logit_keys, args.queries, logit_rows),
          .block = dim3(leaf_threads),
          .stream = stream},
         args);
}

void find_outputs(const LeafArgs& args, cudaStream_t stream) {
  launch(outputs_kernel,
         {.grid = grid(args.leaves, 1, args.queries, output_rows),
          .block = dim3(leaf_threads),
          .stream = stream},
         args);
}

void find_losses_without(const LeafArgs& args, cudaStream_t stream) {
  launch(losses_without_kernel,
         {.grid = grid(args.queries, 1, 1, 1), .block = dim3(leaf_threads), .stream = stream},
         args);
}

void find_key_changes(const LeafArgs& args, cudaStream_t stream) {
  launch(key_changes_kernel,
         {.grid = grid(args.leaves, 1, args.keys, leaf_threads),
          .block = dim3(leaf_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
