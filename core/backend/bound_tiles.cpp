#include "backend/bound_tiles.h"

#include <algorithm>
#include <numbers>
#include <utility>

#include "data/group_by.h"

namespace fovea {
namespace {

// At this level a span of 512 tokens has 16 clusters: fewer would not fill a vector.
constexpr int most_span_levels = 5;

/// Bytes of a pass that is cut into strips. Lists that grow hold up to three times their size for a
/// moment.
double need_of_strips(const Pass& pass, const Extents& extents) {
  double groups = 0, strips = 0;
  IndexRange last{-1, -1};
  for (const Tile& tile : pass.tiles) {
    if (tile.rows == last) continue;
    last = tile.rows;
    ++groups;
    strips += 2 + as_double(tile.rows.size() / isa::usual_lanes);
  }
  const double weighted = pass.weight.empty() && pass.key_level == 0 ? 0 : 2;
  const Index cols =
      pass.cols.empty() ? clusters(extents.keys, pass.key_level) : std::ssize(pass.cols);
  const double positions =
      pass.rows.empty() ? 0 : as_double(clusters(extents.queries, pass.query_level));
  return 3 * (sizeof(KeyRun) * as_double(std::ssize(pass.tiles)) +
              sizeof(TileGroup) * (groups + strips)) +
         weighted * float_size * as_double(cols) + int_size * positions;
}

}  // namespace

std::span<const TileGroup> BoundPass::strips_in(IndexRange rows) const {
  const auto from = [&](Index row) {
    return std::ranges::lower_bound(strips, row, {},
                                    [](const TileGroup& s) { return s.rows.begin; });
  };
  return {from(rows.begin), from(rows.end)};
}

BoundTiles::BoundTiles(const Plan& plan, const Problem& problem, const isa::Loops& loops,
                       Workers& workers, const std::stop_token& stop)
    : problem_(problem), loops_(loops) {
  FlatTiles flat = flatten_tiles(plan);
  query_top_ = flat.query_top;
  key_top_ = flat.key_top;
  mean_queries_ = flat.mean_queries;
  dense_ = flat.dense();
  own_sums_ = flat.own_sums;
  const bool in_sequence =
      std::ranges::all_of(flat.passes, [](const FlatPass& p) { return p.pass->rows.empty(); });
  if (query_top_ > 0 && in_sequence) span_top_ = std::min(query_top_, most_span_levels);
  for (FlatPass& pass : flat.passes) passes_.push_back(bind_pass(std::move(pass)));
  span_key_levels_ = near_key_levels();
  keys_ = Pyramid(problem.k, span_key_levels_ + 1, key_top_, loops, workers, stop);
  if (mean_queries_)
    queries_ = Pyramid(problem.q, std::max(span_top_, 0) + 1, query_top_, loops, workers, stop);
}

double BoundTiles::need(const TilePlan& plan, const Extents& extents) {
  double strips = 0;
  int query_top = 0, key_top = 0;
  for (const Pass& pass : plan.passes) {
    query_top = std::max(query_top, pass.query_level);
    key_top = std::max(key_top, pass.key_level);
    strips += need_of_strips(pass, extents);
  }
  const bool means = plan.coarse_query == CoarseQuery::mean;
  return strips + float_size * as_double(padded_width(extents.d)) *
                      (clusters_above(extents.keys, key_top) +
                       (means ? clusters_above(extents.queries, query_top) : 0));
}

void BoundTiles::complete(Workers& workers, const std::stop_token& stop) {
  if (keys_.low() > 1) keys_ = Pyramid(problem_.k, 1, key_top_, loops_, workers, stop);
  if (queries_.low() > 1) queries_ = Pyramid(problem_.q, 1, query_top_, loops_, workers, stop);
}

// The number of lowest levels whose keys all lie next to the span of their queries.
int BoundTiles::near_key_levels() const {
  constexpr int most = 2;  // a span and its margin begin at multiples of 4 tokens
  int levels = std::min({most, span_top_, key_top_});
  for (const BoundPass& bound : passes_)
    if (const int level = bound.pass->key_level; level > 0 && level <= levels && !stays_near(bound))
      levels = level - 1;
  return std::max(levels, 0);
}

bool BoundTiles::stays_near(const BoundPass& bound) const {
  const int level = bound.pass->key_level;
  if (bound.pass->query_level != level || !bound.pass->cols.empty()) return false;
  const Index span = span_tokens >> level, margin = span_margin >> level;
  return std::ranges::all_of(bound.strips, [&](const TileGroup& strip) {
    const Index begin = strip.rows.begin / span * span;
    for (std::size_t t = strip.first; t < strip.last; ++t) {
      const IndexRange cols = bound.runs[t].cols;
      if (cols.begin < begin - margin || cols.end > begin + span + margin) return false;
    }
    return true;
  });
}

float BoundTiles::log2_scale() const {
  return static_cast<float>(problem_.scale * std::numbers::log2e);
}

ClusterRows BoundTiles::queries(int level) const {
  if (level == 0) return ClusterRows(problem_.q);
  if (mean_queries_) return queries_.level(level);
  return {problem_.q.data, 0, problem_.q.stride << level};
}

BoundPass BoundTiles::bind_pass(FlatPass flat) const {
  BoundPass bound{std::move(flat), {}, {}, {}};
  cut_strips(bound);
  find_ascending(bound);
  if (const auto& rows = bound.pass->rows; !rows.empty())
    bound.position = inverse_of(rows, clusters(problem_.queries(), bound.pass->query_level));
  return bound;
}

void BoundTiles::cut_strips(BoundPass& bound) const {
  const int level = bound.pass->query_level;
  const Index span = level <= span_top_ ? span_tokens >> level : problem_.queries();
  Index rows = 0;
  for (const TileGroup& g : bound.groups) rows += g.rows.size();
  const bool many = rows >= 64 * isa::max_lanes;  // enough to keep any machine busy
  const Index longest = many ? isa::max_lanes : isa::usual_lanes;
  for (const TileGroup& g : bound.groups) {
    for (Index begin = g.rows.begin; begin < g.rows.end;) {
      const Index end = std::min({begin + longest, g.rows.end, (begin / span + 1) * span});
      bound.strips.push_back({{begin, end}, g.first, g.last});
      begin = end;
    }
  }
}

void BoundTiles::find_ascending(BoundPass& bound) {
  const std::vector<std::int32_t>& cols = bound.pass->cols;
  if (cols.empty()) return;
  for (const KeyRun& run : bound.runs)
    bound.ascending.push_back(
        !run.band.everything() &&
        std::is_sorted(cols.begin() + run.cols.begin, cols.begin() + run.cols.end));
}

}  // namespace fovea
