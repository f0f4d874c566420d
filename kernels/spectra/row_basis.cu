#include "device/launch.h"
#include "ptx.h"
#include "spectra/row_basis.h"

namespace fovea::cuda {
namespace {

constexpr int basis_threads = 256, basis_warps = basis_threads / 32;
// Rows that a warp projects at once, so that they share its reads of the basis.
constexpr int rows_per_warp = 4;
constexpr int rows_per_tile = basis_warps * rows_per_warp;

__device__ int warp() {
  return static_cast<int>(threadIdx.x) / 32;
}
__device__ int lane() {
  return static_cast<int>(threadIdx.x) % 32;
}

__device__ double warp_sum(double x) {
  for (int flip = 1; flip < 32; flip *= 2) x += __shfl_xor_sync(0xffffffffu, x, flip);
  return x;
}

// Warp-wide; valid in all lanes.
template <class A, class B>
__device__ double dot(const A* a, const B* b, int count) {
  double sum = 0;
  for (int i = lane(); i < count; i += 32)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return warp_sum(sum);
}

// 32 registers, eight blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(basis_threads) begin_kernel(const RowBasisArgs a) {
  const LargeBlock& block = a.blocks[blockIdx.y];
  const int row = static_cast<int>(blockIdx.x) * basis_warps + warp();
  if (row == 0 && lane() == 0) a.progress[blockIdx.y].state = BasisState::growing;
  if (row >= block.rows) return;
  const float* entries = a.entries + block.entries + static_cast<std::int64_t>(row) * block.cols;
  const double squares = dot(entries, entries, block.cols);
  if (lane() == 0) a.workspace[block.rest + row] = squares;
}

struct ExtendShared {
  double sum[basis_threads], largest[basis_threads];
  int row[basis_threads];
  double again[most_rank];  // the part of the basis that rounding left in the new row
};
constexpr std::size_t extend_header = (sizeof(ExtendShared) + 15) / 16 * 16;

// One block of threads finds the next row of one basis.
class Extension {
 public:
  __device__ Extension(const RowBasisArgs& args, int step)
      : a_(args),
        block_(args.blocks[blockIdx.x]),
        progress_(args.progress[blockIdx.x]),
        step_(step),
        shared_(*dynamic_shared<ExtendShared>()),
        next_(reinterpret_cast<double*>(dynamic_shared<char>() + extend_header)) {}

  __device__ void run() {
    if (progress_.state != BasisState::growing) return;
    find_largest_rest();
    __syncthreads();
    if (thread() == 0) judge(shared_.sum[0]);
    __syncthreads();
    if (progress_.state != BasisState::growing) return;
    take_row(shared_.row[0]);
    orthogonalise_again();
    normalise();
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // Sum and largest of `rest`: at place 0 after a barrier.
  __device__ void find_largest_rest() {
    double sum = 0, largest = -1;
    int row = 0;
    for (int i = thread(); i < block_.rows; i += basis_threads) {
      const double rest = a_.workspace[block_.rest + i];
      sum += rest;
      if (rest > largest) {
        largest = rest;
        row = i;
      }
    }
    shared_.sum[thread()] = sum;
    shared_.largest[thread()] = largest;
    shared_.row[thread()] = row;
    for (int half = basis_threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread() >= half) continue;
      shared_.sum[thread()] += shared_.sum[thread() + half];
      if (shared_.largest[thread() + half] > shared_.largest[thread()]) {
        shared_.largest[thread()] = shared_.largest[thread() + half];
        shared_.row[thread()] = shared_.row[thread() + half];
      }
    }
  }

  __device__ void judge(double left) {
    if (step_ == 0) progress_.total = left;
    progress_.left = left;
    progress_.rank = step_;
    progress_.pivot = shared_.row[0];
    if (left - left != 0)
      progress_.state = BasisState::not_finite;
    else if (left <= a_.enough * progress_.total)
      progress_.state = BasisState::complete;
    else if (step_ == most_rank)
      progress_.state = BasisState::rank_too_high;
  }

  // The part of the row that the basis does not span; its coefficients are known.
  __device__ void take_row(int row) {
    const float* entries =
        a_.entries + block_.entries + static_cast<std::int64_t>(row) * block_.cols;
    for (int c = thread(); c < block_.cols; c += basis_threads) {
      double x = static_cast<double>(entries[c]);
      for (int k = 0; k < step_; ++k)
        x -= a_.workspace[block_.coefficients + k * block_.rows + row] *
             a_.workspace[block_.basis + k * block_.cols + c];
      next_[c] = x;
    }
    __syncthreads();
  }

  // Rounding left a part in the basis that may be large beside a small rest. Twice is enough.
  __device__ void orthogonalise_again() {
    for (int k = warp(); k < step_; k += basis_warps) {
      const double share = dot(a_.workspace + block_.basis + k * block_.cols, next_, block_.cols);
      if (lane() == 0) shared_.again[k] = share;
    }
    __syncthreads();
    for (int c = thread(); c < block_.cols; c += basis_threads) {
      double x = next_[c];
      for (int k = 0; k < step_; ++k)
        x -= shared_.again[k] * a_.workspace[block_.basis + k * block_.cols + c];
      next_[c] = x;
    }
    __syncthreads();
  }

  __device__ void normalise() {
    const double squares = dot(next_, next_, block_.cols);
    const double factor = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int c = thread(); c < block_.cols; c += basis_threads)
      a_.workspace[block_.basis + step_ * block_.cols + c] = factor * next_[c];
  }

  const RowBasisArgs& a_;
  const LargeBlock& block_;
  BasisProgress& progress_;
  const int step_;
  ExtendShared& shared_;
  double* const next_;  // [cols]
};

// 40 registers, 8 bytes of shared memory for every column, up to six blocks on a multiprocessor.
// Bound by latency: sums over a row, one after the other.
__global__ void __launch_bounds__(basis_threads) extend_kernel(const RowBasisArgs args, int step) {
  Extension(args, step).run();
}

// Coefficients of all rows for the new row of the basis.
// 64 registers, four blocks on a multiprocessor. Bound by memory: every row is read once.
__global__ void __launch_bounds__(basis_threads) project_kernel(const RowBasisArgs a, int step) {
  const BasisProgress& progress = a.progress[blockIdx.y];
  if (progress.state != BasisState::growing) return;
  const LargeBlock& block = a.blocks[blockIdx.y];
  const int first = static_cast<int>(blockIdx.x) * rows_per_tile + warp() * rows_per_warp;
  if (first >= block.rows) return;
  const double* direction = a.workspace + block.basis + step * block.cols;
  const float* rows[rows_per_warp];
  double sums[rows_per_warp] = {};
#pragma unroll
  for (int r = 0; r < rows_per_warp; ++r)  // the last row stands for those beyond it
    rows[r] = a.entries + block.entries +
              static_cast<std::int64_t>(min(first + r, block.rows - 1)) * block.cols;
  for (int c = lane(); c < block.cols; c += 32) {
    const double q = direction[c];
#pragma unroll
    for (int r = 0; r < rows_per_warp; ++r) sums[r] += q * static_cast<double>(rows[r][c]);
  }
#pragma unroll
  for (int r = 0; r < rows_per_warp; ++r) {
    const double c = warp_sum(sums[r]);
    if (lane() != 0 || first + r >= block.rows) continue;
    double& rest = a.workspace[block.rest + first + r];
    a.workspace[block.coefficients + step * block.rows + first + r] = c;
    rest = first + r == progress.pivot ? 0 : max(rest - c * c, 0.0);
  }
}

// One row of a Gram matrix.
// 64 registers, four blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(basis_threads)
    gram_kernel(const RowBasisArgs a, double* gram, SmallBlock* small) {
  const LargeBlock& block = a.blocks[blockIdx.y];
  const BasisProgress& progress = a.progress[blockIdx.y];
  const int rank = progress.state == BasisState::complete ? progress.rank : 0;
  const int row = static_cast<int>(blockIdx.x);
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.y) * most_rank;
  if (row == 0 && threadIdx.x == 0)
    small[blockIdx.y] = {
        .entries = at * most_rank, .rows = rank, .cols = rank, .stride = most_rank, .values = at};
  if (row >= rank) return;
  const double* c = a.workspace + block.coefficients;
  for (int col = warp(); col < rank; col += basis_warps) {
    const double product = dot(c + row * block.rows, c + col * block.rows, block.rows);
    if (lane() == 0) gram[(at + row) * most_rank + col] = product;
  }
}

dim3 tiles(const RowBasisArgs& args, int rows) {
  return dim3(static_cast<unsigned>((args.rows + rows - 1) / rows),
              static_cast<unsigned>(args.count));
}

}  // namespace

void begin_basis(const RowBasisArgs& args, cudaStream_t stream) {
  launch(begin_kernel,
         {.grid = tiles(args, basis_warps), .block = dim3(basis_threads), .stream = stream}, args);
}

void extend_basis(const RowBasisArgs& args, int step, cudaStream_t stream) {
  launch(extend_kernel,
         {.grid = dim3(static_cast<unsigned>(args.count)),
          .block = dim3(basis_threads),
          .shared_bytes = extend_header + sizeof(double) * static_cast<std::size_t>(args.cols),
          .stream = stream},
         args, step);
  if (step < most_rank)
    launch(project_kernel,
           {.grid = tiles(args, rows_per_tile), .block = dim3(basis_threads), .stream = stream},
           args, step);
}

void gram_of_coefficients(const RowBasisArgs& args, double* gram, SmallBlock* small,
                          cudaStream_t stream) {
  launch(gram_kernel,
         {.grid = dim3(most_rank, static_cast<unsigned>(args.count)),
          .block = dim3(basis_threads),
          .stream = stream},
         args, gram, small);
}

}  // namespace fovea::cuda
