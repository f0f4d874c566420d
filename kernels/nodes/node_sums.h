// Sums of values over tree nodes: over whole nodes, from the leaves up, and, with a causal mask,
// over the first keys of each node. All sums are taken in double, in an order that the plan fixes.
#pragma once

#include <cuda_runtime.h>

#include "plan/node_slots.h"

namespace fovea::cuda {

template <class Number>
struct SumArgs {
  const Number* rows = nullptr;  // `columns` of them, `stride` numbers apart
  int stride = 0, columns = 0;
  const std::int32_t* order = nullptr;  // position -> row; null means the position itself
  const Range32* ranges = nullptr;      // of positions
  std::int32_t count = 0;               // of ranges
  bool many_rows = false;               // ranges are so long that several threads share each
  double* sums = nullptr;               // [count, columns]
};

void sum_ranges(const SumArgs<float>& args, cudaStream_t stream);
void sum_ranges(const SumArgs<double>& args, cudaStream_t stream);

/// Turns the sums of the slots of a depth into the sums along the paths from the root to them, each
/// node's times alpha / its number of keys. The depth above must be done.
struct DescendArgs {
  double* sums = nullptr;  // [slots, stride]
  int stride = 0;
  Range32 slots;  // those of the depth
  const Range32* keys = nullptr;
  const std::int32_t* parent = nullptr;
  float alpha = 0;
};

void descend(const DescendArgs& args, cudaStream_t stream);

/// z[i] = rows[row[i]].
struct LookUpArgs {
  const double* rows = nullptr;
  int stride = 0;
  const std::int32_t* row = nullptr;  // [nq]
  std::int32_t n = 0;                 // nq
  float* z = nullptr;
};

void look_up(const LookUpArgs& args, cudaStream_t stream);

/// Turns the sum of each piece into the sum of the pieces before it in its slot.
struct CarryArgs {
  double* sums = nullptr;  // [pieces, columns]
  int columns = 0;
  const Range32* pieces = nullptr;  // of each slot
  std::int32_t slots = 0;
};

void carry(const CarryArgs& args, cudaStream_t stream);

/// running[p] = sum of the values of p's node up to p.
struct RunningArgs {
  const float* values = nullptr;  // `columns` of them, `stride` numbers apart
  int stride = 0, columns = 0;
  const std::int32_t* order = nullptr;
  const Range32* pieces = nullptr;  // of positions
  std::int32_t count = 0;
  const double* before = nullptr;  // [count, columns] by carry
  float* running = nullptr;        // [positions, columns]
};

void run_sums(const RunningArgs& args, cudaStream_t stream);

/// z[i] = the sum over all depths of alpha / count times the running sum over the first `count`
/// keys of query i's node. Depths with alpha = 0 are not read.
struct PrefixArgs {
  const float* running = nullptr;  // [depths, nk, columns]
  int columns = 0, depths = 0;
  std::int32_t queries = 0, keys_in_all = 0;
  const Range32* keys = nullptr;        // of the slots
  const std::int32_t* slot = nullptr;   // [depths, nq], as in QueryNodes
  const std::int32_t* count = nullptr;  // [depths, nq]
  const float* alpha = nullptr;         // [depths]
  float* z = nullptr;                   // [nq] rows, z_stride numbers apart
  int z_stride = 0;
};

void look_up_prefixes(const PrefixArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
