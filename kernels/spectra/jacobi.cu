#include "device/launch.h"
#include "ptx.h"
#include "spectra/jacobi.h"

namespace fovea::cuda {
namespace {

// Threads that rotate one pair of vectors.
constexpr int team = 8;

// What depends on the precision.
template <class T>
struct Tolerances;
template <>
struct Tolerances<float> {
  // Vectors count as orthogonal below this cosine: the rounding error of dot products of 64 terms.
  static constexpr float cosine = 0x1p-21f;
  // Squares of vectors so far below the entries' size, 1, are negligible, and may be inexact.
  static constexpr float nothing = 1e-30f;
};
template <>
struct Tolerances<double> {
  static constexpr double cosine = 0x1p-50;
  static constexpr double nothing = 1e-60;
};
// At most so many sweeps. Usually 6 to 10 are enough, since convergence is quadratic in the end.
constexpr int most_sweeps = 24;

template <class T>
__device__ bool is_finite(T x) {
  return x - x == 0;
}

template <class T>
__device__ T team_sum(T x) {
  for (int flip = 1; flip < team; flip *= 2) x += __shfl_xor_sync(0xffffffffu, x, flip);
  return x;
}

// The matrix is held as `count` vectors of `length` entries: its rows or its columns, whichever are
// fewer. Teams of threads rotate pairs of them until all are orthogonal; their norms are then the
// singular values. (Hestenes 1958; the larger of a pair comes first, as in de Rijk 1989.) Bound by
// reads of shared memory. Threads, registers, shared memory, blocks on a multiprocessor:
//   float,  16 a side:  64, 39,  2 KiB, 25
//   float,  32 a side: 128, 39,  5 KiB, 12
//   float,  64 a side: 256, 44, 18 KiB,  5
//   double, 64 a side: 256, 76, 37 KiB,  3
template <class T, int Side>
class Jacobi {
 public:
  static constexpr int teams = Side / 2;
  static constexpr int threads = teams * team;
  // Adjacent vectors start 8 banks apart, so teams of a warp have no bank conflicts.
  static constexpr int stride = Side + 8;

  struct Shared {
    T vectors[Side * stride];
    T norms[Side];
    int largest, rotated;
  };

  __device__ Jacobi(Shared& shared, const SmallBlock& block)
      : shared_(shared),
        block_(block),
        lane_(static_cast<int>(threadIdx.x) % team),
        team_(static_cast<int>(threadIdx.x) / team),
        count_(min(block.rows, block.cols)),
        length_(max(block.rows, block.cols)) {}

  __device__ void run(const T* entries, float* values, bool gram) {
    load(entries);
    if (shared_.largest >= infinite) {
      if (thread() < count_) values[block_.values + thread()] = NAN;
      return;
    }
    orthogonalise();
    write(values, gram);
  }

 private:
  // Exponents of entries, shifted to be positive; 0 if all entries are 0.
  static constexpr int shift = 2000, infinite = 1 << 20;

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // Entries are scaled by a power of two so that the largest is in [1, 2): then squares neither
  // overflow nor underflow.
  __device__ void load(const T* entries) {
    if (thread() == 0) shared_.largest = 0;
    __syncthreads();
    const bool by_rows = block_.rows <= block_.cols;
    int largest = 0;
    for (int at = thread(); at < Side * Side; at += threads) {
      const int row = at / Side, col = at % Side;
      T x = 0;
      if (row < block_.rows && col < block_.cols)
        x = entries[block_.entries + static_cast<std::int64_t>(row) * block_.stride + col];
      shared_.vectors[by_rows ? row * stride + col : col * stride + row] = x;
      if (!is_finite(x))
        largest = infinite;
      else if (x != 0)
        largest = max(largest, ilogb(x) + shift);
    }
    atomicMax(&shared_.largest, largest);
    __syncthreads();
    if (shared_.largest == 0 || shared_.largest >= infinite) return;
    for (int at = thread(); at < Side * Side; at += threads) {
      T& x = shared_.vectors[at / Side * stride + at % Side];
      x = scalbn(x, shift - shared_.largest);
    }
    __syncthreads();
  }

  __device__ void orthogonalise() {
    const int players = count_ + count_ % 2;
    if (thread() == 0) shared_.rotated = 0;
    __syncthreads();
    for (int sweep = 1; sweep <= most_sweeps; ++sweep) {
      for (int round = 0; round + 1 < players; ++round) {
        const int a = player(team_, round, players),
                  b = player(players - 1 - team_, round, players);
        const bool present = 2 * team_ < players;
        const bool rotated = rotate(present ? min(a, b) : 0, present ? max(a, b) : 0, present);
        if (rotated && lane_ == 0) atomicMax(&shared_.rotated, sweep);
        __syncthreads();
      }
      const bool done = shared_.rotated < sweep;
      __syncthreads();
      if (done) break;
    }
  }

  // A round-robin tournament: player 0 stays, the others move on by one place each round.
  __device__ static int player(int chair, int round, int players) {
    return chair == 0 ? 0 : 1 + (chair - 1 + round) % (players - 1);
  }

  // All threads of a warp come here. Those without a pair change nothing.
  __device__ bool rotate(int a, int b, bool present) {
    constexpr int own = Side / team;
    T x[own], y[own], xx = 0, yy = 0, xy = 0;
    T *const first = shared_.vectors + a * stride + lane_, *const second =
                                                               shared_.vectors + b * stride + lane_;
#pragma unroll
    for (int i = 0; i < own; ++i) {
      x[i] = present ? first[i * team] : T{0};
      y[i] = present ? second[i * team] : T{0};
      xx += x[i] * x[i];
      yy += y[i] * y[i];
      xy += x[i] * y[i];
    }
    xx = team_sum(xx);
    yy = team_sum(yy);
    xy = team_sum(xy);
    const bool small = min(xx, yy) <= Tolerances<T>::nothing ||
                       fabs(xy) <= Tolerances<T>::cosine * sqrt(xx) * sqrt(yy);
    if (small && xx >= yy) return false;
    T sine = 0, half = 0;  // half: tangent of half the angle
    if (!small) {
      const T zeta = (yy - xx) / (2 * xy);
      const T tangent = copysign(T{1}, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
      const T cosine = 1 / sqrt(1 + tangent * tangent);
      sine = cosine * tangent;
      half = sine / (1 + cosine);
    }
    // The rotation leaves the larger vector larger, up to rounding.
    const bool swap = xx < yy;
#pragma unroll
    for (int i = 0; i < own; ++i) {
      // As corrections: rounding of the cosine would shorten all vectors a little every time.
      const T u = x[i] - sine * (y[i] + half * x[i]), v = y[i] + sine * (x[i] - half * y[i]);
      first[i * team] = swap ? v : u;
      second[i * team] = swap ? u : v;
    }
    return !small;
  }

  __device__ void write(float* values, bool gram) {
    for (int vector = team_; vector < Side; vector += teams) {
      T sum = 0;
      for (int e = lane_; e < Side; e += team) {
        const T x = shared_.vectors[vector * stride + e];
        sum += x * x;
      }
      sum = team_sum(sum);
      if (lane_ == 0) shared_.norms[vector] = sqrt(sum);
    }
    __syncthreads();
    if (thread() >= count_) return;
    const T own = shared_.norms[thread()];
    int place = 0;
    for (int other = 0; other < count_; ++other) {
      const T norm = shared_.norms[other];
      place += norm > own || (norm == own && other < thread());
    }
    T value = shared_.largest == 0 ? T{0} : scalbn(own, shared_.largest - shift);
    if (gram) value = sqrt(value);
    values[block_.values + place] = static_cast<float>(value);
  }

  Shared& shared_;
  const SmallBlock block_;
  const int lane_, team_, count_, length_;
};

template <class T, int Side>
__global__ void __launch_bounds__((Jacobi<T, Side>::threads))
    jacobi_kernel(const SmallBlock* blocks, const T* entries, float* values, bool gram) {
  auto& shared = *dynamic_shared<typename Jacobi<T, Side>::Shared>();
  const SmallBlock& block = blocks[blockIdx.x];
  if (block.rows > 0) Jacobi<T, Side>(shared, block).run(entries, values, gram);
}

template <class T, int Side>
void launch_jacobi(const SmallBlocks& blocks, const T* entries, float* values, bool gram,
                   cudaStream_t stream) {
  launch(jacobi_kernel<T, Side>,
         {.grid = dim3(static_cast<unsigned>(blocks.count)),
          .block = dim3(Jacobi<T, Side>::threads),
          .shared_bytes = sizeof(typename Jacobi<T, Side>::Shared),
          .stream = stream},
         blocks.blocks, entries, values, gram);
}

}  // namespace

void jacobi(const SmallBlocks& blocks, const float* entries, float* values, cudaStream_t stream) {
  if (blocks.side <= 16)
    launch_jacobi<float, 16>(blocks, entries, values, false, stream);
  else if (blocks.side <= 32)
    launch_jacobi<float, 32>(blocks, entries, values, false, stream);
  else if (blocks.side <= 64)
    launch_jacobi<float, 64>(blocks, entries, values, false, stream);
  else
    refuse("singular values of blocks with " + std::to_string(blocks.side) + " rows");
}

void jacobi_of_gram(const SmallBlocks& blocks, const double* entries, float* values,
                    cudaStream_t stream) {
  launch_jacobi<double, 64>(blocks, entries, values, true, stream);
}

}  // namespace fovea::cuda
