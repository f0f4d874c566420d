#include "data/pixels.h"
#include "device/launch.h"
#include "tiles/entries.h"
#include "tiles/exact_sums.cuh"
#include "tiles/strip.cuh"

namespace fovea::cuda {
namespace {

constexpr int rows_per_thread = entries_height / row_threads;

struct Shared {
  Slots slots;
  std::int32_t query_row[entries_height], token[entries_height], pixel_row[entries_height];
  float log2_sum[entries_height];
};
constexpr std::size_t header = (sizeof(Shared) + 15) / 16 * 16;

class Entries {
 public:
  __device__ explicit Entries(const EntriesArgs& args)
      : a_(args),
        strip_(args.strips.strips[blockIdx.x]),
        shared_(*dynamic_shared<Shared>()),
        q_(reinterpret_cast<float*>(dynamic_shared<char>() + header)),
        k_(q_ + entries_height * padded),
        tx_(static_cast<int>(threadIdx.x) % key_threads),
        ty_(static_cast<int>(threadIdx.x) / key_threads) {}

  __device__ void run() {
    begin();
    Walk walk = begin_walk(strip_, a_.strips.lists);
    while (true) {
      __syncthreads();  // all threads have read the slots
      const Step step = next_step(walk, a_.strips.lists, true, shared_.slots);
      if (step.keys == 0) break;
      __syncthreads();
      float s[rows_per_thread][keys_per_thread] = {};
      for (int column = 0; column < a_.strips.d; column += chunk) {
        if (column > 0) __syncthreads();
        load_rows(q_, a_.strips.q, column, shared_.query_row, entries_height);
        load_rows(k_, a_.strips.k, column, shared_.slots.key_row, step_keys);
        commit_copies();
        wait_copies<0>();
        __syncthreads();
        accumulate_logits(s, q_, k_, min(chunk, a_.strips.d - column));
      }
      weigh_and_mask(s, a_.strips.log2_scale, a_.strips.lists, shared_.slots, step, shared_.token);
      deposit(s);
    }
  }

 private:
  __device__ void begin() {
    const int level = a_.query_level[blockIdx.x];
    for (int r = static_cast<int>(threadIdx.x); r < entries_height; r += block_threads) {
      const bool present = r < strip_.row_count;
      std::int32_t token = 0;
      if (present) {
        const std::int32_t position = strip_.first_row + r;
        token = strip_.rows < 0 ? position : a_.tokens[strip_.rows + position];
      }
      shared_.token[r] = token;
      shared_.query_row[r] =
          present ? strip_.query_base + ((token >> level) << strip_.query_shift) : -1;
      shared_.pixel_row[r] = present ? pixel_row(token) : -1;
      shared_.log2_sum[r] = present ? a_.log2_sum[token] : -INFINITY;
    }
  }

  __device__ std::int32_t pixel_row(std::int32_t token) const {
    if (!a_.drawn) return pixel_of(token - a_.grid.row_begin, a_.grid.row_count, a_.grid.rows);
    int begin = 0, end = a_.drawn_count - 1;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (a_.drawn[middle] < token)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

  // Tokens of the slot's key within the rectangle, as columns of it.
  __device__ int2 tokens(int slot) const {
    const int level = shared_.slots.level[slot];
    const Index cluster = shared_.slots.cluster[slot];
    if (shared_.slots.key_row[slot] < 0) return make_int2(0, 0);
    Index first = cluster << level, end = (cluster + 1) << level;
    end = min(end, a_.keys) - a_.grid.col_begin;
    first -= a_.grid.col_begin;
    return make_int2(static_cast<int>(max(first, Index{0})),
                     static_cast<int>(min(end, static_cast<Index>(a_.grid.col_count))));
  }

  __device__ void deposit(const float (&s)[rows_per_thread][keys_per_thread]) {
#pragma unroll
    for (int j = 0; j < keys_per_thread; ++j) {
      const int2 columns = tokens(tx_ + key_threads * j);
      if (columns.x >= columns.y) continue;
      const std::int32_t first = pixel_of(columns.x, a_.grid.col_count, a_.grid.cols),
                         last = pixel_of(columns.y - 1, a_.grid.col_count, a_.grid.cols);
#pragma unroll
      for (int i = 0; i < rows_per_thread; ++i) {
        const int r = ty_ + row_threads * i;
        const float total = shared_.log2_sum[r];
        // A pair that the band excludes may belong to another tile.
        if (total == -INFINITY || s[i][j] == -INFINITY) continue;
        const float p = exp2_fast(s[i][j] - total);
        if (p == 0 && a_.deposit != Deposit::entry) continue;  // the grid is 0 already
        const Index row = shared_.pixel_row[r] * a_.stride;
        for (std::int32_t pixel = first; pixel <= last; ++pixel) {
          const Index begin = max(pixel_begin(pixel, a_.grid.col_count, a_.grid.cols),
                                  static_cast<Index>(columns.x)),
                      end = min(pixel_begin(pixel + 1, a_.grid.col_count, a_.grid.cols),
                                static_cast<Index>(columns.y));
          put(row + pixel, p, static_cast<float>(end - begin));
        }
      }
    }
  }

  // p stands for that many entries.
  __device__ void put(Index pixel, float p, float times) {
    const float sum = __fmul_rn(p, times);
    if (a_.deposit == Deposit::entry)
      a_.pixels[pixel] = p;
    else if (a_.deposit == Deposit::sum && sum < INFINITY)
      add_exactly(a_.sums, pixel, sum);
    else  // p >= 0, or a NaN, which compares above every number: as integers
      atomicMax(reinterpret_cast<int*>(a_.pixels + pixel),
                __float_as_int(a_.deposit == Deposit::sum ? sum : p));
  }

  const EntriesArgs& a_;
  const Strip strip_;
  Shared& shared_;
  float *const q_, *const k_;
  const int tx_, ty_;
};

__global__ void __launch_bounds__(block_threads) entries_kernel(const EntriesArgs args) {
  Entries(args).run();
}

}  // namespace

void entries(const EntriesArgs& args, cudaStream_t stream) {
  launch(entries_kernel,
         {.grid = dim3(static_cast<unsigned>(args.strips.count)),
          .block = dim3(block_threads),
          .shared_bytes = header + sizeof(float) * padded * (entries_height + step_keys),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
