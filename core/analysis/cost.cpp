#include "analysis/cost.h"

#include <algorithm>
#include <set>

#include "analysis/support.h"
#include "data/error.h"
#include "plan/visit_form.h"

namespace fovea {
namespace {

double product(IndexRange a, IndexRange b) {
  return static_cast<double>(a.size()) * static_cast<double>(b.size());
}

// Counts keys of ascending columns within the band of each row; both ends of the band move with the
// row.
double merged_pairs(const Side& rows, const Side& cols, const Tile& tile) {
  const auto row_runs = rows.runs(tile.rows, {0, Band::unbounded});
  const auto col_runs = cols.runs(tile.cols, {0, Band::unbounded});
  if (row_runs.empty() || col_runs.empty()) return 0;
  const Index least = row_runs.front().begin - (col_runs.back().end - 1);
  const Index most = row_runs.back().end - 1 - col_runs.front().begin;
  if (least >= tile.band.lo && most <= tile.band.hi) return product(tile.rows, tile.cols);
  if (most < tile.band.lo || least > tile.band.hi) return 0;
  if (col_runs.size() == 1) {
    double sum = 0;
    for (const IndexRange& r : row_runs) sum += pairs_in_band(r, col_runs.front(), tile.band);
    return sum;
  }
  double sum = 0;
  std::size_t low = 0, high = 0;  // columns [low, high) lie in [i - hi, i - lo]
  for (const IndexRange& run : row_runs)
    for (Index i = run.begin; i < run.end; ++i) {
      while (high < col_runs.size() && col_runs[high].begin <= i - tile.band.lo) ++high;
      while (low < high && col_runs[low].begin < i - tile.band.hi) ++low;
      sum += static_cast<double>(high - low);
    }
  return sum;
}

// Pairs that the mask admits and no earlier pass has counted.
double new_pairs(const Pass& pass, const Tile& tile, const PairMask* mask,
                 const std::stop_token& stop) {
  const auto token = [](const std::vector<std::int32_t>& order, Index p) {
    return order.empty() ? p : Index{order[p]};
  };
  Index count = 0;
  for (Index r = tile.rows.begin; r < tile.rows.end; ++r) {
    if (stop.stop_requested()) throw Cancelled();
    const Index i = token(pass.rows, r);
    if (mask && pass.cols.empty()) {
      count += mask->count(i, tile.cols.intersected(tile.band.keys(i)));
      continue;
    }
    for (Index c = tile.cols.begin; c < tile.cols.end; ++c) {
      const Index j = token(pass.cols, c);
      count += tile.band.contains(i, j) && !pass.leaves_out(i, j) && (!mask || mask->admits(i, j));
    }
  }
  return count;
}

double total_clusters(Index n, int from, int to) {
  double sum = 0;
  for (int level = from; level <= to; ++level) sum += static_cast<double>(clusters(n, level));
  return sum;
}

void count_tiles(const TilePlan& plan, const PairMask* mask, Lengths lengths, double d, double dv,
                 Cost& cost, const std::stop_token& stop) {
  const auto [queries, keys] = lengths;
  int query_top = 0, key_top = 0;
  double pairs = 0;
  std::set<const Chunks*> counted;  // passes share them
  for (const Pass& pass : plan.passes) {
    query_top = std::max(query_top, pass.query_level);
    key_top = std::max(key_top, pass.key_level);
    const Side rows(pass.rows, pass.query_level, queries), cols(pass.cols, pass.key_level, keys);
    for (const Tile& tile : pass.tiles) {
      if (stop.stop_requested()) throw Cancelled();
      pairs += mask || !pass.earlier.empty() ? new_pairs(pass, tile, mask, stop)
               : is_banded(pass, tile)       ? merged_pairs(rows, cols, tile)
                                             : product(tile.rows, tile.cols);
    }
    cost.bytes += bytes_of(pass);
    for (const auto& chunks : pass.earlier) counted.insert(chunks.get());
  }
  for (const Pass& pass : plan.row_estimates.exactly) cost.bytes += bytes_of(pass);
  cost.bytes += static_cast<double>(sizeof(double) * plan.row_estimates.log_sums.size());
  cost.bytes += static_cast<double>(sizeof(std::int32_t) * counted.size()) *
                static_cast<double>(queries + keys);
  cost.pairs += pairs;
  cost.multiply_adds += pairs * (d + dv);
  // A mean adds each row of the level below once; the state of a coarse query goes to both
  // children.
  const double query_width = plan.coarse_query == CoarseQuery::mean ? d : 0;
  cost.multiply_adds += total_clusters(keys, 0, key_top - 1) * (d + dv);
  cost.multiply_adds += total_clusters(queries, 0, query_top - 1) * (query_width + dv);
  // The pyramids of K, V and (means) Q; running maximum and sum of every query, and Z of coarse
  // ones.
  const double coarse_keys = total_clusters(keys, 1, key_top),
               coarse_queries = total_clusters(queries, 1, query_top);
  cost.bytes += sizeof(float) * (coarse_keys * (d + dv) + coarse_queries * (query_width + dv + 2) +
                                 2 * static_cast<double>(queries));
}

// Counts the pairs with weight. The cost of a result that was read is not known.
void count_imported(const Plan& plan, const ImportedPlan& imported, double d, double dv, Cost& cost,
                    const std::stop_token& stop) {
  if (imported.kept) {
    count_tiles({.passes = {*imported.kept}}, plan.mask.get(), plan.lengths, d, dv, cost, stop);
  } else {
    cost.pairs = admissible_pairs(plan);
    cost.multiply_adds += cost.pairs * (d + dv);
  }
  if (is_read(plan)) cost.bytes = 0;
}

void count_nodes(const NodePlan& plan, bool causal, Lengths lengths, double dv, Cost& cost) {
  double nodes = 1, width = 1;
  for (const int b : plan.branching) nodes += width *= b;
  const double depths = plan.alpha.size(), queries = lengths.queries, keys = lengths.keys;
  // Sums: each value into its leaf, each node into its parent; then one look-up per depth and
  // query. Prefix sums of a causal mask add each value at every depth instead.
  cost.multiply_adds += (causal ? keys * depths : keys + nodes) * dv + queries * depths * dv;
  cost.bytes += sizeof(float) * nodes * (dv + 1) + sizeof(std::int32_t) * (queries + keys);
}

void count_projected(const ProjectedPlan& plan, Index keys, double dv, Cost& cost,
                     const std::stop_token& stop) {
  const Index positions = plan.queries.rows();
  count_tiles(plan.tiles, nullptr, {positions, positions}, plan.queries.cols(), dv, cost, stop);
  const double mixes = static_cast<double>(plan.mix.rows()) * static_cast<double>(keys);
  cost.multiply_adds += mixes * dv;  // a mixture mixes the same place of all blocks
  cost.bytes += sizeof(float) * (static_cast<double>(plan.queries.rows()) * 2 *
                                     static_cast<double>(plan.queries.cols()) +
                                 static_cast<double>(plan.mix.rows() * plan.mix.cols()));
}

// Each branch's row of Z is multiplied by its gate and added to the others.
void count_gates(const GatedPlan& plan, double dv, Cost& cost) {
  const auto gates = static_cast<double>(plan.gates.rows() * plan.gates.cols());
  cost.multiply_adds += gates * dv;
  cost.bytes += sizeof(float) * gates * (1 + dv);
}

// Counts features of keys and queries (n m d each, if they are products), their sums with the
// values (n m dv) and what each query reads of the sums. Under a causal mask the sums are made
// twice, once to be read.
void count_features(const FeaturePlan& plan, Lengths lengths, double d, double dv, Cost& cost) {
  const double features = plan.features(static_cast<Index>(d));
  const double both = static_cast<double>(lengths.queries + lengths.keys) * features;
  const double made = plan.map == FeatureMap::exponential ? both * d : 0;
  cost.multiply_adds += made + both * (dv + 1);
  cost.bytes +=
      sizeof(float) *
      (features * (dv + 2) + static_cast<double>(plan.directions.rows() * plan.directions.cols()));
}

double numbers_of(MatrixView m) {
  return static_cast<double>(m.rows) * static_cast<double>(m.cols);
}

double states_of(const Recurrence& recurrence, Index n) {
  return recurrence.level_weights.empty() ? 1 : static_cast<double>(fenwick_levels(n));
}

void count_recurrence(const RecurrentPlan& plan, Index n, Index d, Index dv, Cost& cost) {
  const Recurrence& its = *plan.recurrence;
  cost.multiply_adds += multiply_adds_of(its, n, d, dv);
  cost.bytes += sizeof(float) * (states_of(its, n) * static_cast<double>(d * dv) +
                                 static_cast<double>(its.beta.size()) + numbers_of(its.log_decay) +
                                 numbers_of(its.level_weights));
}

}  // namespace

// A step takes up a value, of at least one column, in one state. Each state decays, is read for
// what it holds under the key and loses that, and is read for the output.
double multiply_adds_of(const Recurrence& recurrence, Index n, Index d, Index dv) {
  const double of_state =
      1.0 + (recurrence.log_decay.empty() ? 0 : 1) + (recurrence.erases ? 2 : 0);
  return static_cast<double>(n) * static_cast<double>(d * std::max<Index>(1, dv)) *
         (1 + states_of(recurrence, n) * of_state);
}

double count_pairs(const Pass& pass, const Tile& tile, const PairMask* mask) {
  if (mask || !pass.earlier.empty()) return new_pairs(pass, tile, mask, {});
  if (!is_banded(pass, tile)) return product(tile.rows, tile.cols);
  const Index n = Band::unbounded;  // level 0: no cluster is cut off
  return merged_pairs(Side(pass.rows, 0, n), Side(pass.cols, 0, n), tile);
}

Cost count_cost(const Plan& plan, Index d, Index dv, const std::stop_token& stop) {
  Cost cost;
  cost.exact_multiply_adds = admissible_pairs(plan) * static_cast<double>(d + dv);
  cost.multiply_adds = plan.planning_multiply_adds;
  cost.bytes = plan.planning_bytes;
  const double width = d, value_width = dv;
  visit_form(
      plan,
      [&](const TilePlan& tiles) {
        count_tiles(tiles, plan.mask.get(), plan.lengths, width, value_width, cost, stop);
      },
      [&](const NodePlan& nodes) {
        count_nodes(nodes, plan.causal, plan.lengths, value_width, cost);
      },
      [&](const ProjectedPlan& projected) {
        count_projected(projected, plan.keys(), value_width, cost, stop);
      },
      [&](const FeaturePlan& features) {
        count_features(features, plan.lengths, width, value_width, cost);
      },
      [&](const GatedPlan& gated) {
        for (const TilePlan& branch : gated.branches)
          count_tiles(branch, nullptr, plan.lengths, width, value_width, cost, stop);
        count_gates(gated, value_width, cost);
      },
      [&](const RecurrentPlan& recurrent) {
        count_recurrence(recurrent, plan.keys(), d, dv, cost);
      },
      [&](const ImportedPlan& imported) {
        count_imported(plan, imported, width, value_width, cost, stop);
      });
  return cost;
}

}  // namespace fovea
