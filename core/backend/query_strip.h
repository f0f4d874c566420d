// A QueryStrip is up to 192 queries that go through their keys together: the memory of one thread,
// and the steps of at most 96 keys in which logits are made.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/bound_tiles.h"
#include "backend/strip_conditions.h"
#include "data/error.h"

namespace fovea {

class QueryStrip {
 public:
  explicit QueryStrip(const BoundTiles& tiles);

  // The queries: filled by the caller, then `pack`ed.
  int count = 0;
  const float* row[isa::max_lanes] = {};
  alignas(64) std::int32_t lane_token[isa::max_lanes] = {};

  // A step: keys that `for_steps` chose, and their logits [key][lane] in log2 units.
  int keys = 0;
  Index column[isa::max_keys] = {};     // cluster of each key
  const isa::KeyRange* live = nullptr;  // all others are masked; null means any key may count
  std::vector<float, AlignedAllocator<float>> s;

  int lanes() const { return lanes_; }
  const isa::Loops& loops() const { return *loops_; }

  /// Prepares the queries. Lanes beyond `count` are copies, which are ignored.
  void pack();

  /// Calls `use()` for every step of the pass's runs [group.first, group.last), logits weighted by
  /// `log2_weight` (may be empty) and masked. `rows`: of the keys of the pass's level. Keys outside
  /// `tokens` are left out.
  template <class Use>
  void for_steps(const BoundPass& bound, const TileGroup& group, const ClusterRows& rows,
                 IndexRange tokens, const std::vector<float>& log2_weight,
                 const std::stop_token& stop, Use use) {
    keys = 0;
    find_lane_chunks(*bound.pass);
    conditions_.begin(*loops_, lane_token, count, lanes_);
    skips_ = conditions_.skips() && bound.pass->cols.empty() && bound.pass->key_level == 0 &&
             !tiles_.dense();
    for (std::size_t t = group.first; t < group.last; ++t) {
      const KeyRun& run = bound.runs[t];
      if (keys > 0 && run.band != band_) finish_step(log2_weight, stop, use);
      band_ = run.band;
      const IndexRange cols = columns_of(bound, t, tokens);
      if (skips_) conditions_.find_attended(cols);
      for (Index p = cols.begin; p < cols.end;) {
        p = fill(bound, {p, cols.end}, rows, tokens, log2_weight);
        if (keys == isa::max_keys) finish_step(log2_weight, stop, use);
      }
    }
    if (keys > 0) finish_step(log2_weight, stop, use);
  }

 private:
  template <class Use>
  void finish_step(const std::vector<float>& log2_weight, const std::stop_token& stop, Use& use) {
    if (stop.stop_requested()) throw Cancelled();
    const Excluded band = excluded_by_band(), mask = excluded_by_mask();
    if (band != Excluded::all && mask != Excluded::all) {
      make_logits(!log2_weight.empty(), band == Excluded::some, mask == Excluded::some);
      use();
    }
    keys = 0;
  }

  /// Column positions of run t that can count; all of them if the columns are in no order.
  IndexRange columns_of(const BoundPass& bound, std::size_t t, IndexRange tokens) const;
  /// Takes columns until the step is full; returns the first that was not examined.
  Index fill(const BoundPass& bound, IndexRange cols, const ClusterRows& rows, IndexRange tokens,
             const std::vector<float>& log2_weight);
  Excluded excluded_by_band() const;
  Excluded excluded_by_mask() const;
  void find_live_keys();
  void make_logits(bool weighted, bool banded, bool masked);
  /// The chunks of the queries in the rounds before this pass, and of the keys of a step.
  void find_lane_chunks(const Pass& pass);
  void leave_out();

  const BoundTiles& tiles_;
  const isa::Loops* loops_ = nullptr;
  int lanes_ = 0;
  IndexRange lane_tokens_;  // least and greatest token, both inclusive
  Band band_;
  std::vector<float, AlignedAllocator<float>> packed_, copies_;
  alignas(64) std::int32_t key_token_[isa::max_keys] = {};
  const float* key_[isa::max_keys] = {};
  float weight_[isa::max_keys] = {};
  isa::KeyRange live_[isa::max_lanes / isa::range_lanes] = {};
  const Pass* pass_ = nullptr;
  StripConditions conditions_;
  // Whether keys that no query of the strip attends have no place in a step. The steps of dense
  // tiles are the same for a query alone as for it with others.
  bool skips_ = false;
  std::vector<std::int32_t> lane_chunk_, key_chunk_;                 // [rounds] of all lanes, keys
  std::vector<const std::int32_t*> lane_chunks_of_, key_chunks_of_;  // [rounds] where each begins
};

}  // namespace fovea
