#include "backend/tile_sweep.h"

namespace fovea {

// A strip of queries and its part of a state.
struct TileSweep::Strip {
  QueryStrip queries;
  alignas(64) float maximum[isa::max_lanes] = {}, sum[isa::max_lanes] = {};
  alignas(64) float rescale[isa::max_lanes] = {};
  const float* from[isa::max_lanes] = {};  // the rows of z so far
  float* z[isa::max_lanes] = {};
  const float* value[isa::max_keys] = {};
  Matrix copies;  // of the values of a step
  Matrix zeros;   // one row, padded like all rows that the loops read

  Strip(const BoundTiles& tiles, Index dv)
      : queries(tiles),
        copies(Matrix::uninitialised(isa::max_keys, dv)),
        zeros(Matrix::padded(1, dv)) {}
};

// The memory of one thread.
struct TileSweep::Worker {
  Strip strip;
  std::vector<SoftmaxState> levels;  // [l - 1] level l of a span
  PyramidPart queries, keys, values;

  Worker(const BoundTiles& tiles, Index dv)
      : strip(tiles, dv),
        queries(BoundTiles::span_tokens, tiles.span_query_levels(), tiles.d()),
        keys(most_tokens, tiles.span_key_levels(), tiles.d()),
        values(most_tokens, dv > 0 ? tiles.span_key_levels() : 0, dv) {
    for (int level = 1; level <= tiles.span_top(); ++level)
      levels.emplace_back(BoundTiles::span_tokens >> level, dv);
  }

 private:
  static constexpr Index most_tokens = BoundTiles::span_tokens + 2 * BoundTiles::span_margin;
};

TileSweep::TileSweep(const BoundTiles& tiles, MatrixView values, Workers& workers, Run& run)
    : tiles_(tiles),
      values_(values),
      workers_(workers),
      run_(run),
      tokens_(tiles.lengths().queries, values.cols),
      log2_sums_(tiles.lengths().queries) {
  for (const BoundPass& bound : tiles.passes()) strips_ += std::ssize(bound.strips);
  for (int i = 0; i < workers.threads(); ++i) threads_.emplace_back(tiles, values.cols);
}

TileSweep::~TileSweep() = default;

TileSweep::Result TileSweep::attend() {
  if (tiles_.key_top() > 0 && values_.cols > 0) {
    const auto stage = run_.profile.stage("coarsen");
    coarse_ = Pyramid(values_, tiles_.span_key_levels() + 1, tiles_.key_top(), tiles_.loops(),
                      workers_, run_.stop);
  }
  {
    const auto stage = run_.profile.stage("attend");
    std::vector<SoftmaxState> levels;  // from the top down
    const SoftmaxState* parent = nullptr;
    levels.reserve(tiles_.query_top());
    for (int level = tiles_.query_top(); level > std::max(tiles_.span_top(), 0); --level) {
      levels.emplace_back(clusters(queries(), level), values_.cols);
      attend_level(level, parent, levels.back());
      parent = &levels.back();
    }
    if (tiles_.span_top() >= 0) {
      attend_spans(parent);
      return {std::move(tokens_.z), std::move(log2_sums_)};
    }
    attend_level(0, parent, tokens_);
  }
  const auto stage = run_.profile.stage("divide");
  constexpr Index piece = 512;
  workers_.loop((queries() + piece - 1) / piece, run_.stop, [&](Index turn, int) {
    divide({turn * piece, std::min(queries(), (turn + 1) * piece)});
  });
  return {std::move(tokens_.z), std::move(log2_sums_)};
}

void TileSweep::attend_level(int level, const SoftmaxState* parent, SoftmaxState& state) {
  const IndexRange all{0, clusters(queries(), level)};
  state.clear(all);
  for (const BoundPass& bound : tiles_.passes()) {
    if (bound.pass->query_level != level) continue;
    const int key_level = bound.pass->key_level;
    const Level its{tiles_.queries(level), tiles_.keys(key_level), values_at(key_level), parent,
                    state};
    workers_.loop(std::ssize(bound.strips), run_.stop, [&](Index turn, int worker) {
      attend_strip(bound, bound.strips[turn], its, threads_[worker].strip);
      count_done(1, worker);
    });
  }
  inherit(all, parent, state);
}

void TileSweep::attend_spans(const SoftmaxState* parent) {
  workers_.loop(clusters(queries(), BoundTiles::span_log2), run_.stop, [&](Index span, int worker) {
    const Index strips = attend_span(cluster_tokens(span, BoundTiles::span_log2, queries()), parent,
                                     threads_[worker]);
    count_done(strips, worker);
  });
}

// Attends all levels of the tokens of a span while they are in the cache. Only for hierarchies,
// which have as many queries as keys.
Index TileSweep::attend_span(IndexRange tokens, const SoftmaxState* parent, Worker& worker) {
  Index count = 0;
  const IndexRange around{std::max<Index>(tokens.begin - BoundTiles::span_margin, 0),
                          std::min(tokens.end + BoundTiles::span_margin, keys())};
  const isa::Loops& loops = tiles_.loops();
  worker.queries.make(tiles_.problem().q, tokens, loops);
  worker.keys.make(tiles_.problem().k, around, loops);
  worker.values.make(values_, around, loops);
  for (int level = tiles_.span_top(); level >= 0; --level) {
    const IndexRange rows{tokens.begin >> level, clusters(tokens.end, level)};
    SoftmaxState& state = level == 0 ? tokens_ : worker.levels[level - 1];
    if (level > 0) state.move_to(rows.begin);
    state.clear(rows);
    for (const BoundPass& bound : tiles_.passes()) {
      if (bound.pass->query_level != level) continue;
      const int k = bound.pass->key_level;
      const bool own_queries = level > 0 && level <= tiles_.span_query_levels(),
                 own_keys = k > 0 && k <= tiles_.span_key_levels();
      const Level its{own_queries ? worker.queries.level(level) : tiles_.queries(level),
                      own_keys ? worker.keys.level(k) : tiles_.keys(k),
                      own_keys && values_.cols > 0 ? worker.values.level(k) : values_at(k), parent,
                      state};
      const auto strips = bound.strips_in(rows);
      for (const TileGroup& strip : strips) attend_strip(bound, strip, its, worker.strip);
      count += std::ssize(strips);
    }
    inherit(rows, parent, state);
    parent = &state;
  }
  divide(tokens);
  return count;
}

void TileSweep::begin_rows(const BoundPass& bound, const TileGroup& group, const Level& level,
                           Strip& x) const {
  QueryStrip& queries = x.queries;
  const SoftmaxState* parent = level.parent;
  queries.count = static_cast<int>(group.rows.size());
  for (int lane = 0; lane < queries.count; ++lane) {
    const Index cluster = bound.row(group.rows.begin + lane);
    queries.row[lane] = level.queries.row(cluster);
    queries.lane_token[lane] = static_cast<std::int32_t>(cluster);
    x.z[lane] = level.state.row(cluster);
    const bool inherits = level.state.fresh(cluster) && parent && !parent->fresh(cluster / 2);
    const SoftmaxState& its = inherits ? *parent : level.state;
    const Index at = inherits ? cluster / 2 : cluster;
    x.maximum[lane] = its.maximum(at);
    x.sum[lane] = its.sum(at);
    x.from[lane] = its.fresh(at) ? x.zeros.data() : its.row(at);
  }
  queries.pack();
}

void TileSweep::attend_strip(const BoundPass& bound, const TileGroup& group, const Level& level,
                             Strip& x) const {
  begin_rows(bound, group, level, x);
  QueryStrip& queries = x.queries;
  const int width = static_cast<int>(level.state.z.stride());
  bool first = true;
  queries.for_steps(bound, group, level.keys, {0, keys()}, bound.log2_weight, run_.stop, [&] {
    float* s = queries.s.data();
    const int lanes = queries.lanes();
    queries.loops().softmax(s, lanes, queries.keys, x.maximum, x.sum, x.rescale);
    if (width == 0) return;
    const bool copies = tiles_.copies_rows(bound, queries.count);
    for (int k = 0; k < queries.keys; ++k) {
      x.value[k] = level.values.row(queries.column[k]);
      if (copies) x.value[k] = std::copy_n(x.value[k], width, x.copies.row(k)) - width;
    }
    tiles_.loops().accumulate({.s = s,
                               .lanes = lanes,
                               .count = queries.count,
                               .keys = queries.keys,
                               .live = queries.live,
                               .values = x.value,
                               .rescale = x.rescale,
                               .from = first ? x.from : x.z,
                               .z = x.z},
                              width);
    first = false;
  });
  if (first && width > 0) return;  // no keys: the rows are unchanged
  for (int lane = 0; lane < queries.count; ++lane) {
    level.state.maximum(queries.lane_token[lane]) = x.maximum[lane];
    level.state.sum(queries.lane_token[lane]) = x.sum[lane];
  }
}

// Clusters without a key of their own inherit the states of their parents.
void TileSweep::inherit(IndexRange range, const SoftmaxState* parent, SoftmaxState& state) const {
  if (!parent) return;
  for (Index c = range.begin; c < range.end; ++c) {
    if (!state.fresh(c) || parent->fresh(c / 2)) continue;
    state.maximum(c) = parent->maximum(c / 2);
    state.sum(c) = parent->sum(c / 2);
    std::copy_n(parent->row(c / 2), state.z.stride(), state.row(c));
  }
}

// Z = sums of weighted values / sums of weights, in place.
void TileSweep::divide(IndexRange tokens) {
  const Index width = tokens_.z.stride();
  for (Index i = tokens.begin; i < tokens.end; ++i) {
    const float own = tokens_.log2_sum(i);
    log2_sums_[i] = tiles_.with_sink(own);
    float* z = tokens_.row(i);
    if (tokens_.fresh(i)) {
      std::fill_n(z, width, 0.0f);
      continue;
    }
    tiles_.loops().scale(z, static_cast<int>(width),
                         BoundTiles::factor(tokens_.sum(i), own, log2_sums_[i]));
  }
}

void TileSweep::count_done(Index strips, int worker) {
  done_ += strips;
  if (worker == 0) run_.reached(static_cast<double>(done_) / static_cast<double>(strips_));
}

}  // namespace fovea
