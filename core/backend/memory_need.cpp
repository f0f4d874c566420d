#include "backend/memory_need.h"

#include <algorithm>

#include "backend/bound_tiles.h"
#include "backend/feature_strip.h"
#include "plan/visit_form.h"

namespace fovea {
namespace {

constexpr double real = sizeof(float), place = sizeof(std::int32_t), wide = sizeof(double);

double padded(Index cols) {
  return static_cast<double>((cols + 15) / 16 * 16);
}

double count(Index n) {
  return static_cast<double>(n);
}

/// Clusters of the levels 1 .. top.
double coarse(Index n, int top) {
  double sum = 0;
  for (int level = 1; level <= top; ++level) sum += count(clusters(n, level));
  return sum;
}

/// Widths and lengths of the computed matrices: those of the head, or of the plan's own queries and
/// keys.
struct Sides {
  Index queries = 0, keys = 0, d = 0, dv = 0;
};

/// A copy of the values, unless their rows are whole vectors.
double copy_of_values(Index rows, Index dv) {
  return dv % 16 == 0 ? 0 : real * count(rows) * padded(dv);
}

/// A strip of queries, the values of a step, and the levels of a span (tile_sweep.cpp).
double tile_thread(const Sides& s, int query_top, int key_top) {
  const double widths = padded(s.d) + padded(s.dv);
  const double strip = real * (isa::max_lanes * (isa::max_keys + padded(s.d)) +
                               isa::max_keys * (widths + padded(s.dv)));
  const double span = count(BoundTiles::span_tokens),
               around = span + 2 * count(BoundTiles::span_margin);
  return 1.2 * strip + (query_top > 0 ? real * span * (padded(s.dv) + 2 + padded(s.d)) : 0) +
         (key_top > 0 ? real * around * widths : 0);
}

/// Memory to cut the tiles of a pass into strips (flat_tiles.cpp, bound_tiles.cpp). Lists that grow
/// hold up to three times their size for a moment.
double strips_of(const Pass& pass, const Sides& s) {
  double groups = 0, strips = 0;
  IndexRange last{-1, -1};
  for (const Tile& tile : pass.tiles) {
    if (tile.rows == last) continue;
    last = tile.rows;
    ++groups;
    strips += 2 + count(tile.rows.size() / isa::usual_lanes);
  }
  const double weighted = pass.weight.empty() && pass.key_level == 0 ? 0 : 2;
  const Index cols = pass.cols.empty() ? clusters(s.keys, pass.key_level) : std::ssize(pass.cols);
  const double positions = pass.rows.empty() ? 0 : count(clusters(s.queries, pass.query_level));
  return 3 * (sizeof(KeyRun) * count(std::ssize(pass.tiles)) +
              sizeof(TileGroup) * (groups + strips)) +
         weighted * real * count(cols) + place * positions;
}

MemoryNeed tiles_need(const TilePlan& plan, const Sides& s, int threads) {
  int query_top = 0, key_top = 0;
  MemoryNeed need;
  for (const Pass& pass : plan.passes) {
    query_top = std::max(query_top, pass.query_level);
    key_top = std::max(key_top, pass.key_level);
    need.bound += strips_of(pass, s);
  }
  const bool means = plan.coarse_query == CoarseQuery::mean;
  need.bound +=
      real * padded(s.d) * (coarse(s.keys, key_top) + (means ? coarse(s.queries, query_top) : 0)) +
      2 * real * count(s.queries);
  const double rows = count(s.queries) + coarse(s.queries, query_top);
  need.applied = real * (rows * (padded(s.dv) + 2) + 2 * count(s.queries) +
                         coarse(s.keys, key_top) * padded(s.dv)) +
                 2 * copy_of_values(std::max(s.queries, s.keys), s.dv) +
                 threads * tile_thread(s, query_top, key_top);
  return need;
}

/// Tables of the nodes that hold keys, and their sums (node_operator.cpp).
MemoryNeed nodes_need(const NodePlan& plan, bool causal, const Sides& s, int threads) {
  double nodes = 1, width = 1;
  for (const int branching : plan.branching) nodes += width *= branching;
  const double depths = count(std::ssize(plan.alpha)), leaves = width;
  const double slots = std::min(nodes, 1 + count(s.keys) * (depths - 1));
  const double table = place * (depths + 1) + 8 * wide;
  MemoryNeed need{.bound = place * 2 * count(s.keys) + 2 * table * (slots + 1) + place * 4 * leaves,
                  .applied = real * count(s.queries) * padded(s.dv)};
  if (causal) {
    need.bound += real * count(s.queries) * depths + place * (slots + 1);
    need.applied += threads * wide * 8 * (slots + 1);
  } else {
    const double pieces = std::min(leaves, count(s.keys)) + count(s.keys) / 1024;
    need.applied += count(s.dv) * (wide * (pieces + 2 * (slots + 1)) + real * slots);
  }
  return need;
}

/// The tiles are copied, and the values mixed (projected_operator.cpp).
MemoryNeed projected_need(const ProjectedPlan& plan, const Sides& s, int threads) {
  const Index positions = plan.queries.rows();
  MemoryNeed need =
      tiles_need(plan.tiles, {positions, positions, plan.queries.cols(), s.dv}, threads);
  for (const Pass& pass : plan.tiles.passes)
    need.bound += sizeof(Tile) * count(std::ssize(pass.tiles)) +
                  place * count(std::ssize(pass.rows) + std::ssize(pass.cols)) +
                  real * count(std::ssize(pass.weight));
  if (plan.mix.empty()) return need;
  // The memory that mixes the values is kept for other matrices while the mixtures are attended:
  // blocks of V, V with whole vectors as rows, and sums, in pieces if they are few.
  const double mixes = count(plan.mixtures()) * padded(s.dv);
  const bool few = count(plan.mix.rows()) * count(plan.block) * padded(s.dv) <= 0x1p16;
  const double pieces = few ? 1 + count(plan.mix.cols()) / 2048 : 0;
  const double blocks = plan.block > 1 ? count(s.keys) * padded(s.dv) : 0;
  need.applied += real * (blocks + mixes * (1 + pieces) + count(positions) * padded(s.dv) +
                          count(s.queries) * padded(s.dv)) +
                  copy_of_values(plan.mix.cols(), plan.block * s.dv);
  return need;
}

/// The sums over each segment of keys, and a strip of queries for each thread, made from one
/// (feature_operator.cpp, feature_strip.h).
MemoryNeed features_need(const FeaturePlan& plan, const Sides& s, int threads) {
  constexpr double most_segments = 64, least_tokens = 1024;
  const double chunk = FeatureRows::chunk,
               features = chunk * (1 + count((plan.features(s.d) - 1) / FeatureRows::chunk));
  const double segments = std::min(most_segments, 1 + count(s.keys) / least_tokens) + 1;
  const double sums = features * (padded(s.dv) + 2);
  const double strip = features * 2 * (FeatureStrip::most + isa::max_keys) +
                       (isa::max_keys + chunk) * FeatureStrip::most;
  return {.bound = real * (features * count(s.d) + count(s.keys)),
          .applied = real * (sums * (segments + 2 + threads) +
                             count(s.queries) * (padded(s.dv) + 3) + (threads + 1) * strip) +
                     2 * copy_of_values(s.keys, s.dv)};
}

MemoryNeed imported_need(const ImportedPlan& plan, const Sides& s, int threads) {
  const double z = real * count(s.queries) * padded(s.dv);
  if (!plan.result->p.empty() || !plan.kept) return {.bound = 0, .applied = z + wide * count(s.dv)};
  TilePlan dense{.passes = {{.tiles = {{{0, s.queries}, {0, s.keys}, {}}}}}};
  return tiles_need(dense, s, threads);
}

}  // namespace

MemoryNeed memory_need(const Plan& plan, const Problem& problem, int threads) {
  // Without values, P is applied to one column of zeros.
  const Sides s{plan.queries(), plan.keys(), problem.d(), std::max<Index>(problem.dv(), 1)};
  return visit_form(
      plan, [&](const TilePlan& form) { return tiles_need(form, s, threads); },
      [&](const NodePlan& form) { return nodes_need(form, plan.causal, s, threads); },
      [&](const ProjectedPlan& form) { return projected_need(form, s, threads); },
      [&](const FeaturePlan& form) { return features_need(form, s, threads); },
      [&](const ImportedPlan& form) { return imported_need(form, s, threads); });
}

std::string need_text(const Plan& plan) {
  return "attention, " + plan.lengths.text();
}

}  // namespace fovea
