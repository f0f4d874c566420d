#include "tiles/tile_list.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "tiles/divided_query_tiles.h"
#include "tiles/joined_runs.h"

namespace fovea::cuda {
namespace {

// Lays the passes of FlatTiles out for the device.
class Layering {
 public:
  explicit Layering(const FlatTiles& flat) : flat_(flat) {}

  TileList run() {
    list_.lengths = flat_.lengths;
    list_.query_top = flat_.query_top;
    list_.key_top = flat_.key_top;
    list_.mean_queries = flat_.mean_queries;
    // With a sliding window the keys of a query tile do not begin with the first one.
    list_.dense = flat_.dense() && flat_.passes.front().runs.front().band.hi == Band::unbounded;
    std::size_t runs = 0;
    for (const FlatPass& pass : flat_.passes) {
      runs += pass.runs.size();
      if (!pass.groups.empty()) add(pass);
    }
    list_.group_runs.reserve(runs);
    for (std::size_t layer = 0; layer < parts_.size(); ++layer)
      list_.layers[layer].groups = groups_of(parts_[layer]);
    for (Layer& layer : list_.layers)
      for (const Layer& earlier : list_.layers) {
        if (&earlier == &layer) break;
        layer.round += earlier.query_level == layer.query_level;
      }
    return std::move(list_);
  }

 private:
  // A group of a pass, whose runs have what all runs of the pass have in common.
  struct Part {
    TileGroup group;
    std::size_t pass;  // of passes_
  };

  void add(const FlatPass& flat) {
    const Pass& pass = *flat.pass;
    passes_.emplace_back(&flat, common_run(flat));
    std::vector<Part> parts;
    parts.reserve(flat.groups.size());
    for (const TileGroup& group : flat.groups) parts.push_back({group, passes_.size() - 1});
    for (std::size_t layer = 0; layer < parts_.size(); ++layer)
      if (list_.layers[layer].query_level == pass.query_level &&
          *list_.layers[layer].order == pass.rows && join(parts_[layer], parts))
        return;
    list_.layers.push_back({.order = &pass.rows,
                            .query_level = pass.query_level,
                            .rows = append(list_.indices, pass.rows)});
    parts_.push_back(std::move(parts));
  }

  // Appends `values` and returns where they begin; -1 if there are none.
  template <class T>
  static std::int32_t append(std::vector<T>& all, const std::vector<T>& values) {
    if (values.empty()) return -1;
    const auto at = static_cast<std::int32_t>(all.size());
    all.insert(all.end(), values.begin(), values.end());
    return at;
  }

  ColumnRun common_run(const FlatPass& flat) {
    const int level = flat.pass->key_level;
    return {.cols = append(list_.indices, flat.pass->cols),
            .key_base = static_cast<std::int32_t>(pyramid_rows(flat_.lengths.keys, level)),
            .level = level,
            .weight = append(list_.weights, flat.log2_weight),
            .pair_weight = append(list_.weights, flat.log2_pair_weight),
            .earlier = chunks_of(*flat.pass),
            .rounds = static_cast<std::int32_t>(flat.pass->earlier.size())};
  }

  // Parts with the same rows are one group.
  std::vector<RowGroup> groups_of(const std::vector<Part>& parts) {
    std::vector<RowGroup> groups;
    groups.reserve(parts.size());
    for (const Part& part : parts) {
      const Index begin = std::ssize(list_.group_runs);
      const auto& [flat, common] = passes_[part.pass];
      for (std::size_t r = part.group.first; r < part.group.last; ++r) {
        const KeyRun& keys = flat->runs[r];
        ColumnRun& run = list_.group_runs.emplace_back(common);
        run.begin = static_cast<std::int32_t>(keys.cols.begin);
        run.end = static_cast<std::int32_t>(keys.cols.end);
        run.lo = static_cast<std::int32_t>(keys.band.lo);
        run.hi = static_cast<std::int32_t>(keys.band.hi);
      }
      if (groups.empty() || groups.back().rows != part.group.rows)
        groups.push_back({part.group.rows, {begin, begin}});
      groups.back().runs.end = std::ssize(list_.group_runs);
    }
    return groups;
  }

  // Where the chunks of the rounds before a pass begin; the next pass has them and more.
  std::int32_t chunks_of(const Pass& pass) {
    const auto known = std::min(pass.earlier.size(), earlier_.size());
    if (!std::equal(earlier_.begin(), earlier_.begin() + static_cast<std::ptrdiff_t>(known),
                    pass.earlier.begin())) {
      earlier_.clear();
      first_chunk_ = std::ssize(list_.chunks);
    }
    for (std::size_t r = earlier_.size(); r < pass.earlier.size(); ++r) {
      const Chunks& chunks = *pass.earlier[r];
      list_.chunks.insert(list_.chunks.end(), chunks.query.begin(), chunks.query.end());
      list_.chunks.insert(list_.chunks.end(), chunks.key.begin(), chunks.key.end());
      earlier_.push_back(pass.earlier[r]);
    }
    return static_cast<std::int32_t>(first_chunk_);
  }

  // Adds `more` to `parts` if all row ranges are equal or disjoint; else returns false.
  static bool join(std::vector<Part>& parts, const std::vector<Part>& more) {
    const auto begin = [](const Part& part) { return part.group.rows.begin; };
    std::vector<Part> all;
    all.reserve(parts.size() + more.size());
    std::ranges::merge(parts, more, std::back_inserter(all), {}, begin, begin);
    const auto overlap = [](const Part& a, const Part& b) {
      return a.group.rows != b.group.rows && b.group.rows.begin < a.group.rows.end;
    };
    if (std::ranges::adjacent_find(all, overlap) != all.end()) return false;
    parts = std::move(all);
    return true;
  }

  const FlatTiles& flat_;
  TileList list_;
  std::vector<std::pair<const FlatPass*, ColumnRun>> passes_;  // with what their runs share
  std::vector<std::vector<Part>> parts_;                       // of each layer, by ascending rows
  std::vector<std::shared_ptr<const Chunks>> earlier_;         // that list_.chunks ends with
  std::ptrdiff_t first_chunk_ = 0;                             // where they begin
};

// A query tile of the layer without its rows and runs. The query of a cluster is that of its first
// token, or a row of the pyramid of means.
QueryTile query_tile_of(const TileList& list, const Layer& layer) {
  const auto base =
      static_cast<std::int32_t>(pyramid_rows(list.lengths.queries, layer.query_level));
  return {.first_row = 0,
          .row_count = 0,
          .rows = layer.rows,
          .query_base = list.mean_queries ? base : 0,
          .query_shift = list.mean_queries ? 0 : layer.query_level,
          .state_base = base,
          .first_run = 0,
          .last_run = 0};
}

// The groups' rows in query tiles of at most `height`. `add` gets the pieces of one query tile,
// whose rows follow one another.
template <class Add>
void pack_rows(const std::vector<RowGroup>& groups, Index height, Add add) {
  std::vector<Piece> pieces;
  for (const RowGroup& group : groups)
    for (IndexRange rows = group.rows; rows.size() > 0; rows.begin = pieces.back().rows.end) {
      const IndexRange its{rows.begin, std::min(rows.end, rows.begin + height)};
      if (!pieces.empty() &&
          (pieces.back().rows.end != its.begin || its.end - pieces.front().rows.begin > height)) {
        add(pieces);
        pieces.clear();
      }
      pieces.push_back({&group, its});
    }
  if (!pieces.empty()) add(pieces);
}

template <class Add>
void cut_rows(QueryTile tile, IndexRange rows, int height, Add add) {
  for (Index begin = rows.begin; begin < rows.end; begin += height) {
    tile.first_row = static_cast<std::int32_t>(begin);
    tile.row_count = static_cast<std::int32_t>(std::min<Index>(height, rows.end - begin));
    add(tile);
  }
}

// How many layers hold queries of one level, at most.
Index rounds_of(const TileList& list) {
  Index rounds = 0;
  for (const Layer& layer : list.layers) rounds = std::max(rounds, layer.round + 1);
  return rounds;
}

// Calls use(query tile, its runs, group) for the query tiles of a round; group: whose runs these
// are; null if they are of several.
template <class Use>
void for_each_query_tile(const TileList& list, Index round, int height, Use use) {
  JoinedRuns joined(list);
  for (const Layer& layer : list.layers) {
    if (layer.round != round) continue;
    QueryTile tile = query_tile_of(list, layer);
    pack_rows(layer.groups, height, [&](const std::vector<Piece>& pieces) {
      tile.first_row = static_cast<std::int32_t>(pieces.front().rows.begin);
      tile.row_count = static_cast<std::int32_t>(pieces.back().rows.end) - tile.first_row;
      const RowGroup* alone = pieces.size() == 1 ? pieces.front().group : nullptr;
      const std::span<const ColumnRun> runs = alone ? list.runs_of(*alone) : joined.of(pieces);
      tile.keys = keys_of(tile, runs);
      use(tile, runs, alone);
    });
  }
}

// Those of the queries `rows` of a dense list.
template <class Use>
void for_each_query_tile(const TileList& list, IndexRange rows, int height, Use use) {
  QueryTile tile = query_tile_of(list, list.layers.front());
  tile.state_base = -static_cast<std::int32_t>(rows.begin);
  tile.last_run = 1;
  cut_rows(tile, rows, height, [&](QueryTile each) {
    each.keys = keys_of(each, list.group_runs);
    use(each);
  });
}

void count(const QueryTile& tile, std::vector<EqualQueryTiles>& out) {
  if (out.empty() || out.back().keys != tile.keys) out.push_back({tile.keys, 0});
  ++out.back().count;
}

// The drawn rows among `tokens`.
std::span<const std::int32_t> drawn_within(const EntryRows& rows, IndexRange tokens) {
  const auto first = std::ranges::lower_bound(rows.drawn, tokens.begin),
             last = std::ranges::lower_bound(rows.drawn, tokens.end);
  return {first, last};
}

// The rectangle's rows that are in the layer's order, by ascending position.
struct Placed {
  std::int32_t position, token;
};
std::vector<Placed> placed_tokens(const TileList& list, const Layer& layer, const EntryRows& rows) {
  std::vector<Placed> placed;
  for (std::size_t p = 0; p < layer.order->size(); ++p) {
    const auto place = [&](Index i) {
      placed.push_back({static_cast<std::int32_t>(p), static_cast<std::int32_t>(i)});
    };
    const IndexRange all =
                         cluster_tokens((*layer.order)[p], layer.query_level, list.lengths.queries),
                     its = all.intersected(rows.range);
    if (rows.drawn.empty())
      for (Index i = its.begin; i < its.end; ++i) place(i);
    else
      for (const std::int32_t i : drawn_within(rows, all)) place(i);
  }
  return placed;
}

// The group's runs, cut to the columns and to the bands of `rows`. Runs over an order of their own
// are kept whole.
void add_runs(const TileList& list, const RowGroup& group, IndexRange rows, IndexRange cols,
              std::vector<ColumnRun>& runs) {
  for (ColumnRun run : list.runs_of(group)) {
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

// Makes the query tiles of an EntryList.
class EntryCut {
 public:
  EntryCut(const TileList& list, const EntryRows& rows, IndexRange cols, int height)
      : list_(list), rows_(rows), cols_(cols), height_(height) {}

  EntryList run() {
    for (const Layer& layer : list_.layers) {
      query_tile_ = query_tile_of(list_, layer);
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
      const IndexRange tokens =
          rows_.range.intersected({group.rows.begin << level_, group.rows.end << level_});
      add(group, -1, tokens, tokens);
    }
  }

  // Drawn rows are far apart, so the keys are chosen for each query tile by itself.
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
      add(group, order, {0, std::ssize(out_.tokens) - order}, {0, list_.lengths.queries});
    }
  }

  // Adds positions of an order of tokens, all of which lie within `tokens`.
  void add(const RowGroup& group, std::int32_t order, IndexRange positions, IndexRange tokens) {
    if (positions.size() <= 0) return;
    query_tile_.first_run = static_cast<std::int32_t>(out_.runs.size());
    add_runs(list_, group, tokens, cols_, out_.runs);
    query_tile_.last_run = static_cast<std::int32_t>(out_.runs.size());
    if (query_tile_.first_run == query_tile_.last_run) return;
    query_tile_.rows = order;
    const auto runs = std::span<const ColumnRun>(out_.runs).subspan(
        static_cast<std::size_t>(query_tile_.first_run));
    cut_rows(query_tile_, positions, height_, [&](QueryTile each) {
      each.keys = keys_of(each, runs);
      out_.tiles.push_back(each);
      out_.query_level.push_back(level_);
    });
  }

  const TileList& list_;
  const EntryRows& rows_;
  const IndexRange cols_;
  const int height_;
  QueryTile query_tile_{};
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
  return covered == lengths.queries;
}

TileList tile_list(const Plan& plan) {
  const FlatTiles flat = flatten_tiles(plan);
  return Layering(flat).run();
}

QueryTileList cut_query_tiles(const TileList& list, int height) {
  QueryTileList out;
  out.runs.reserve(list.group_runs.size() * 5 / 4);  // some groups are in two query tiles
  for (Index round = 0; round < rounds_of(list); ++round) {
    const Index first = std::ssize(out.tiles);
    const RowGroup* before = nullptr;
    for_each_query_tile(
        list, round, height,
        [&](QueryTile tile, std::span<const ColumnRun> runs, const RowGroup* alone) {
          if (alone && alone == before) {
            tile.first_run = out.tiles.back().first_run;
          } else {
            tile.first_run = static_cast<std::int32_t>(out.runs.size());
            out.runs.insert(out.runs.end(), runs.begin(), runs.end());
          }
          tile.last_run = static_cast<std::int32_t>(out.runs.size());
          before = alone;
          out.tiles.push_back(tile);
        });
    out.rounds.push_back({first, std::ssize(out.tiles)});
  }
  return out;
}

QueryTileList cut_query_tiles(const TileList& list, IndexRange rows, int height) {
  QueryTileList out;
  out.runs = list.group_runs;
  for_each_query_tile(list, rows, height,
                      [&](const QueryTile& tile) { out.tiles.push_back(tile); });
  out.rounds.push_back({0, std::ssize(out.tiles)});
  return out;
}

std::vector<EqualQueryTiles> count_keys(const TileList& list, int height) {
  std::vector<EqualQueryTiles> out;
  for (Index round = 0; round < rounds_of(list); ++round)
    for_each_query_tile(list, round, height,
                        [&](const QueryTile& tile, std::span<const ColumnRun>, const RowGroup*) {
                          count(tile, out);
                        });
  return out;
}

std::vector<EqualQueryTiles> count_keys(const TileList& list, IndexRange rows, int height) {
  std::vector<EqualQueryTiles> out;
  for_each_query_tile(list, rows, height, [&](const QueryTile& tile) { count(tile, out); });
  return out;
}

EntryList cut_entries(const TileList& list, const EntryRows& rows, IndexRange cols, int height) {
  return EntryCut(list, rows, cols, height).run();
}

}  // namespace fovea::cuda
