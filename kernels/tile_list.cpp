#include "tile_list.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fovea::cuda {
namespace {

class Flattening {
 public:
  explicit Flattening(const Plan& plan) : plan_(plan), passes_(std::get<TilePlan>(plan.form)) {}

  TileList run() {
    list_.n = plan_.n;
    list_.mean_queries = passes_.coarse_query == CoarseQuery::mean;
    for (const Pass& pass : passes_.passes) add(pass);
    for (Layer& layer : list_.layers)
      for (const Layer& earlier : list_.layers) {
        if (&earlier == &layer) break;
        layer.round += earlier.query_level == layer.query_level;
      }
    return std::move(list_);
  }

 private:
  void add(const Pass& pass) {
    list_.query_top = std::max(list_.query_top, pass.query_level);
    list_.key_top = std::max(list_.key_top, pass.key_level);
    std::vector<RowGroup> groups = group(pass);
    if (groups.empty()) return;
    for (Layer& layer : list_.layers)
      if (layer.query_level == pass.query_level && *layer.order == pass.rows &&
          join(layer.groups, groups))
        return;
    list_.layers.push_back({.order = &pass.rows,
                            .query_level = pass.query_level,
                            .rows = append(pass.rows),
                            .groups = std::move(groups)});
  }

  std::int32_t append(const std::vector<std::int32_t>& order) {
    if (order.empty()) return -1;
    const auto at = static_cast<std::int32_t>(list_.indices.size());
    list_.indices.insert(list_.indices.end(), order.begin(), order.end());
    return at;
  }

  std::vector<RowGroup> group(const Pass& pass) {
    const ColumnRun common = columns(pass);
    std::vector<RowGroup> groups;
    for (const Tile& tile : pass.tiles) {
      if (tile.rows.size() <= 0 || tile.cols.size() <= 0) continue;
      ColumnRun run = common;
      run.begin = static_cast<std::int32_t>(tile.cols.begin);
      run.end = static_cast<std::int32_t>(tile.cols.end);
      run.lo = static_cast<std::int32_t>(tile.band.lo);
      run.hi = static_cast<std::int32_t>(tile.band.hi);
      if (groups.empty() || groups.back().rows != tile.rows) groups.push_back({tile.rows, {}});
      groups.back().runs.push_back(static_cast<std::int32_t>(list_.group_runs.size()));
      list_.group_runs.push_back(run);
    }
    std::ranges::sort(groups, {}, [](const RowGroup& g) { return g.rows.begin; });
    return groups;
  }

  // What all runs of a pass have in common: order, level, weights.
  ColumnRun columns(const Pass& pass) {
    const int level = pass.key_level;
    ColumnRun run{.cols = append(pass.cols),
                  .key_base = static_cast<std::int32_t>(pyramid_rows(plan_.n, level)),
                  .level = level,
                  .weight = -1,
                  .pair_weight = -1};
    if (pass.weight.empty() && level == 0) return run;
    const auto count = static_cast<std::size_t>(
        pass.cols.empty() ? clusters(plan_.n, level) : static_cast<Index>(pass.cols.size()));
    const auto size = [&](std::size_t p) {
      const Index cluster = pass.cols.empty() ? static_cast<Index>(p) : pass.cols[p];
      return static_cast<float>(cluster_tokens(cluster, level, plan_.n).size());
    };
    run.weight = static_cast<std::int32_t>(list_.weights.size());
    for (std::size_t p = 0; p < count; ++p)
      list_.weights.push_back(std::log2(pass.weight.empty() ? size(p) : pass.weight[p]));
    if (pass.weight.empty()) return run;  // a column counts once for each of its tokens
    run.pair_weight = static_cast<std::int32_t>(list_.weights.size());
    for (std::size_t p = 0; p < count; ++p)
      list_.weights.push_back(std::log2(pass.weight[p] / size(p)));
    return run;
  }

  // Whether `more` could be added to `groups`: all row ranges equal or disjoint.
  static bool join(std::vector<RowGroup>& groups, const std::vector<RowGroup>& more) {
    std::vector<RowGroup> all = groups;
    all.insert(all.end(), more.begin(), more.end());
    std::ranges::stable_sort(all, {}, [](const RowGroup& g) { return g.rows.begin; });
    std::vector<RowGroup> joined;
    for (RowGroup& g : all) {
      if (!joined.empty() && joined.back().rows == g.rows)
        joined.back().runs.insert(joined.back().runs.end(), g.runs.begin(), g.runs.end());
      else if (!joined.empty() && g.rows.begin < joined.back().rows.end)
        return false;
      else
        joined.push_back(std::move(g));
    }
    groups = std::move(joined);
    return true;
  }

  const Plan& plan_;
  const TilePlan& passes_;
  TileList list_;
};

// A strip of the layer but for its rows and runs. A cluster's query is its first token's, or a row
// of the pyramid of means.
Strip strip_of(const TileList& list, const Layer& layer) {
  const auto base = static_cast<std::int32_t>(pyramid_rows(list.n, layer.query_level));
  return {.first_row = 0,
          .row_count = 0,
          .rows = layer.rows,
          .query_base = list.mean_queries ? base : 0,
          .query_shift = list.mean_queries ? 0 : layer.query_level,
          .state_base = base,
          .first_run = 0,
          .last_run = 0};
}

template <class Add>
void cut_rows(Strip strip, IndexRange rows, int height, Add add) {
  for (Index begin = rows.begin; begin < rows.end; begin += height) {
    strip.first_row = static_cast<std::int32_t>(begin);
    strip.row_count = static_cast<std::int32_t>(std::min<Index>(height, rows.end - begin));
    add(strip);
  }
}

// Tokens of the rectangle's rows that the layer's order places, by ascending position.
struct Placed {
  std::int32_t position, token;
};
std::vector<Placed> placed_tokens(const TileList& list, const Layer& layer, IndexRange rows) {
  std::vector<Placed> placed;
  for (std::size_t p = 0; p < layer.order->size(); ++p) {
    const IndexRange its = cluster_tokens((*layer.order)[p], layer.query_level, list.n);
    for (Index i = std::max(its.begin, rows.begin); i < std::min(its.end, rows.end); ++i)
      placed.push_back({static_cast<std::int32_t>(p), static_cast<std::int32_t>(i)});
  }
  return placed;
}

// The group's runs as far as they meet the columns; those in no order are kept whole.
void add_runs(const TileList& list, const RowGroup& group, IndexRange cols,
              std::vector<ColumnRun>& runs) {
  for (const std::int32_t r : group.runs) {
    ColumnRun run = list.group_runs[static_cast<std::size_t>(r)];
    if (run.cols < 0) {
      run.begin = std::max(run.begin, static_cast<std::int32_t>(cols.begin >> run.level));
      run.end = std::min(run.end, static_cast<std::int32_t>(((cols.end - 1) >> run.level) + 1));
    }
    if (run.begin < run.end) runs.push_back(run);
  }
}

}  // namespace

bool TileList::complete() const {
  Index covered = 0;
  for (const Layer& layer : layers) {
    if (layer.round > 0 || layer.query_level > 0) return false;
    for (const RowGroup& group : layer.groups) covered += group.rows.size();
  }
  return covered == n;
}

TileList flatten(const Plan& plan) { return Flattening(plan).run(); }

StripList cut_strips(const TileList& list, int height) {
  StripList out;
  Index rounds = 0;
  for (const Layer& layer : list.layers) rounds = std::max(rounds, layer.round + 1);
  for (Index round = 0; round < rounds; ++round) {
    const Index first = static_cast<Index>(out.strips.size());
    for (const Layer& layer : list.layers) {
      if (layer.round != round) continue;
      Strip strip = strip_of(list, layer);
      for (const RowGroup& group : layer.groups) {
        strip.first_run = static_cast<std::int32_t>(out.runs.size());
        for (const std::int32_t run : group.runs)
          out.runs.push_back(list.group_runs[static_cast<std::size_t>(run)]);
        strip.last_run = static_cast<std::int32_t>(out.runs.size());
        cut_rows(strip, group.rows, height, [&](const Strip& s) { out.strips.push_back(s); });
      }
    }
    out.rounds.push_back({first, static_cast<Index>(out.strips.size())});
  }
  return out;
}

EntryList cut_entries(const TileList& list, IndexRange rows, IndexRange cols, int height) {
  EntryList out;
  for (const Layer& layer : list.layers) {
    Strip strip = strip_of(list, layer);
    const int level = layer.query_level;
    const auto add = [&](const RowGroup& group, std::int32_t order, IndexRange its) {
      if (its.size() <= 0) return;
      strip.first_run = static_cast<std::int32_t>(out.runs.size());
      add_runs(list, group, cols, out.runs);
      strip.last_run = static_cast<std::int32_t>(out.runs.size());
      if (strip.first_run == strip.last_run) return;
      strip.rows = order;
      cut_rows(strip, its, height, [&](const Strip& s) {
        out.strips.push_back(s);
        out.query_level.push_back(level);
      });
    };
    if (layer.order->empty()) {
      for (const RowGroup& group : layer.groups)
        add(group, -1,
            {std::max(rows.begin, group.rows.begin << level),
             std::min(rows.end, group.rows.end << level)});
      continue;
    }
    const std::vector<Placed> placed = placed_tokens(list, layer, rows);
    auto at = placed.begin();
    for (const RowGroup& group : layer.groups) {
      at = std::find_if(at, placed.end(),
                        [&](const Placed& p) { return p.position >= group.rows.begin; });
      const auto order = static_cast<std::int32_t>(out.tokens.size());
      for (; at != placed.end() && at->position < group.rows.end; ++at)
        out.tokens.push_back(at->token);
      add(group, order, {0, static_cast<Index>(out.tokens.size()) - order});
    }
  }
  return out;
}

}  // namespace fovea::cuda
