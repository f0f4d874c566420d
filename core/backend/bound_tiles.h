// BoundTiles is a TilePlan made ready for the CPU: its tiles cut into strips, its weights in log2,
// the token pyramids of queries and keys.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/isa/attend.h"
#include "backend/profile.h"
#include "backend/pyramid.h"
#include "backend/workers.h"
#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

/// Tiles [first, last) of a pass over the same row positions: their columns follow one another in
/// one softmax.
struct TileGroup {
  IndexRange rows;
  std::size_t first = 0, last = 0;
};

struct BoundPass {
  const Pass* pass = nullptr;
  std::vector<TileGroup> groups;        // by ascending rows
  std::vector<TileGroup> strips;        // the groups cut into at most 192 rows
  std::vector<float> log2_weight;       // per column position; empty: all 0
  std::vector<float> log2_pair_weight;  // the same per fine pair, for entries of P
  std::vector<bool> ascending;          // per tile with a band: its columns; empty: identity
  std::vector<std::int32_t> position;   // cluster -> row position, -1: none; empty: identity

  Index row(Index p) const {
    return pass->rows.empty() ? p : pass->rows[static_cast<std::size_t>(p)];
  }
  Index col(Index p) const {
    return pass->cols.empty() ? p : pass->cols[static_cast<std::size_t>(p)];
  }
  /// The strips that begin at these row positions.
  std::span<const TileGroup> strips_in(IndexRange rows) const;
};

class BoundTiles {
 public:
  static constexpr int span_log2 = 9;
  static constexpr Index span_tokens = Index{1} << span_log2;
  static constexpr Index span_margin = 64;

  /// `plan` and `problem` outlive this. Coarsens K (and Q, when its clusters are means).
  BoundTiles(const Plan& plan, const Problem& problem, const isa::Loops& loops, Workers& workers,
             const std::stop_token& stop);

  const std::vector<BoundPass>& passes() const { return passes_; }
  Index n() const { return n_; }
  int d() const { return static_cast<int>(problem_.d()); }
  int query_top() const { return query_top_; }  // highest level of any pass
  int key_top() const { return key_top_; }
  /// Coarse queries in sequence order: no strip up to this level crosses a multiple of span_tokens,
  /// so that a span can be taken through these levels by itself. -1: not so.
  int span_top() const { return span_top_; }
  float log2_scale() const;  // logits in log2 units: s log2(e)

  /// One tile of tokens in sequence order: a query can be had by itself.
  bool dense() const;

  /// Rows that stand for the queries, or the keys, of a level. Those of the levels that a span
  /// makes for itself are there once `complete` was called.
  ClusterRows queries(int level) const;
  ClusterRows keys(int level) const {
    return level == 0 ? ClusterRows(problem_.k) : keys_.level(level);
  }
  void complete(Workers& workers, const std::stop_token& stop);

  /// Levels 1 .. these a span makes for itself, since they are more than all the others together:
  /// of queries within the span, of keys up to `span_margin` tokens around it.
  int span_query_levels() const { return queries_.low() - 1; }
  int span_key_levels() const { return span_key_levels_; }
  const Problem& problem() const { return problem_; }

  const isa::Loops& loops() const { return loops_; }
  /// Few queries leave most lanes of a wide vector idle: they take the next narrower vectors, which
  /// every machine with AVX-512 has.
  const isa::Loops& loops_for(int count) const {
    return loops_.width == 16 && count <= isa::avx2().width ? isa::avx2() : loops_;
  }
  /// Narrow vectors pass a row several times: where rows lie anywhere, those of a step are first
  /// copied side by side. (Wide ones gain nothing by it.)
  bool copies_rows(const BoundPass& bound, int queries) const {
    return !bound.pass->cols.empty() && loops_.width < 16 && queries > isa::range_lanes;
  }

 private:
  BoundPass bind_pass(const Pass& pass) const;
  bool stays_near(const BoundPass& bound) const;
  int near_key_levels() const;
  void cut_strips(BoundPass& bound) const;
  void bind_weights(const Pass& pass, BoundPass& bound) const;
  static void find_ascending(const Pass& pass, BoundPass& bound);

  const TilePlan& plan_;
  const Problem& problem_;
  const isa::Loops& loops_;
  Index n_;
  int query_top_ = 0, key_top_ = 0, span_top_ = -1, span_key_levels_ = 0;
  std::vector<BoundPass> passes_;
  Pyramid keys_, queries_;
};

}  // namespace fovea
