#include "variants/block_map.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"

namespace fovea {
namespace {

using Blocks = std::vector<std::int32_t>;

class MapPlanner {
 public:
  MapPlanner(const Problem& problem, const MapSelector& selector, Planning& planning)
      : problem_(problem), selector_(selector), planning_(planning) {}

  Plan plan() {
    Plan plan{.lengths = problem_.lengths(), .causal = problem_.causal, .form = {}};
    std::vector<std::int32_t> map = given();
    std::vector<float> scores;
    if (map.empty()) {
      map = select(scores);
      plan.planning_multiply_adds = selector_.multiply_adds;
    } else {
      scores = planning_.reals("block_scores", shape_symbols(), sizes());
    }
    Pass pass{.unit = "block"};
    Index without = 0;
    for (Index row = 0; row < rows(); ++row) {
      planning_.run.check();
      const std::size_t first = pass.tiles.size();
      add_tiles(row, map.data() + row * cols(), pass);
      without += queries_without_keys(row, std::span(pass.tiles).subspan(first));
    }
    if (without > 0)
      plan.notes.push_back(std::to_string(without) + " of " + std::to_string(problem_.n()) +
                           " queries have no key in the blocks that their block selects: Z = 0");
    plan.form = TilePlan{.passes = {std::move(pass)}};
    plan.fitted_to_all_tokens = true;
    plan.structure.set({"block_map", {rows(), cols()}, std::move(map)});
    if (!scores.empty()) plan.structure.set({"block_scores", {rows(), cols()}, std::move(scores)});
    return plan;
  }

 private:
  Index rows() const { return selector_.queries.count(); }
  Index cols() const { return selector_.keys.count(); }
  static SymbolicShape shape_symbols() { return {"query_blocks", "key_blocks"}; }
  Sizes sizes() const { return {{"query_blocks", rows()}, {"key_blocks", cols()}}; }

  bool can_select(Index row, Index col) const {
    return admits_any(problem_, selector_.queries.tokens(row), selector_.keys.tokens(col));
  }

  std::vector<std::int32_t> select(std::vector<float>& scores) {
    const auto stage = planning_.run.profile.stage("select");
    const double bytes = static_cast<double>(rows()) * static_cast<double>(cols()) * 8;
    require_memory(bytes,
                   "the scores of " + plural(rows(), "block") + " of queries and " +
                       plural(cols(), "block") + " of keys",
                   "Larger blocks need less");
    const auto size = static_cast<std::size_t>(rows() * cols());
    std::vector<std::int32_t> map(size);
    scores.assign(size, -std::numeric_limits<float>::infinity());
    planning_.backend.share_out(rows(), planning_.run, [&](Index row) {
      Blocks blocks;
      for (Index col = 0; col < cols(); ++col)
        if (can_select(row, col)) blocks.push_back(static_cast<std::int32_t>(col));
      const auto first = static_cast<std::size_t>(row * cols());
      if (!blocks.empty())
        selector_.choose(row, blocks,
                         std::span(scores).subspan(first, static_cast<std::size_t>(cols())));
      for (const std::int32_t col : blocks) map[first + static_cast<std::size_t>(col)] = 1;
    });
    return map;
  }

  std::vector<std::int32_t> given() const {
    const std::vector<std::int32_t>& given =
        planning_.integers("block_map", shape_symbols(), sizes());
    for (std::size_t at = 0; at < given.size(); ++at) {
      const Index row = static_cast<Index>(at) / cols(), col = static_cast<Index>(at) % cols();
      if (given[at] != 0 && (given[at] != 1 || !can_select(row, col)))
        throw InputError("block_map",
                         "[" + std::to_string(row) + "," + std::to_string(col) + "] is " +
                             std::to_string(given[at]) +
                             "; expected 0, or 1 where a query may attend a key of the blocks");
    }
    return given;
  }

  // Adjacent blocks make one tile.
  void add_tiles(Index row, const std::int32_t* of_row, Pass& pass) const {
    const IndexRange queries = selector_.queries.tokens(row);
    for (Index begin = 0, end = 0; begin < cols(); begin = end + 1) {
      end = begin;
      while (end < cols() && of_row[end] != 0) ++end;
      const IndexRange keys = selector_.keys.tokens(IndexRange{begin, end});
      if (begin == end) continue;
      const bool crossed = problem_.causal && keys.end - 1 > queries.begin;
      pass.tiles.push_back({queries, keys, crossed ? Band{.lo = 0} : Band{}});
    }
  }

  // Queries of a block that its tiles leave without a key, though the head gives them some.
  Index queries_without_keys(Index row, std::span<const Tile> tiles) const {
    const IndexRange queries = selector_.queries.tokens(row);
    Index count = 0;
    for (Index i = queries.begin; i < queries.end; ++i) {
      const auto attends = [&](const Tile& tile) {
        return admits_any(problem_, {i, i + 1}, tile.cols);
      };
      count += std::ranges::none_of(tiles, attends) &&
               admits_any(problem_, {i, i + 1}, {0, problem_.n()});
    }
    return count;
  }

  const Problem& problem_;
  const MapSelector& selector_;
  Planning& planning_;
};

}  // namespace

bool admits_any(const Problem& problem, IndexRange queries, IndexRange keys) {
  const Band band = problem.band();
  const IndexRange near{band.keys(queries.begin).begin, band.keys(queries.end - 1).end};
  if (keys.intersected(near).size() == 0) return false;
  if (!problem.mask) return true;
  for (Index i = queries.begin; i < queries.end; ++i)
    if (problem.mask->next_run(i, keys.intersected(band.keys(i))).size() > 0) return true;
  return false;
}

Plan plan_block_map(const Problem& problem, const MapSelector& selector, Planning& planning) {
  return MapPlanner(problem, selector, planning).plan();
}

std::vector<TensorField> block_map_tensors(const std::string& score) {
  const std::vector<SymbolicShape> shape{{"query_blocks", "key_blocks"}};
  return {{.name = "block_map",
           .shapes = shape,
           .meaning = "1 where a block of queries attends a block of keys, else 0."},
          {.name = "block_scores",
           .element = Element::real,
           .shapes = shape,
           .meaning = score,
           .minus_infinity = true}};
}

}  // namespace fovea
