// Sliding tile attention: frames are cut into tiles, and a tile attends the tiles of a box around
// it, which stays within the frames.
#include <algorithm>
#include <array>

#include "analysis/key_sets.h"
#include "data/memory.h"
#include "variants/token_grid.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct StaParameters : GridParameters, TileSizes {
  Index box_frames = 3, box_rows = 3, box_columns = 3;  // in tiles

  static std::vector<TypedField<StaParameters>> fields() {
    using P = StaParameters;
    const auto box = [](const char* id, const char* label, Index P::*member, const char* meaning,
                        bool tried = true) {
      auto field = int_field<P, Index>(id, label, "tiles", member, 1, 4095, Axis::log2, meaning);
      if (tried)
        field.field.worth_trying = [](Index) {
          return std::vector<Value>{std::int64_t{3}, std::int64_t{1}, std::int64_t{5}};
        };
      return field;
    };
    const auto of_side = [](Index n) {
      return Value(std::max<std::int64_t>(1, std::min<Index>(8, likely_grid(n).height / 4)));
    };
    std::vector<TypedField<P>> all{
        box("box_rows", "Box rows", &P::box_rows,
            "Height of the box of tiles that a tile attends. The box is centred on the tile, and "
            "moved where it would leave the frame. If it holds all tiles, the result is exact."),
        box("box_columns", "Box columns", &P::box_columns, "Width of the box."),
        box("box_frames", "Box frames", &P::box_frames, "Frames of the box, in tiles.", false)};
    for (auto& field : tile_fields<P>()) {
      if (field.field.id != "tile_frames") field.field.for_short_head = of_side;
      all.push_back(std::move(field));
    }
    for (auto& field : grid_fields<P>()) all.push_back(std::move(field));
    return all;
  }
};

/// The tiles that tile `at` of `count` attends: `box` of them, around it where there is room.
IndexRange attended_along(Index at, Index count, Index box) {
  const Index begin = std::clamp<Index>(at - box / 2, 0, std::max<Index>(0, count - box));
  return {begin, std::min(begin + box, count)};
}

/// Joins the range to the last one if they touch.
void add_range(std::vector<IndexRange>& ranges, IndexRange range) {
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

Plan plan_sta(const Problem& problem, const StaParameters& p, Planning& planning) {
  const TokenGrid grid(p, problem.n());
  const FrameTiles tiles(p, grid);
  const Index frames = tiles.frames, rows = tiles.rows, columns = tiles.columns;
  // Rows of tiles follow each other if the box is as wide as they are.
  const Index ranges_of_box =
      std::min(p.box_frames, frames) * (p.box_columns < columns ? std::min(p.box_rows, rows) : 1);
  require_memory(
      sizeof(Tile) * static_cast<double>(tiles.count()) * static_cast<double>(ranges_of_box),
      "the tiles of " + problem.lengths().text(), "Larger tiles or smaller boxes need less");
  return plan_boxes(
      problem, grid,
      {.count = tiles.count(),
       .box_of = [&](const TokenGrid::Place& at) { return tiles.tile_of(at); },
       .attended =
           [&](Index tile) {
             planning.run.check();
             const IndexRange along_frames =
                                  attended_along(tile / (rows * columns), frames, p.box_frames),
                              along_rows = attended_along(tile / columns % rows, rows, p.box_rows),
                              along_columns =
                                  attended_along(tile % columns, columns, p.box_columns);
             std::vector<IndexRange> ranges;
             for (Index frame = along_frames.begin; frame < along_frames.end; ++frame)
               for (Index row = along_rows.begin; row < along_rows.end; ++row)
                 add_range(ranges, {tiles.number(frame, row, along_columns.begin),
                                    tiles.number(frame, row, along_columns.end)});
             return ranges;
           }});
}

}  // namespace

Variant sta_variant() {
  return make_variant<StaParameters>(
      {.id = "sta",
       .label = "Sliding tiles",
       .paper = "Zhang et al. 2025 (Sliding Tile Attention), section 3.2",
       .formula =
           "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ: the text, and tiles in a box around the own one",
       .summary = "In pictures and videos the tiles around each tile of tokens.",
       .mask = Mask::bidirectional_only,
       .group = Group::grids,
       .quick = true,
       .diagnostics = {key_set_figures}},
      plan_sta);
}

}  // namespace fovea
