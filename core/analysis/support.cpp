#include "analysis/support.h"

#include "data/error.h"
#include "data/group_by.h"
#include "plan/visit_form.h"

namespace fovea {

Side::Side(const std::vector<std::int32_t>& order, int level, Index n)
    : order_(&order), level_(level), n_(n), descents_(order.size()) {
  for (std::size_t p = 1; p < order.size(); ++p)
    descents_[p] = descents_[p - 1] + (order[p] < order[p - 1]);
}

bool Side::ascending(IndexRange positions) const {
  return identity() || positions.size() <= 1 ||
         descents_[positions.begin] == descents_[positions.end - 1];
}

Index Side::token_count(IndexRange positions) const {
  if (positions.size() <= 0) return 0;
  if (level_ == 0) return positions.size();
  if (identity()) return tokens(positions.end - 1).end - tokens(positions.begin).begin;
  Index sum = 0;
  for (Index p = positions.begin; p < positions.end; ++p) sum += tokens(p).size();
  return sum;
}

IndexRange Side::near(IndexRange positions, IndexRange view) const {
  if (!ascending(positions)) return positions;
  const Index first = view.begin >> level_, last = (view.end - 1) >> level_;  // clusters, inclusive
  if (identity()) return positions.intersected({first, last + 1});
  const auto begin = order_->begin() + positions.begin, end = order_->begin() + positions.end;
  const auto low = std::lower_bound(begin, end, first), high = std::upper_bound(low, end, last);
  return {low - order_->begin(), high - order_->begin()};
}

std::vector<IndexRange> Side::runs(IndexRange positions, IndexRange view) const {
  std::vector<IndexRange> out;
  if (positions.size() <= 0 || view.size() <= 0) return out;
  const IndexRange some = near(positions, view);
  if (some.size() <= 0) return out;
  const auto add = [&](IndexRange tokens) {
    const IndexRange part = tokens.intersected(view);
    if (part.size() > 0) out.push_back(part);
  };
  if (identity()) {
    add({tokens(some.begin).begin, tokens(some.end - 1).end});
    return out;
  }
  for (Index p = some.begin; p < some.end; ++p) add(tokens(p));
  if (!ascending(some)) std::ranges::sort(out, {}, &IndexRange::begin);
  return out;
}

double pairs_in_band(IndexRange rows, IndexRange cols, const Band& band) {
  if (rows.size() <= 0 || cols.size() <= 0) return 0;
  // Pairs with i - j <= x: rows up to cols.begin + x have all columns, each later row one fewer.
  const auto up_to = [&](Index x) {
    const Index full_end = std::clamp(cols.begin + x + 1, rows.begin, rows.end);
    const Index slope_end = std::clamp(cols.end + x, full_end, rows.end);
    const double full =
        static_cast<double>(full_end - rows.begin) * static_cast<double>(cols.size());
    const double first = cols.end + x - full_end;
    const double count = slope_end - full_end;
    return full + count * first - count * (count - 1) / 2;
  };
  return std::max(0.0, up_to(band.hi) - up_to(band.lo - 1));
}

namespace {

// Queries and keys share a node at some depth with alpha != 0 iff they share the one nearest the
// root, since nodes are nested. So the support is one set of tiles over the two orders by leaf.
Pass support_of_nodes(const NodePlan& nodes, const Band& band) {
  std::size_t depth = 0;
  while (depth < nodes.alpha.size() && nodes.alpha[depth] == 0) ++depth;
  Pass pass;
  if (depth == nodes.alpha.size()) return pass;
  Index below = 1, count = 1;
  for (std::size_t l = 0; l < nodes.branching.size(); ++l)
    (l < depth ? count : below) *= nodes.branching[l];
  const auto by_node = [&](std::vector<std::int32_t> leaf) {
    for (std::int32_t& l : leaf) l = static_cast<std::int32_t>(l / below);
    return group_by(leaf, count);
  };
  Grouped queries = by_node(nodes.query_leaf), keys = by_node(nodes.key_leaf);
  for (Index node = 0; node < count; ++node) {
    const Tile tile{queries.positions(node), keys.positions(node), band};
    if (tile.rows.size() > 0 && tile.cols.size() > 0) pass.tiles.push_back(tile);
  }
  pass.rows = std::move(queries.order);
  pass.cols = std::move(keys.order);
  return pass;
}

Support::Layer layer_of(const Pass& pass, Lengths lengths) {
  Support::Layer layer{&pass,
                       Side(pass.rows, pass.query_level, lengths.queries),
                       Side(pass.cols, pass.key_level, lengths.keys),
                       {},
                       {},
                       {}};
  for (std::size_t t = 0; t < pass.tiles.size(); ++t) {
    const Tile& tile = pass.tiles[t];
    layer.tile_tokens.push_back(layer.cols.token_count(tile.cols));
    if (tile.rows.size() <= 0) continue;
    if (!layer.groups.empty() && layer.groups.back().rows == tile.rows &&
        layer.groups.back().last == t)
      ++layer.groups.back().last;
    else
      layer.groups.push_back({tile.rows, t, t + 1});
  }
  std::ranges::sort(layer.groups, {}, [](const auto& g) { return g.rows.begin; });
  if (!pass.rows.empty())
    layer.position = inverse_of(pass.rows, clusters(lengths.queries, pass.query_level));
  return layer;
}

}  // namespace

Index admissible_keys(const Plan& plan, Index query, IndexRange keys) {
  keys = keys.intersected(plan.band().keys(query));
  const PairMask* mask = head_mask(plan);
  return mask ? mask->count(query, keys) : keys.size();
}

bool is_admissible(const Plan& plan, Index query, Index key) {
  const PairMask* mask = head_mask(plan);
  return plan.band().contains(query, key) && (!mask || mask->admits(query, key));
}

Pass pass_of_all_pairs(const Plan& plan) {
  return {.tiles = {{{0, plan.queries()}, {0, plan.keys()}, plan.band()}}};
}

Plan plan_of_admissible(const Plan& plan) {
  return {.lengths = plan.lengths,
          .causal = plan.causal,
          .window = plan.window,
          .mask = plan.head_mask.value_or(plan.mask),
          .form = TilePlan{.passes = {pass_of_all_pairs(plan)}}};
}

double admissible_pairs(const Plan& plan) {
  if (!head_mask(plan)) return pairs_in_band({0, plan.queries()}, {0, plan.keys()}, plan.band());
  double sum = 0;
  for (Index i = 0; i < plan.queries(); ++i) sum += static_cast<double>(admissible_keys(plan, i));
  return sum;
}

Support::Support(const Plan& plan) : plan_(&plan) {
  const auto add = [&](const Pass& pass) { layers_.push_back(layer_of(pass, plan.lengths)); };
  const auto add_all_pairs = [&] {
    own_ = pass_of_all_pairs(plan);
    add(own_);
  };
  visit_form(
      plan, [&](const TilePlan& tiles) { std::ranges::for_each(tiles.passes, add); },
      [&](const NodePlan& nodes) {
        own_ = support_of_nodes(nodes, plan.band());
        add(own_);
      },
      [&](const ProjectedPlan& projected) {
        if (projected.mix.empty())
          std::ranges::for_each(projected.tiles.passes, add);
        else  // mixtures are of all tokens
          add_all_pairs();
      },
      // Features meet in every pair, a state holds all keys, and branches of a GatedPlan leave none
      // out together.
      [&](const one_of<FeaturePlan, GatedPlan, RecurrentPlan> auto&) { add_all_pairs(); },
      [&](const ImportedPlan& imported) {
        if (imported.kept)
          add(*imported.kept);
        else
          add_all_pairs();
      });
}

const Support::Layer::Group* Support::Layer::group_of(Index query) const {
  const Index cluster = query >> rows.level();
  const Index p = position.empty() ? cluster : position[cluster];
  if (p < 0) return nullptr;
  const auto found =
      std::ranges::upper_bound(groups, p, {}, [](const Group& g) { return g.rows.end; });
  return found != groups.end() && found->rows.contains(p) ? &*found : nullptr;
}

float Support::Part::weight(Index key_count) const {
  if (pass->weight.empty()) return 1;
  const Index cluster = pass->cols.empty() ? column : pass->cols[column];
  return pass->weight[column] /
         static_cast<float>(cluster_tokens(cluster, pass->key_level, key_count).size());
}

Index Support::count(Index query) const {
  Index sum = 0;
  for (const Layer& layer : layers_) {
    const auto* group = layer.group_of(query);
    if (!group) continue;
    for (std::size_t t = group->first; t < group->last; ++t) {
      const Tile& tile = layer.pass->tiles[t];
      if (plan_->mask && layer.cols.identity()) {
        sum += plan_->mask->count(query, tile.cols.intersected(tile.band.keys(query)));
        continue;
      }
      if (plan_->mask || !layer.pass->earlier.empty()) {
        for (Index p = tile.cols.begin; p < tile.cols.end; ++p) {
          const Index key = layer.cols.cluster(p);
          sum += tile.band.contains(query, key) && !layer.pass->leaves_out(query, key) &&
                 (!plan_->mask || plan_->mask->admits(query, key));
        }
        continue;
      }
      if (!is_banded(*layer.pass, tile)) {
        sum += layer.tile_tokens[t];
        continue;
      }
      const IndexRange band = tile.band.keys(query).intersected({0, plan_->keys()});
      if (band.size() <= 0) continue;
      const IndexRange near = layer.cols.near(tile.cols, band);
      if (layer.cols.ascending(tile.cols))
        sum += std::max<Index>(0, near.size());
      else
        for (Index p = near.begin; p < near.end; ++p) sum += band.contains(layer.cols.cluster(p));
    }
  }
  return sum;
}

double Support::pairs(const std::stop_token& stop) const {
  constexpr Index often = 512;
  double sum = 0;
  for (Index i = 0; i < plan_->queries(); ++i) {
    if (i % often == 0 && stop.stop_requested()) throw Cancelled();
    sum += static_cast<double>(count(i));
  }
  return sum;
}

bool Support::complete(const std::stop_token& stop) const {
  return pairs(stop) >= admissible_pairs(*plan_);
}

}  // namespace fovea
