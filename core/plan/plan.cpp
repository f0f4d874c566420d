#include "plan/plan.h"

#include <algorithm>

#include "data/error.h"
#include "plan/visit_form.h"

namespace fovea {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw Error(1, "a bad plan: " + what);
}

// An order names distinct clusters of its level; returns how many positions it has.
Index check_positions(const std::vector<std::int32_t>& order, Index count,
                      const std::string& what) {
  if (order.empty()) return count;
  std::vector<bool> seen(count);
  for (const std::int32_t cluster : order) {
    require(0 <= cluster && cluster < count,
            what + " " + std::to_string(cluster) + " of " + std::to_string(count));
    require(!seen[cluster], what + " " + std::to_string(cluster) + " is there twice");
    seen[cluster] = true;
  }
  return order.size();
}

void check_ranges(const Pass& pass, Index rows, Index cols) {
  const auto inside = [](IndexRange r, Index size) {
    return 0 <= r.begin && r.begin <= r.end && r.end <= size;
  };
  std::vector<IndexRange> groups;
  for (const Tile& tile : pass.tiles) {
    require(inside(tile.rows, rows) && inside(tile.cols, cols), "a tile outside its orders");
    require(tile.band.everything() || (pass.query_level == 0 && pass.key_level == 0),
            "a band above level 0");
    if (groups.empty() || groups.back() != tile.rows) groups.push_back(tile.rows);
  }
  std::ranges::sort(groups, {}, &IndexRange::begin);
  for (std::size_t g = 1; g < groups.size(); ++g)
    require(groups[g - 1].end <= groups[g].begin, "row ranges that overlap, or equal ones apart");
}

// Marks every pair of the pass in covered [nq, nk].
void cover(const Pass& pass, Lengths lengths, std::vector<bool>& covered) {
  const auto at = [](const std::vector<std::int32_t>& order, Index p) {
    return order.empty() ? p : Index{order[p]};
  };
  for (const Tile& tile : pass.tiles)
    for (Index r = tile.rows.begin; r < tile.rows.end; ++r)
      for (Index c = tile.cols.begin; c < tile.cols.end; ++c) {
        const IndexRange queries =
            cluster_tokens(at(pass.rows, r), pass.query_level, lengths.queries);
        const IndexRange keys = cluster_tokens(at(pass.cols, c), pass.key_level, lengths.keys);
        for (Index i = queries.begin; i < queries.end; ++i)
          for (Index j = keys.begin; j < keys.end; ++j) {
            if (!tile.band.contains(i, j) || pass.leaves_out(i, j)) continue;
            const auto pair = static_cast<std::size_t>(i * lengths.keys + j);
            require(!covered[pair],
                    "pair (" + std::to_string(i) + ", " + std::to_string(j) + ") is covered twice");
            covered[pair] = true;
          }
      }
}

void check_tiles(const TilePlan& tiles, Lengths lengths) {
  std::vector<bool> covered(lengths.queries * lengths.keys);
  for (const Pass& pass : tiles.passes) {
    const Index rows =
        check_positions(pass.rows, clusters(lengths.queries, pass.query_level), "query cluster");
    const Index cols =
        check_positions(pass.cols, clusters(lengths.keys, pass.key_level), "key cluster");
    require(pass.weight.empty() || static_cast<Index>(pass.weight.size()) == cols,
            "weights of another size");
    require(pass.earlier.empty() ||
                (pass.query_level == 0 && pass.key_level == 0 && !pass.cols.empty()),
            "pairs left out above level 0, or without an order of columns");
    for (const auto& chunks : pass.earlier)
      require(
          std::ssize(chunks->query) == lengths.queries && std::ssize(chunks->key) == lengths.keys,
          "chunks of another size");
    check_ranges(pass, rows, cols);
    cover(pass, lengths, covered);
  }
}

bool is_negative(float x) {
  return x < 0;
}

bool has_negative(MatrixView m) {
  for (Index i = 0; i < m.rows; ++i)
    if (std::any_of(m.row(i), m.row(i) + m.cols, is_negative)) return true;
  return false;
}

}  // namespace

double bytes_of(const Pass& pass) {
  return sizeof(std::int32_t) * (pass.rows.size() + pass.cols.size()) +
         sizeof(float) * pass.weight.size() + sizeof(Tile) * pass.tiles.size();
}

const PairMask* head_mask(const Plan& plan) {
  return plan.head_mask.value_or(plan.mask).get();
}

bool has_entries(const Plan& plan) {
  const auto* imported = plan.as<ImportedPlan>();
  return !imported || imported->kept || !imported->result->p.empty();
}

bool is_read(const Plan& plan) {
  const auto* imported = plan.as<ImportedPlan>();
  return imported && !(imported->result->z.empty() && imported->result->p.empty());
}

bool may_be_negative(const Plan& plan) {
  return visit_form(
      plan, [](const TilePlan&) { return false; },
      [](const NodePlan& nodes) { return std::ranges::any_of(nodes.alpha, is_negative); },
      [](const ProjectedPlan& projected) { return has_negative(projected.mix); },
      [](const FeaturePlan&) { return false; },
      [](const GatedPlan& gated) { return has_negative(gated.gates); },
      [](const RecurrentPlan&) { return true; },
      [](const ImportedPlan& imported) { return has_negative(imported.result->p); });
}

void check_disjoint(const Plan& plan) {
  visit_form(
      plan, [&](const TilePlan& tiles) { check_tiles(tiles, plan.lengths); },
      [](const ProjectedPlan& projected) {
        check_tiles(projected.tiles, {projected.queries.rows(), projected.queries.rows()});
      },
      [&](const GatedPlan& gated) {
        for (const TilePlan& branch : gated.branches) check_tiles(branch, plan.lengths);
      },
      [](const one_of<NodePlan, FeaturePlan, RecurrentPlan, ImportedPlan> auto&) {});
}

}  // namespace fovea
