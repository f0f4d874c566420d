// A Support knows which keys each query attends: the pairs to which a Plan gives weight, row by
// row.
#pragma once

#include <algorithm>
#include <stop_token>
#include <vector>

#include "plan/plan.h"

namespace fovea {

/// One side of a Pass: positions, the clusters they name and the tokens of those.
class Side {
 public:
  Side(const std::vector<std::int32_t>& order, int level, Index n);

  bool identity() const { return order_->empty(); }
  Index size() const {
    return identity() ? clusters(n_, level_) : static_cast<Index>(order_->size());
  }
  const std::int32_t* order() const { return order_->data(); }  // [size()], not of the identity
  /// Whether the clusters at the positions ascend, in O(1). They do in a leaf, in a residue class
  /// and in the identity.
  bool ascending(IndexRange positions) const;
  int level() const { return level_; }
  Index cluster(Index position) const { return identity() ? position : (*order_)[position]; }
  IndexRange tokens(Index position) const { return cluster_tokens(cluster(position), level_, n_); }
  /// Tokens at all the positions.
  Index token_count(IndexRange positions) const;
  /// The positions whose tokens may lie in `tokens`; exact when they ascend.
  IndexRange near(IndexRange positions, IndexRange tokens) const;
  /// The tokens at the positions, within `view`, as ascending disjoint ranges.
  std::vector<IndexRange> runs(IndexRange positions, IndexRange view) const;

 private:
  const std::vector<std::int32_t>* order_;
  int level_;
  Index n_;
  std::vector<std::int32_t> descents_;  // [p]: how often the order descends up to position p
};

/// Number of (i, j) in rows x cols that the band counts, in O(1).
double pairs_in_band(IndexRange rows, IndexRange cols, const Band& band);

/// Keys that exact attention gives to a query, and all its pairs.
Index admissible_keys(const Plan& plan, Index query, IndexRange keys);
inline Index admissible_keys(const Plan& plan, Index query) {
  return admissible_keys(plan, query, {0, plan.keys()});
}
double admissible_pairs(const Plan& plan);
bool is_admissible(const Plan& plan, Index query, Index key);
/// Every pair in the band of the plan, in one tile.
Pass pass_of_all_pairs(const Plan& plan);
/// The plan of the same head that evaluates every admissible pair.
Plan plan_of_admissible(const Plan& plan);

/// Whether a tile has a band. Bands are on tokens, so a tile of clusters has none.
inline bool is_banded(const Pass& pass, const Tile& tile) {
  return pass.query_level == 0 && pass.key_level == 0 && !tile.band.everything();
}

class Support {
 public:
  /// The plan must outlive it. O(tiles + positions).
  explicit Support(const Plan& plan);

  /// Some keys that a query attends: adjacent tokens, all owned by `column` (a position) of the
  /// tile, or, for an identity order of single tokens, by the columns from `column` on.
  struct Part {
    IndexRange keys;
    const Pass* pass;
    std::size_t tile;
    Index column;
    /// The weight of a pair: 1, or that of the sampled key, divided among the tokens of its
    /// cluster.
    float weight(Index key_count) const;
  };

  /// Calls use(Part) for all keys of `keys` that `query` attends, each once.
  template <class Use>
  void for_parts(Index query, IndexRange keys, Use use) const;

  /// |S_i|.
  Index count(Index query) const;
  /// Sum of |S_i|: the pairs (i, j) with weight.
  double pairs(const std::stop_token& stop = {}) const;
  /// Whether every pair of exact attention has weight.
  bool complete(const std::stop_token& stop = {}) const;
  const Plan& plan() const { return *plan_; }

  /// One pass with its sides, and which tiles cover a row position.
  struct Layer {
    const Pass* pass;
    Side rows, cols;
    std::vector<std::int32_t> position;  // cluster -> row position, -1 none; empty means identity
    struct Group {
      IndexRange rows;
      std::size_t first, last;  // tiles [first, last)
    };
    std::vector<Group> groups;       // ascending, disjoint rows
    std::vector<Index> tile_tokens;  // keys of each tile, without regard to its band
    const Group* group_of(Index query) const;
  };
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  const Plan* plan_;
  Pass own_;  // the support of a plan that is not tiles of tokens, written as tiles
  std::vector<Layer> layers_;
};

template <class Use>
void Support::for_parts(Index query, IndexRange keys, Use use) const {
  for (const Layer& layer : layers_) {
    const auto* group = layer.group_of(query);
    if (!group) continue;
    for (std::size_t t = group->first; t < group->last; ++t) {
      const Tile& tile = layer.pass->tiles[t];
      const IndexRange view =
          is_banded(*layer.pass, tile) ? keys.intersected(tile.band.keys(query)) : keys;
      if (view.size() <= 0) continue;
      const IndexRange near = layer.cols.near(tile.cols, view);
      if (near.size() <= 0) continue;
      if (layer.cols.identity() && layer.cols.level() == 0) {
        if (!plan_->mask) {
          use(Part{near, layer.pass, t, near.begin});
          continue;
        }
        for (IndexRange run = plan_->mask->next_run(query, near); run.size() > 0;
             run = plan_->mask->next_run(query, {run.end, near.end}))
          use(Part{run, layer.pass, t, run.begin});
        continue;
      }
      for (Index p = near.begin; p < near.end; ++p) {
        const IndexRange part = layer.cols.tokens(p).intersected(view);
        if (part.size() > 0 && !layer.pass->leaves_out(query, part.begin) &&
            (!plan_->mask || plan_->mask->admits(query, part.begin)))
          use(Part{part, layer.pass, t, p});
      }
    }
  }
}

}  // namespace fovea
