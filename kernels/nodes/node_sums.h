// Sums of values over tree nodes: of whole nodes from the leaves up, and, under a causal mask, of
// the first keys of every node. All sums are taken in double, in an order that the plan fixes.
#pragma once

#include <cuda_runtime.h>

#include "nodes/node_slots.h"

namespace fovea::cuda {

/// Rows of all arrays are `stride` numbers apart.
template <class Number>
struct SumArgs {
  const Number* rows = nullptr;
  int stride = 0;
  const std::int32_t* order = nullptr;  // position -> row; null: the position itself
  const Range* ranges = nullptr;        // of positions
  std::int32_t count = 0;               // of ranges
  bool many_rows = false;               // a range has so many that several threads share it
  double* sums = nullptr;               // [count, stride]
};

void sum_ranges(const SumArgs<float>& args, cudaStream_t stream);
void sum_ranges(const SumArgs<double>& args, cudaStream_t stream);

/// The sums of the slots of a depth become those along the paths down to them, each node's times
/// alpha / its keys. The depth above has gone before.
struct DescendArgs {
  double* sums = nullptr;  // [slots, stride]
  int stride = 0;
  Range slots;  // those of the depth
  const Range* keys = nullptr;
  const std::int32_t* parent = nullptr;
  float alpha = 0;
};

void descend(const DescendArgs& args, cudaStream_t stream);

/// z[i] = rows[row[i]].
struct LookUpArgs {
  const double* rows = nullptr;
  int stride = 0;
  const std::int32_t* row = nullptr;  // [n]
  std::int32_t n = 0;
  float* z = nullptr;
};

void look_up(const LookUpArgs& args, cudaStream_t stream);

/// The sum of every piece becomes that of the pieces before it in its slot.
struct CarryArgs {
  double* sums = nullptr;  // [pieces, stride]
  int stride = 0;
  const Range* pieces = nullptr;  // of each slot
  std::int32_t slots = 0;
};

void carry(const CarryArgs& args, cudaStream_t stream);

/// running[p] = sum of the values of p's node up to p.
struct RunningArgs {
  const float* values = nullptr;
  int stride = 0;
  const std::int32_t* order = nullptr;
  const Range* pieces = nullptr;  // of positions
  std::int32_t count = 0;
  const double* before = nullptr;  // [count, stride] by carry; null: every node is one piece
  float* running = nullptr;        // [n, stride]
};

void run_sums(const RunningArgs& args, cudaStream_t stream);

/// Adds one depth to z: alpha / count times the running sum over the first `count` keys of the
/// query's node.
struct AddDepthArgs {
  const float* running = nullptr;
  int stride = 0;
  std::int32_t n = 0;
  const Range* keys = nullptr;          // of the slots
  const std::int32_t* slot = nullptr;   // [n], as in QueryNodes
  const std::int32_t* count = nullptr;  // [n]
  float alpha = 0;
  bool first = false, last = false;  // depths: nothing in total yet; z is written
  double* total = nullptr;           // [n, stride]
  float* z = nullptr;                // [n, stride]
};

void add_depth(const AddDepthArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
