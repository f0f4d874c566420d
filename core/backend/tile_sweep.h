// A TileSweep runs all passes of BoundTiles over a matrix of values, with one streaming softmax for
// each query. Coarse queries come first: their states are the initial states of their tokens.
#pragma once

#include <atomic>
#include <vector>

#include "backend/bound_tiles.h"
#include "backend/pyramid.h"
#include "backend/query_strip.h"
#include "backend/softmax_state.h"

namespace fovea {

class TileSweep {
 public:
  /// Rows of `values` can be read up to a multiple of 16 columns; without any columns only the sums
  /// are found. All arguments outlive this.
  TileSweep(const BoundTiles& tiles, MatrixView values, Workers& workers, Run& run);

  ~TileSweep();

  struct Result {
    Matrix z;                      // [nq, dv] means of the values; 0 for a query without keys
    std::vector<float> log2_sums;  // [nq] log2 of every row's softmax sum
  };
  Result attend();

 private:
  struct Strip;
  struct Worker;
  /// The data that a strip of a level reads and writes.
  struct Level {
    ClusterRows queries, keys, values;
    const SoftmaxState* parent;
    SoftmaxState& state;
  };

  Index queries() const { return tiles_.lengths().queries; }
  Index keys() const { return tiles_.lengths().keys; }
  ClusterRows values_at(int level) const {
    return level == 0 || values_.cols == 0 ? ClusterRows(values_) : coarse_.level(level);
  }

  void attend_level(int level, const SoftmaxState* parent, SoftmaxState& state);
  void attend_spans(const SoftmaxState* parent);
  /// Returns how many strips it attended.
  Index attend_span(IndexRange tokens, const SoftmaxState* parent, Worker& worker);
  void attend_strip(const BoundPass& bound, const TileGroup& group, const Level& level,
                    Strip& x) const;
  void begin_rows(const BoundPass& bound, const TileGroup& group, const Level& level,
                  Strip& x) const;
  void inherit(IndexRange clusters, const SoftmaxState* parent, SoftmaxState& state) const;
  void divide(IndexRange tokens);
  void count_done(Index strips, int worker);

  const BoundTiles& tiles_;
  MatrixView values_;
  Workers& workers_;
  Run& run_;
  Pyramid coarse_;  // of the values, with the levels of the keys
  std::vector<Worker> threads_;
  SoftmaxState tokens_;
  std::vector<float> log2_sums_;
  Index strips_ = 0;
  std::atomic<Index> done_ = 0;
};

}  // namespace fovea
