#include "data/pixels.h"
#include "device/block_sum.cuh"
#include "device/compare.h"
#include "device/launch.h"
#include "device/log_ratio.cuh"

namespace fovea::cuda {
namespace {

constexpr int compare_threads = 128, compare_warps = compare_threads / 32;

// NaN is larger than any number; of two equal magnitudes the positive one is.
__device__ double larger_magnitude(double a, double b) {
  if (!(a == a) || !(b == b)) return a == a ? b : a;
  const double x = fabs(a), y = fabs(b);
  return x > y || (x == y && a > b) ? a : b;
}

__device__ double block_extreme(double value) {
  __shared__ double of_warp[compare_warps];
  for (int flip = 16; flip > 0; flip /= 2)
    value = larger_magnitude(value, __shfl_xor_sync(0xffffffffu, value, flip));
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  double extreme = of_warp[0];
  for (int w = 1; w < compare_warps; ++w) extreme = larger_magnitude(extreme, of_warp[w]);
  return extreme;
}

__device__ double difference_of(Difference kind, float approximate, float exact) {
  const double p = exact, difference = static_cast<double>(approximate) - p;
  if (kind == Difference::signed_difference) return difference;
  if (kind == Difference::absolute) return fabs(difference);
  if (kind == Difference::squared) return difference * difference;
  if (difference == 0) return 0;
  return exact > 0 ? difference / p : copysign(static_cast<double>(INFINITY), difference);
}

// One block for each pixel that the part touches: 40 registers, 64 bytes of shared memory. Bound by
// memory, and on GPUs with few units for double by these.
__global__ void __launch_bounds__(compare_threads)
    pool_difference_kernel(const PoolDifferenceArgs a, Index first_row, Index first_col,
                           Index pixels_across) {
  const Index r = first_row + blockIdx.x / pixels_across,
              c = first_col + blockIdx.x % pixels_across;
  const Index row_begin = max(a.rows.begin, pixel_begin(r, a.rectangle_rows, a.grid_rows)),
              row_end = min(a.rows.end, pixel_begin(r + 1, a.rectangle_rows, a.grid_rows)),
              col_begin = max(a.cols.begin, pixel_begin(c, a.rectangle_cols, a.grid_cols)),
              col_end = min(a.cols.end, pixel_begin(c + 1, a.rectangle_cols, a.grid_cols));
  const auto width = static_cast<int>(col_end - col_begin);
  double value = 0;
  if (width > 0) {
    // Entries one after the other, row by row; divisions only here.
    const int down = compare_threads / width, across = compare_threads % width;
    Index i = row_begin + static_cast<int>(threadIdx.x) / width;
    int j = static_cast<int>(threadIdx.x) % width;
    while (i < row_end) {
      const Index row = i - a.rows.begin, col = col_begin + j - a.cols.begin;
      const double x = difference_of(a.kind, a.approximate.data[row * a.approximate.stride + col],
                                     a.exact.data[row * a.exact.stride + col]);
      value = a.mean ? value + x : larger_magnitude(value, x);
      i += down;
      j += across;
      if (j >= width) {
        j -= width;
        ++i;
      }
    }
  }
  value = a.mean ? block_sum<compare_threads>(value) : block_extreme(value);
  if (threadIdx.x != 0) return;
  double& pixel = a.pixels[r * a.grid_cols + c];
  pixel = a.mean ? pixel + value : larger_magnitude(pixel, value);
}

using Place = unsigned long long;

// Larger for keys that come earlier in the top of a row, and different for all of them; 0 if not in
// it. Bits of positive floats are ordered as the floats are.
__device__ Place place(float weight, Index key) {
  if (!(weight > 0)) return 0;
  return static_cast<Place>(__float_as_uint(weight)) << 32 |
         (0xffffffffu - static_cast<unsigned>(key));
}

__device__ Index count_from(Place least, const float* row, Index cols) {
  int count = 0;
  for (Index j = threadIdx.x; j < cols; j += compare_threads) count += place(row[j], j) >= least;
  return block_sum<compare_threads>(count);
}

// The places of the last keys of the top k of a row, k at most `limit`; 1 where all positive
// weights are in it. Returns the number of positive weights. `last` is shared.
__device__ Index find_top(const float* row, Index cols, Index limit, Place* last) {
  constexpr auto counts = top_counts;
  constexpr Index most = counts[counts.size() - 1], room = 2 * compare_threads;
  __shared__ Place candidates[room];
  __shared__ int size;
  Place low = 1, high = ~Place{0};
  const Index positive = count_from(low, row, cols);
  for (Index count = positive; count > room;) {
    const Place middle = low + (high - low) / 2;
    const Index above = count_from(middle, row, cols);
    if (above >= most)
      low = middle, count = above;
    else
      high = middle;
  }
  if (threadIdx.x == 0) size = 0;
  if (threadIdx.x < counts.size()) last[threadIdx.x] = 1;
  __syncthreads();
  for (Index j = threadIdx.x; j < cols; j += compare_threads)
    if (const Place its_place = place(row[j], j); its_place >= low)
      candidates[atomicAdd(&size, 1)] = its_place;
  __syncthreads();
  for (int s = threadIdx.x; s < size; s += compare_threads) {
    Index rank = 1;
    for (int other = 0; other < size; ++other) rank += candidates[other] > candidates[s];
    for (unsigned c = 0; c < counts.size(); ++c)
      if (rank == min(counts[c], limit)) last[c] = candidates[s];
  }
  __syncthreads();
  return positive;
}

__device__ void find_top_recall(const float* approximate, const float* exact, Index cols,
                                RowDifference& out) {
  constexpr auto counts = top_counts;
  __shared__ Place last_exact[counts.size()], last_approximate[counts.size()];
  const Index positive = find_top(exact, cols, cols, last_exact);
  find_top(approximate, cols, positive, last_approximate);
  for (unsigned c = 0; c < counts.size(); ++c) {
    int both = 0;
    for (Index j = threadIdx.x; j < cols; j += compare_threads)
      both +=
          place(exact[j], j) >= last_exact[c] && place(approximate[j], j) >= last_approximate[c];
    both = block_sum<compare_threads>(both);
    if (threadIdx.x == 0)
      out.top_recall.data()[c] =
          static_cast<double>(both) / static_cast<double>(min(counts[c], positive));
  }
}

// log(p / q) in double.
__device__ double log_ratio_of_weights(float p, float q) {
  const TwoFloats log = log_ratio(p, q);
  return static_cast<double>(log.high) + static_cast<double>(log.low);
}

// One block for each row. On GPUs with few units for double bound by these: 12 operations for each
// pair of entries.
__global__ void __launch_bounds__(compare_threads)
    compare_rows_kernel(DenseTile approximate, DenseTile exact, Index cols, RowDifference* out) {
  const Index i = blockIdx.x;
  double error = 0, norm = 0, variation = 0, kl = 0, reverse_kl = 0, mass = 0;
  for (Index j = threadIdx.x; j < cols; j += compare_threads) {
    const float given = approximate.data[i * approximate.stride + j],
                weight = exact.data[i * exact.stride + j];
    const double p = weight, q = given == -INFINITY ? 0.0 : given;
    error += (q - p) * (q - p);
    norm += p * p;
    variation += 0.5 * fabs(q - p);
    if (given != -INFINITY) mass += p;
    if (weight > 0 && given > 0) {
      const double log = log_ratio_of_weights(weight, given);
      kl += p * log;
      reverse_kl -= q * log;
    } else if (weight > 0) {
      kl += static_cast<double>(INFINITY);
    } else if (given > 0) {
      reverse_kl += static_cast<double>(INFINITY);
    }
    if (given < 0 && given != -INFINITY) reverse_kl = static_cast<double>(NAN);
  }
  error = block_sum<compare_threads>(error);
  norm = block_sum<compare_threads>(norm);
  variation = block_sum<compare_threads>(variation);
  kl = block_sum<compare_threads>(kl);
  reverse_kl = block_sum<compare_threads>(reverse_kl);
  mass = block_sum<compare_threads>(mass);
  if (threadIdx.x == 0) out[i] = {error, norm, variation, kl, reverse_kl, mass, {}};
  find_top_recall(approximate.data + i * approximate.stride, exact.data + i * exact.stride, cols,
                  out[i]);
}

}  // namespace

void pool_difference(const PoolDifferenceArgs& args, cudaStream_t stream) {
  const Index first_row = pixel_of(args.rows.begin, args.rectangle_rows, args.grid_rows),
              last_row = pixel_of(args.rows.end - 1, args.rectangle_rows, args.grid_rows),
              first_col = pixel_of(args.cols.begin, args.rectangle_cols, args.grid_cols),
              last_col = pixel_of(args.cols.end - 1, args.rectangle_cols, args.grid_cols);
  launch(
      pool_difference_kernel,
      {.grid = dim3(static_cast<unsigned>((last_col - first_col + 1) * (last_row - first_row + 1))),
       .block = dim3(compare_threads),
       .stream = stream},
      args, first_row, first_col, last_col - first_col + 1);
}

void compare_rows(DenseTile approximate, DenseTile exact, Index rows, Index cols,
                  RowDifference* out, cudaStream_t stream) {
  launch(
      compare_rows_kernel,
      {.grid = dim3(static_cast<unsigned>(rows)), .block = dim3(compare_threads), .stream = stream},
      approximate, exact, cols, out);
}

}  // namespace fovea::cuda
