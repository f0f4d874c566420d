// Sparse VideoGen: spatial heads attend the frames around the own one, temporal heads the same
// place in all frames.
#include <algorithm>
#include <cmath>

#include "analysis/key_sets.h"
#include "variants/token_grid.h"
#include "variants/variant.h"
#include "variants/window_tiles.h"

namespace fovea {
namespace {

enum class Pattern { spatial, temporal };

struct SvgParameters : GridParameters {
  Pattern pattern = Pattern::spatial;
  double reach = 2;
  FirstFrame first_frame = FirstFrame::masked;

  static std::vector<TypedField<SvgParameters>> fields() {
    using P = SvgParameters;
    auto reach = real_field<P>(
        "reach", "Reach w", "frames", &P::reach, 0, 131072, Axis::log2,
        "spatial: tokens less than w frames away are attended, in whole tokens. temporal: tokens "
        "whose places in their frames are less than w / F of a frame apart, for F frames.");
    // A shorter head is taken for a single frame.
    reach.field.for_short_head = [](Index) { return Value(0.25); };
    reach.field.worth_trying = [](Index n) {
      return n < default_length ? std::vector<Value>{0.25, 0.5, 0.125}
                                : std::vector<Value>{2.0, 1.0, 4.0, 0.5};
    };
    auto pattern =
        choice_field("pattern", "Pattern", &P::pattern, {"spatial", "temporal"},
                     "spatial: the frames around the own one. temporal: nearby places in "
                     "all frames.");
    pattern.field.worth_trying = try_choices(pattern.field);
    auto first_frame =
        choice_field("first_frame", "First frame", &P::first_frame, {"masked", "attended"},
                     "attended: all tokens attend the first frame, too.");
    first_frame.field.only_with = {{"pattern", "spatial"}};
    std::vector<TypedField<P>> all{pattern, reach, first_frame};
    for (auto& field : grid_fields<P>()) all.push_back(std::move(field));
    return all;
  }
};

/// The largest whole distance of two tokens that is less than `tokens` rounded down, at least 0.
Index distance_below(double tokens) {
  return std::max<Index>(static_cast<Index>(std::floor(std::min(tokens, 1e9))), 1) - 1;
}

/// A window over all frames, beside the columns that every query attends.
Plan plan_spatial(const Problem& problem, const SvgParameters& p, const TokenGrid& grid) {
  const Index n = problem.n(), reach = distance_below(p.reach * static_cast<double>(grid.area()));
  const IndexRange cells = grid.cells(), text = grid.text();
  const IndexRange first = p.first_frame == FirstFrame::attended
                               ? grid.tokens_of(0)
                               : IndexRange{cells.begin, cells.begin};
  Pass pass;
  if (text.size() > 0) pass.tiles.push_back({text, {0, n}});
  // Each query is in one tile of the window, as it attends itself. The same rows have tiles of
  // their own for the text and the first frame.
  for (const Tile& tile : window_tiles(cells, cells, reach, false)) {
    for (const IndexRange& cols : {text, first})
      if (cols.size() > 0) pass.tiles.push_back({tile.rows, cols});
    const IndexRange rest = tile.cols.intersected({first.end, cells.end});
    if (rest.size() > 0) pass.tiles.push_back({tile.rows, rest, tile.band});
  }
  return {.lengths = {n, n},
          .form = TilePlan{.passes = {std::move(pass)}},
          .notes = grid.notes(problem)};
}

Plan plan_temporal(const Problem& problem, const SvgParameters& p, const TokenGrid& grid,
                   Planning& planning) {
  const Index area = grid.area(), frames = std::max<Index>(grid.frames(), 1),
              reach =
                  distance_below(p.reach * static_cast<double>(area) / static_cast<double>(frames));
  return plan_boxes(
      problem, grid,
      {.count = area,
       .box_of = [&](const TokenGrid::Place& at) { return at.row * grid.width() + at.column; },
       .attended =
           [&](Index cell) {
             planning.run.check();
             return std::vector{IndexRange{cell - reach, cell + reach + 1}.intersected({0, area})};
           }});
}

Plan plan_svg(const Problem& problem, const SvgParameters& p, Planning& planning) {
  const TokenGrid grid(p, problem.n());
  return p.pattern == Pattern::spatial ? plan_spatial(problem, p, grid)
                                       : plan_temporal(problem, p, grid, planning);
}

}  // namespace

Variant svg_variant() {
  return make_variant<SvgParameters>(
      {.id = "svg",
       .label = "Sparse VideoGen",
       .paper = "Xi et al. 2025 (Sparse VideoGen), section 3.2",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ: the text, and |i−j| < ⌊w T⌋ (spatial), "
                  "or |i mod T − j mod T| < ⌊w T / F⌋ (temporal)",
       .summary = "In videos the frames around each token, or the same places in all frames.",
       .mask = Mask::bidirectional_only,
       .group = Group::grids,
       .quick = true,
       .diagnostics = {key_set_figures}},
      plan_svg);
}

}  // namespace fovea
