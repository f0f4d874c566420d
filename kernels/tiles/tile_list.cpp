#include "tiles/tile_list.h"

#include <algorithm>
#include <cmath>
#include <span>
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

// Those of the drawn rows.
std::span<const std::int32_t> drawn_within(const EntryRows& rows, IndexRange tokens) {
  const auto first = std::ranges::lower_bound(rows.drawn, tokens.begin),
             last = std::ranges::lower_bound(rows.drawn, tokens.end);
  return {first, last};
}

// Tokens of the rectangle's rows that the layer's order places, by ascending position.
struct Placed {
  std::int32_t position, token;
};
std::vector<Placed> placed_tokens(const TileList& list, const Layer& layer, const EntryRows& rows) {
  std::vector<Placed> placed;
  for (std::size_t p = 0; p < layer.order->size(); ++p) {
    const auto place = [&](Index i) {
      placed.push_back({static_cast<std::int32_t>(p), static_cast<std::int32_t>(i)});
    };
    const IndexRange its = cluster_tokens((*layer.order)[p], layer.query_level, list.n);
    if (rows.drawn.empty())
      for (Index i = std::max(its.begin, rows.range.begin); i < std::min(its.end, rows.range.end);
           ++i)
        place(i);
    else
      for (const std::int32_t i : drawn_within(rows, its)) place(i);
  }
  return placed;
}

// The group's runs as far as they meet the columns and the bands of `rows`; those in no order are
// kept whole.
void add_runs(const TileList& list, const RowGroup& group, IndexRange rows, IndexRange cols,
              std::vector<ColumnRun>& runs) {
  for (const std::int32_t r : group.runs) {
    ColumnRun run = list.group_runs[static_cast<std::size_t>(r)];
    if (run.cols < 0) {
      Index begin = std::max<Index>(run.begin, cols.begin >> run.level),
            end = std::min<Index>(run.end, ((cols.end - 1) >> run.level) + 1);
      if (run.hi != Band::unbounded) begin = std::max(begin, rows.begin - run.hi);
      if (run.lo != -Band::unbounded) end = std::min(end, rows.end - run.lo);
      if (begin >= end) continue;
      run.begin = static_cast<std::int32_t>(begin);
      run.end = static_cast<std::int32_t>(end);
    }
    if (run.begin < run.end) runs.push_back(run);
  }
}

// Makes the strips of an EntryList.
class EntryCut {
 public:
  EntryCut(const TileList& list, const EntryRows& rows, IndexRange cols, int height)
      : list_(list), rows_(rows), cols_(cols), height_(height) {}

  EntryList run() {
    for (const Layer& layer : list_.layers) {
      strip_ = strip_of(list_, layer);
      level_ = layer.query_level;
      if (!layer.order->empty())
        add_placed(layer);
      else if (rows_.drawn.empty())
        add_consecutive(layer);
      else
        add_drawn(layer);
    }
    return std::move(out_);
  }

 private:
  void add_consecutive(const Layer& layer) {
    for (const RowGroup& group : layer.groups) {
      const IndexRange tokens{std::max(rows_.range.begin, group.rows.begin << level_),
                              std::min(rows_.range.end, group.rows.end << level_)};
      add(group, -1, tokens, tokens);
    }
  }

  // Strip by strip: what lies between two drawn rows is a multiple of a strip's height.
  void add_drawn(const Layer& layer) {
    for (const RowGroup& group : layer.groups) {
      const auto its = drawn_within(rows_, {group.rows.begin << level_, group.rows.end << level_});
      for (std::size_t begin = 0; begin < its.size(); begin += static_cast<std::size_t>(height_)) {
        const auto some =
            its.subspan(begin, std::min(static_cast<std::size_t>(height_), its.size() - begin));
        const auto order = static_cast<std::int32_t>(out_.tokens.size());
        out_.tokens.insert(out_.tokens.end(), some.begin(), some.end());
        add(group, order, {0, std::ssize(some)}, {some.front(), Index{some.back()} + 1});
      }
    }
  }

  void add_placed(const Layer& layer) {
    const std::vector<Placed> placed = placed_tokens(list_, layer, rows_);
    auto at = placed.begin();
    for (const RowGroup& group : layer.groups) {
      at = std::find_if(at, placed.end(),
                        [&](const Placed& p) { return p.position >= group.rows.begin; });
      const auto order = static_cast<std::int32_t>(out_.tokens.size());
      for (; at != placed.end() && at->position < group.rows.end; ++at)
        out_.tokens.push_back(at->token);
      add(group, order, {0, std::ssize(out_.tokens) - order}, {0, list_.n});
    }
  }

  // Positions of an order of tokens, which lie within `tokens`.
  void add(const RowGroup& group, std::int32_t order, IndexRange positions, IndexRange tokens) {
    if (positions.size() <= 0) return;
    strip_.first_run = static_cast<std::int32_t>(out_.runs.size());
    add_runs(list_, group, tokens, cols_, out_.runs);
    strip_.last_run = static_cast<std::int32_t>(out_.runs.size());
    if (strip_.first_run == strip_.last_run) return;
    strip_.rows = order;
    cut_rows(strip_, positions, height_, [&](const Strip& s) {
      out_.strips.push_back(s);
      out_.query_level.push_back(level_);
    });
  }

  const TileList& list_;
  const EntryRows& rows_;
  const IndexRange cols_;
  const int height_;
  Strip strip_{};
  int level_ = 0;
  EntryList out_;
};

}  // namespace

bool TileList::complete() const {
  Index covered = 0;
  for (const Layer& layer : layers) {
    if (layer.round > 0 || layer.query_level > 0) return false;
    for (const RowGroup& group : layer.groups) covered += group.rows.size();
  }
  return covered == n;
}

bool TileList::dense() const {
  if (layers.size() != 1 || layers.front().groups.size() != 1 || query_top > 0 || key_top > 0)
    return false;
  const RowGroup& group = layers.front().groups.front();
  if (!layers.front().order->empty() || group.rows != IndexRange{0, n} || group.runs.size() != 1)
    return false;
  const ColumnRun& run = group_runs.front();
  return run.begin == 0 && run.end == n && run.cols < 0 && run.weight < 0;
}

TileList flatten(const Plan& plan) {
  return Flattening(plan).run();
}

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

StripList cut_strips(const TileList& list, IndexRange rows, int height) {
  StripList out;
  out.runs = list.group_runs;
  Strip strip = strip_of(list, list.layers.front());
  strip.state_base = -static_cast<std::int32_t>(rows.begin);
  strip.last_run = 1;
  cut_rows(strip, rows, height, [&](const Strip& s) { out.strips.push_back(s); });
  out.rounds.push_back({0, std::ssize(out.strips)});
  return out;
}

EntryList cut_entries(const TileList& list, const EntryRows& rows, IndexRange cols, int height) {
  return EntryCut(list, rows, cols, height).run();
}

}  // namespace fovea::cuda
