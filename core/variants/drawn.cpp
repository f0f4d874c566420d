#include "variants/drawn.h"

#include <algorithm>

#include "analysis/block_mask.h"
#include "analysis/selected_recall.h"
#include "analysis/support.h"
#include "data/blocks.h"
#include "data/number_text.h"
#include "data/stop.h"

namespace fovea {
namespace {

struct DrawnParameters {
  Index block = 64;
  std::string pairs = "all";

  static std::vector<TypedField<DrawnParameters>> fields() {
    auto block =
        int_field("block", "Block", "tokens", &DrawnParameters::block, 1, 131072, Axis::log2,
                  "Side of the blocks in which pairs are drawn on the canvas. The pairs "
                  "that are drawn already stay.");
    block.field.for_short_head = [](Index n) { return Value(std::int64_t{n < 256 ? 1 : 16}); };
    return {text_field("pairs", "Pairs", &DrawnParameters::pairs,
                       "Rectangles of pairs, queries/keys: 0-63/128-191 includes its pairs, "
                       "!0-63/128-191 excludes them. Where several overlap, the last one decides. "
                       "\"all\" in front begins with all pairs."),
            block};
  }
};

Plan plan_drawn(const Problem& problem, const DrawnParameters& p, Planning&) {
  const DrawnPairs pairs = DrawnPairs::from_text(p.pairs);
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal};
  Pass pass{.unit = "rectangle"};
  const Band band = band_of(problem.causal, 0, problem.lengths().offset());
  for (const DrawnRows& rows : pairs.rows(problem.lengths()))
    for (const IndexRange& keys : rows.keys) pass.tiles.push_back({rows.queries, keys, band});
  if (const Index beyond = pairs.beyond(problem.lengths()))
    plan.notes.push_back(plural(beyond, "drawn rectangle") + (beyond == 1 ? " ends" : " end") +
                         " beyond the head: cut off there");
  plan.form = TilePlan{.passes = {std::move(pass)}};
  return plan;
}

/// The blocks of keys of one row of blocks.
using BlockRuns = std::vector<IndexRange>;

}  // namespace

Index drawn_block(const Values& values) {
  return std::get<std::int64_t>(values[1]);
}

DrawnPairs drawn_pairs(const Values& values) {
  return DrawnPairs::from_text(std::get<std::string>(values[0]));
}

void set_drawn_pairs(Values& values, const DrawnPairs& pairs) {
  values[0] = pairs.text();
}

DrawnRectangle in_blocks(const DrawnRectangle& rectangle, Index block, Lengths lengths) {
  const auto nearest = [block](Index edge, Index count) {  // the end of the head is an edge, too
    const Index below = edge / block * block, above = std::min(count, below + block);
    return edge - below < above - edge ? below : above;
  };
  const auto snapped = [&](IndexRange tokens, Index count) {
    const Index end = std::max(nearest(tokens.end, count), std::min(count, block));
    const Index last = (end - 1) / block * block;  // where the last block begins
    return IndexRange{std::min(nearest(tokens.begin, count) / block * block, last), end};
  };
  return {snapped(rectangle.queries, lengths.queries), snapped(rectangle.keys, lengths.keys),
          rectangle.includes};
}

DrawnPairs drawn_from(const Plan& plan, Lengths block, const std::stop_token& stop) {
  const Lengths all = plan.lengths;
  const Index rows = number_of_blocks(all.queries, block.queries),
              cols = number_of_blocks(all.keys, block.keys);
  const std::vector<double> pairs = block_pairs(plan, {0, all.queries}, {0, all.keys}, block, stop);
  const auto tokens = [](IndexRange blocks, Index size, Index count) {
    return IndexRange{blocks.begin * size, std::min(count, blocks.end * size)};
  };
  DrawnPairs drawn;
  BlockRuns before;
  Index begin = 0;  // of the rows of blocks that have the runs `before`
  const auto add_rows = [&](Index end) {
    for (const IndexRange& run : before)
      drawn.add({.queries = tokens({begin, end}, block.queries, all.queries),
                 .keys = tokens(run, block.keys, all.keys)});
    begin = end;
  };
  for (Index r = 0; r < rows; ++r) {
    check_stop(stop);
    const IndexRange queries = tokens({r, r + 1}, block.queries, all.queries);
    const double* its = pairs.data() + r * cols;
    const auto kept = [&](Index c) { return its[c] > 0; };
    const auto free = [&](Index c) {
      return pairs_in_band(queries, tokens({c, c + 1}, block.keys, all.keys), plan.band()) == 0;
    };
    BlockRuns runs;
    for (Index c = 0; c < cols;) {
      if (!kept(c)) {
        ++c;
        continue;
      }
      IndexRange run{c, c + 1};
      while (run.end < cols && (kept(run.end) || free(run.end))) ++run.end;
      runs.push_back(run);
      c = run.end;
    }
    if (r > 0 && runs != before) add_rows(r);
    before = std::move(runs);
  }
  add_rows(rows);
  return drawn;
}

const Variant& drawn_variant() {
  static const Variant drawn = make_variant<DrawnParameters>(
      {.id = "drawn",
       .label = "Drawn",
       .paper = "pairs that somebody keeps by hand",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ: the drawn keys of query i",
       .summary = "The pairs of rectangles that are drawn on the canvas, or given as text.",
       .unequal_lengths = UnequalLengths::all,
       .any_keys = true,
       .group = Group::selectors,
       .quick = true,
       .diagnostics = {selection_figures},
       .is_exact = [](const Values& values,
                      Index) { return drawn_pairs(values) == DrawnPairs(true); }},
      plan_drawn);
  return drawn;
}

}  // namespace fovea
