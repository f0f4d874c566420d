// BoundTiles are FlatTiles made ready for the CPU: cut into strips, with the token pyramids of
// queries and keys.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "backend/isa/attend.h"
#include "backend/operator_need.h"
#include "backend/profile.h"
#include "backend/pyramid.h"
#include "backend/workers.h"
#include "data/problem.h"
#include "plan/flat_tiles.h"

namespace fovea {

struct BoundPass : FlatPass {
  std::vector<TileGroup> strips;  // the groups cut into at most 192 rows
  std::vector<bool> ascending;  // whether the keys of each run with a band ascend; empty if all are
                                // in sequence order
  std::vector<std::int32_t> position;  // cluster -> row position, -1 if none; empty means identity

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

  /// Bytes that it keeps, and takes while it is made.
  static double need(const TilePlan& plan, const Extents& extents);

  const std::vector<BoundPass>& passes() const { return passes_; }
  Lengths lengths() const { return problem_.lengths(); }
  int d() const { return static_cast<int>(problem_.d()); }
  int query_top() const { return query_top_; }  // highest level of any pass
  int key_top() const { return key_top_; }
  /// The highest level up to which no strip crosses a multiple of span_tokens, so that a span can
  /// go through these levels by itself; -1 if there is none. Coarse queries are in sequence order
  /// there.
  int span_top() const { return span_top_; }
  float log2_scale() const;  // logits in log2 units: s log2(e)
  /// log2 of a row's sum with the sink of the head, if it has one.
  float with_sink(float log2_sum) const {
    const LogitRule* rule = problem_.rule.get();
    return rule && rule->sink ? static_cast<float>(rule->with_sink(static_cast<double>(log2_sum)))
                              : log2_sum;
  }

  /// What weighted values of a row are multiplied by: one over its sum, whose log2 is `own`, or
  /// over the sum with the sink.
  static float factor(float sum, float own, float with_sink) {
    return own == with_sink ? 1.0f / sum : std::exp2(own - with_sink) / sum;
  }

  /// log2 of the largest entry of P: of 1 for a softmax, else of what is infinite in float.
  float log2_most() const { return own_sums_ ? 0.0f : 128.0f; }
  /// As FlatTiles::dense.
  bool dense() const { return dense_; }

  /// Rows that stand for the queries, or the keys, of a level. For the levels that a span makes for
  /// itself, `complete` must have been called.
  ClusterRows queries(int level) const;
  ClusterRows keys(int level) const {
    return level == 0 ? ClusterRows(problem_.k) : keys_.level(level);
  }
  void complete(Workers& workers, const std::stop_token& stop);

  /// A span makes its own copies of the levels from 1 up to this one, which have more clusters than
  /// all others together: for queries within the span, for keys up to `span_margin` tokens around
  /// it.
  int span_query_levels() const { return queries_.low() - 1; }
  int span_key_levels() const { return span_key_levels_; }
  const Problem& problem() const { return problem_; }

  const isa::Loops& loops() const { return loops_; }
  /// The loops for a number of queries. Few queries would leave most lanes of a wide vector idle,
  /// so they use the next narrower vectors, which every machine with AVX-512 has.
  const isa::Loops& loops_for(int count) const {
    return loops_.width == 16 && count <= isa::avx2().width ? isa::avx2() : loops_;
  }
  /// Whether rows that are not in sequence order are copied side by side for each step. Narrow
  /// vectors read a row several times and gain by the copy; wide vectors do not.
  bool copies_rows(const BoundPass& bound, int queries) const {
    return !bound.pass->cols.empty() && loops_.width < 16 && queries > isa::range_lanes;
  }

 private:
  BoundPass bind_pass(FlatPass flat) const;
  bool stays_near(const BoundPass& bound) const;
  int near_key_levels() const;
  void cut_strips(BoundPass& bound) const;
  static void find_ascending(BoundPass& bound);

  const Problem& problem_;
  const isa::Loops& loops_;
  bool mean_queries_, dense_, own_sums_;
  int query_top_ = 0, key_top_ = 0, span_top_ = -1, span_key_levels_ = 0;
  std::vector<BoundPass> passes_;
  Pyramid keys_, queries_;
};

}  // namespace fovea
