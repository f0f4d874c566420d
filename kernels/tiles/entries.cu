// A block makes the entries of 64 queries and 64 keys at a time: at most 128 registers, 39 KiB of
// shared memory, four blocks on a multiprocessor. Bound by reads of shared memory, 12 for 128
// multiply-adds, or, where pixels are narrower than eight keys, by atomic operations, one for each
// pixel among eight keys in a row.
#include "device/launch.h"
#include "tiles/entries.h"
#include "tiles/exact_sums.cuh"
#include "tiles/query_tile.cuh"

namespace fovea::cuda {
namespace {

constexpr int rows_per_thread = entries_height / row_threads;

// The tokens of a key in the rectangle, columns [begin, end) of it, and the pixels that they lie
// in.
struct KeyColumns {
  std::int32_t begin, end, first_pixel, last_pixel;
};

// 1 / b for the divisions of a grid.
struct Reciprocals {
  double row_count, col_count, cols;
};

// a / b, rounded down, for 0 <= a / b < 2^31. The product with the reciprocal of b is off by far
// less than 1.
__device__ inline std::int32_t quotient(Index a, std::int32_t b, double reciprocal) {
  const auto near = static_cast<std::int32_t>(static_cast<double>(a) * reciprocal);
  const Index rest = a - static_cast<Index>(near) * b;
  return rest < 0 ? near - 1 : rest >= b ? near + 1 : near;
}

struct EntriesShared {
  Slots slots;
  KeyColumns columns[kv_tile_keys];
  std::int32_t query_row[entries_height], token[entries_height], pixel_row[entries_height];
  float log2_sum[entries_height];
};
constexpr std::size_t entries_header = (sizeof(EntriesShared) + 15) / 16 * 16;

// What a thread has for a pixel, and adds to it when it comes to another one: pixels are mostly
// wider than a KV tile, and every atomic operation costs as much as many multiply-adds.
template <Deposit Kind>
class Pending {
 public:
  // p stands for that many entries.
  __device__ __forceinline__ void add(const EntriesArgs& a, Index pixel, float p, float times) {
    if constexpr (Kind == Deposit::entry) {
      a.pixels[pixel] = p;
    } else if constexpr (Kind == Deposit::maximum) {
      if (pixel != pixel_) flush(a);
      pixel_ = pixel;
      most_ = max(most_, bits_of(p));
    } else {
      const float sum = __fmul_rn(p, times);
      if (!(sum < INFINITY)) {
        raise(a, pixel, bits_of(sum));
        return;
      }
      const ExactTerm term(a.sums, sum);
      if (pixel != pixel_ || term.word != word_) flush(a);
      pixel_ = pixel;
      word_ = term.word;
      sum_ += term.value;
    }
  }

  __device__ __forceinline__ void flush(const EntriesArgs& a) {
    if constexpr (Kind == Deposit::maximum) {
      if (most_ != 0) raise(a, pixel_, most_);
      most_ = 0;
    } else if constexpr (Kind == Deposit::sum) {
      if (sum_ != 0) add_exactly(a.sums, pixel_, {word_, sum_});
      sum_ = 0;
    }
  }

 private:
  // For p >= 0, or a NaN: as integers they compare as numbers do, and a NaN above all.
  __device__ static int bits_of(float p) { return __float_as_int(p) & 0x7fffffff; }
  __device__ static void raise(const EntriesArgs& a, Index pixel, int bits) {
    atomicMax(reinterpret_cast<int*>(a.pixels + pixel), bits);
  }

  Index pixel_ = -1;
  int most_ = 0;
  unsigned word_ = 0;
  unsigned long long sum_ = 0;
};

template <Deposit Kind>
class TileEntries {
 public:
  __device__ TileEntries(const EntriesArgs& args, const Reciprocals& reciprocals)
      : a_(args),
        reciprocals_(reciprocals),
        query_tile_(args.queries.tiles[blockIdx.x]),
        shared_(*dynamic_shared<EntriesShared>()),
        q_(reinterpret_cast<float*>(dynamic_shared<char>() + entries_header)),
        k_(q_ + entries_height * padded),
        tx_(static_cast<int>(threadIdx.x) % key_threads),
        ty_(static_cast<int>(threadIdx.x) / key_threads) {}

  __device__ void run() {
    begin();
    KeyIterator iterator = first_keys(query_tile_, a_.queries.lists);
    while (true) {
      __syncthreads();  // all threads have read the slots and the columns
      const KvTile kv_tile = next_kv_tile(iterator, a_.queries.lists, true, shared_.slots);
      if (kv_tile.keys == 0) break;
      __syncthreads();
      if (threadIdx.x < kv_tile_keys)
        shared_.columns[threadIdx.x] = columns_of(static_cast<int>(threadIdx.x));
      float s[rows_per_thread][keys_per_thread] = {};
      for (int column = 0; column < a_.d; column += chunk) {
        if (column > 0) __syncthreads();
        load_rows(q_, a_.operands.q, column, shared_.query_row, entries_height);
        load_rows(k_, a_.operands.k, column, shared_.slots.key_row, kv_tile_keys);
        commit_copies();
        wait_copies<0>();
        __syncthreads();
        accumulate_logits(s, q_, k_, min(chunk, a_.d - column));
      }
      weigh_and_mask(s, a_.operands.log2_scale, a_.queries.lists, shared_.slots, kv_tile,
                     shared_.token);
      if constexpr (Kind != Deposit::entry) transpose(s);
      deposit(s);
    }
#pragma unroll
    for (int i = 0; i < rows_per_thread; ++i) pending_[i].flush(a_);
  }

 private:
  __device__ void begin() {
    const int level = a_.query_level[blockIdx.x];
    for (int r = static_cast<int>(threadIdx.x); r < entries_height; r += block_threads) {
      const bool present = r < query_tile_.row_count;
      const std::int32_t token = present ? cluster_of(query_tile_, a_.tokens, r) : 0;
      shared_.token[r] = token;
      shared_.query_row[r] =
          present ? query_tile_.query_base + ((token >> level) << query_tile_.query_shift) : -1;
      shared_.pixel_row[r] = present ? pixel_row(token) : -1;
      shared_.log2_sum[r] = present ? a_.log2_sum[token] : -INFINITY;
    }
  }

  __device__ std::int32_t pixel_row(std::int32_t token) const {
    if (!a_.drawn)
      return pixel_among(token - a_.grid.row_begin, a_.grid.row_count, a_.grid.rows,
                         reciprocals_.row_count);
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

  // As pixel_of in data/pixels.h.
  __device__ static std::int32_t pixel_among(Index offset, std::int32_t size, std::int32_t pixels,
                                             double reciprocal) {
    if (pixels == size) return static_cast<std::int32_t>(offset);
    return quotient((offset + 1) * pixels - 1, size, reciprocal);
  }

  __device__ KeyColumns columns_of(int slot) const {
    if (shared_.slots.key_row[slot] < 0) return {};
    const int level = shared_.slots.level[slot];
    const Index cluster = shared_.slots.cluster[slot],
                first = max((cluster << level) - a_.grid.col_begin, Index{0}),
                end = min(min((cluster + 1) << level, a_.keys) - a_.grid.col_begin,
                          static_cast<Index>(a_.grid.col_count));
    if (first >= end) return {};
    const auto pixel = [this](Index column) {
      return pixel_among(column, a_.grid.col_count, a_.grid.cols, reciprocals_.col_count);
    };
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(end), pixel(first),
            pixel(end - 1)};
  }

  // The key of s[i][j]. Single entries are stored: those of adjacent threads lie side by side.
  __device__ int slot_of(int j) const {
    return Kind == Deposit::entry ? tx_ + key_threads * j : keys_per_thread * tx_ + j;
  }

  // From keys tx + 8 j to keys 8 tx + j, so that a thread has the keys of a pixel one after the
  // other.
  __device__ void transpose(float (&s)[rows_per_thread][keys_per_thread]) const {
    static_assert(keys_per_thread == key_threads);
#pragma unroll
    for (int i = 0; i < rows_per_thread; ++i)
#pragma unroll
      for (int bit = 1; bit < key_threads; bit *= 2) {
        const bool high = (tx_ & bit) != 0;
#pragma unroll
        for (int j = 0; j < keys_per_thread; ++j) {
          if ((j & bit) != 0) continue;
          const float other = __shfl_xor_sync(0xffffffffu, high ? s[i][j] : s[i][j + bit], bit);
          if (high)
            s[i][j] = other;
          else
            s[i][j + bit] = other;
        }
      }
  }

  // The pixels of a key one after the other: for tokens, only one.
  __device__ void deposit(const float (&s)[rows_per_thread][keys_per_thread]) {
    int pixels = 0;
#pragma unroll
    for (int j = 0; j < keys_per_thread; ++j) {
      const KeyColumns& columns = shared_.columns[slot_of(j)];
      pixels = max(pixels, columns.last_pixel - columns.first_pixel + 1);
    }
#pragma unroll 1
    for (int turn = 0; turn < pixels; ++turn)
#pragma unroll
      for (int j = 0; j < keys_per_thread; ++j) {
        const KeyColumns columns = shared_.columns[slot_of(j)];
        const std::int32_t pixel = columns.first_pixel + turn;
        if (columns.begin == columns.end || pixel > columns.last_pixel) continue;
        const auto times = static_cast<float>(tokens_in(columns, pixel));
#pragma unroll
        for (int i = 0; i < rows_per_thread; ++i) {
          const int r = ty_ + row_threads * i;
          const float total = shared_.log2_sum[r];
          // A pair that the band excludes may belong to another tile.
          if (total == -INFINITY || s[i][j] == -INFINITY) continue;
          const float p = exp2_fast(s[i][j] - total);
          if (p == 0 && Kind != Deposit::entry) continue;  // the grid is 0 already
          pending_[i].add(a_, shared_.pixel_row[r] * a_.stride + pixel, p, times);
        }
      }
  }

  __device__ std::int32_t tokens_in(const KeyColumns& columns, std::int32_t pixel) const {
    if (columns.first_pixel == columns.last_pixel) return columns.end - columns.begin;
    const auto first_of = [this](std::int32_t each) {  // as pixel_begin in data/pixels.h
      return quotient(static_cast<Index>(each) * a_.grid.col_count, a_.grid.cols,
                      reciprocals_.cols);
    };
    return min(first_of(pixel + 1), columns.end) - max(first_of(pixel), columns.begin);
  }

  const EntriesArgs& a_;
  const Reciprocals& reciprocals_;
  const QueryTile query_tile_;
  EntriesShared& shared_;
  float *const q_, *const k_;
  const int tx_, ty_;
  Pending<Kind> pending_[rows_per_thread];
};

template <Deposit Kind>
__global__ void __launch_bounds__(block_threads, entries_at_once)
    entries_kernel(const EntriesArgs args, const Reciprocals reciprocals) {
  TileEntries<Kind>(args, reciprocals).run();
}

}  // namespace

void entries(const EntriesArgs& args, cudaStream_t stream) {
  const auto kernel = args.deposit == Deposit::entry     ? entries_kernel<Deposit::entry>
                      : args.deposit == Deposit::maximum ? entries_kernel<Deposit::maximum>
                                                         : entries_kernel<Deposit::sum>;
  launch(kernel,
         {.grid = dim3(static_cast<unsigned>(args.queries.count)),
          .block = dim3(block_threads),
          .shared_bytes = entries_header + sizeof(float) * padded * (entries_height + kv_tile_keys),
          .stream = stream},
         args,
         Reciprocals{1.0 / args.grid.row_count, 1.0 / args.grid.col_count, 1.0 / args.grid.cols});
}

}  // namespace fovea::cuda
