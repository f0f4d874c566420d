#include "backend/bound_tiles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea {
namespace {

// A span of 512 tokens has 16 clusters at this level: any fewer would not fill a vector.
constexpr int most_span_levels = 5;

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
    : plan_(std::get<TilePlan>(plan.form)), problem_(problem), loops_(loops), n_(plan.n) {
  bool in_sequence = true;
  for (const Pass& pass : plan_.passes) {
    query_top_ = std::max(query_top_, pass.query_level);
    key_top_ = std::max(key_top_, pass.key_level);
    in_sequence = in_sequence && pass.rows.empty();
  }
  if (query_top_ > 0 && in_sequence) span_top_ = std::min(query_top_, most_span_levels);
  for (const Pass& pass : plan_.passes) passes_.push_back(bind_pass(pass));
  span_key_levels_ = near_key_levels();
  keys_ = Pyramid(problem.k, span_key_levels_ + 1, key_top_, loops, workers, stop);
  if (plan_.coarse_query == CoarseQuery::mean)
    queries_ = Pyramid(problem.q, std::max(span_top_, 0) + 1, query_top_, loops, workers, stop);
}

void BoundTiles::complete(Workers& workers, const std::stop_token& stop) {
  if (keys_.low() > 1) keys_ = Pyramid(problem_.k, 1, key_top_, loops_, workers, stop);
  if (queries_.low() > 1) queries_ = Pyramid(problem_.q, 1, query_top_, loops_, workers, stop);
}

bool BoundTiles::dense() const {
  if (passes_.size() != 1 || query_top_ > 0 || key_top_ > 0) return false;
  const Pass& pass = *passes_.front().pass;
  const IndexRange all{0, n_};
  return pass.rows.empty() && pass.cols.empty() && pass.weight.empty() && pass.tiles.size() == 1 &&
         pass.tiles.front().rows == all && pass.tiles.front().cols == all;
}

// How many of the lowest levels meet only keys next to the span of their queries.
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
      const IndexRange cols = bound.pass->tiles[t].cols;
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
  if (plan_.coarse_query == CoarseQuery::first)
    return {problem_.q.data, 0, problem_.q.stride << level};
  return queries_.level(level);
}

BoundPass BoundTiles::bind_pass(const Pass& pass) const {
  BoundPass bound;
  bound.pass = &pass;
  for (std::size_t t = 0; t < pass.tiles.size(); ++t) {
    const IndexRange rows = pass.tiles[t].rows;
    if (rows.size() <= 0 || pass.tiles[t].cols.size() <= 0) continue;
    if (!bound.groups.empty() && bound.groups.back().rows == rows && bound.groups.back().last == t)
      ++bound.groups.back().last;
    else
      bound.groups.push_back({rows, t, t + 1});
  }
  std::ranges::sort(bound.groups, {}, [](const TileGroup& g) { return g.rows.begin; });
  cut_strips(bound);
  bind_weights(pass, bound);
  find_ascending(pass, bound);
  if (!pass.rows.empty()) {
    bound.position.assign(static_cast<std::size_t>(clusters(n_, pass.query_level)), -1);
    for (std::size_t p = 0; p < pass.rows.size(); ++p)
      bound.position[static_cast<std::size_t>(pass.rows[p])] = static_cast<std::int32_t>(p);
  }
  return bound;
}

void BoundTiles::cut_strips(BoundPass& bound) const {
  const int level = bound.pass->query_level;
  const Index span = level <= span_top_ ? span_tokens >> level : n_;
  for (const TileGroup& g : bound.groups) {
    const bool many = g.rows.size() >= 64 * isa::max_lanes;  // enough to keep any machine busy
    const Index longest = many ? isa::max_lanes : isa::usual_lanes;
    for (Index begin = g.rows.begin; begin < g.rows.end;) {
      const Index end = std::min({begin + longest, g.rows.end, (begin / span + 1) * span});
      bound.strips.push_back({{begin, end}, g.first, g.last});
      begin = end;
    }
  }
}

void BoundTiles::find_ascending(const Pass& pass, BoundPass& bound) {
  if (pass.cols.empty()) return;
  for (const Tile& tile : pass.tiles)
    bound.ascending.push_back(
        !tile.band.everything() &&
        std::is_sorted(pass.cols.begin() + tile.cols.begin, pass.cols.begin() + tile.cols.end));
}

// A column counts as often as its weight says, else as often as its cluster has tokens.
void BoundTiles::bind_weights(const Pass& pass, BoundPass& bound) const {
  if (pass.weight.empty() && pass.key_level == 0) return;
  const Index count =
      pass.cols.empty() ? clusters(n_, pass.key_level) : static_cast<Index>(pass.cols.size());
  for (Index p = 0; p < count; ++p) {
    const auto size = static_cast<float>(cluster_tokens(bound.col(p), pass.key_level, n_).size());
    const float weight = pass.weight.empty() ? size : pass.weight[static_cast<std::size_t>(p)];
    bound.log2_weight.push_back(std::log2(weight));
    if (!pass.weight.empty()) bound.log2_pair_weight.push_back(std::log2(weight / size));
  }
}

}  // namespace fovea
