// A DenseSweep reads all the keys that some queries may attend, once: it finds their softmax sums,
// their rows of Z, and P pooled to pixels in passing. It is for plans of one tile in sequence
// order, such as that of exact attention, in which each query can be evaluated alone.
#pragma once

#include <span>
#include <vector>

#include "backend/bound_tiles.h"
#include "backend/query_strip.h"

namespace fovea {

class DenseSweep {
 public:
  struct Request {
    std::span<const std::int32_t> queries = {};  // any, in any order
    // [nk, dv], rows readable up to a multiple of 16; without columns Z is not computed.
    MatrixView values = {};
    std::span<const Index> map_rows = {}, map_cols = {};
  };
  struct Found {
    std::vector<float> log2_sums;  // [queries] log2 of the softmax sum; -inf without keys
    Matrix z;                      // [queries, dv]
    Matrix most, mean;             // P pooled: max; mean
  };

  /// All arguments outlive this. `tiles` are dense.
  DenseSweep(const BoundTiles& tiles, const Request& request, Workers& workers, Run& run);
  ~DenseSweep();

  /// Sums and Z are the same bits whatever other queries are chosen. Maxima are entries of P; means
  /// come from sums in float32 along a pixel's row.
  Found attend();

 private:
  class Worker;

  void cut_turns();

  const BoundTiles& tiles_;
  const Request& request_;
  Workers& workers_;
  Run& run_;
  std::vector<IndexRange> turns_;  // of map rows, or of queries: one thread takes each
  Found found_;
};

}  // namespace fovea
