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

struct StaParameters : GridParameters {
  Index tile_frames = 6, tile_rows = 8, tile_columns = 8;
  Index box_frames = 3, box_rows = 3, box_columns = 3;  // in tiles

  static std::vector<TypedField<StaParameters>> fields() {
    using P = StaParameters;
    const auto tile = [](const char* id, const char* label, const char* unit, Index P::*member,
                         const char* meaning) {
      return int_field<P, Index>(id, label, unit, member, 1, 131072, Axis::log2, meaning);
    };
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
    auto tile_rows = tile("tile_rows", "Tile rows", "tokens", &P::tile_rows, "Rows of a tile."),
         tile_columns =
             tile("tile_columns", "Tile columns", "tokens", &P::tile_columns, "Columns of a tile.");
    tile_rows.field.for_short_head = tile_columns.field.for_short_head = of_side;
    std::vector<TypedField<P>> all{
        box("box_rows", "Box rows", &P::box_rows,
            "Height of the box of tiles that a tile attends. The box is centred on the tile, and "
            "moved where it would leave the frame. If it holds all tiles, the result is exact."),
        box("box_columns", "Box columns", &P::box_columns, "Width of the box."),
        box("box_frames", "Box frames", &P::box_frames, "Frames of the box, in tiles.", false),
        tile_rows,
        tile_columns,
        tile("tile_frames", "Tile frames", "frames", &P::tile_frames, "Frames of a tile.")};
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
  const Index frames = number_of_blocks(grid.frames(), p.tile_frames),
              rows = number_of_blocks(grid.height(), p.tile_rows),
              columns = number_of_blocks(grid.width(), p.tile_columns);
  // Rows of tiles follow each other if the box is as wide as they are.
  const Index boxes = frames * rows * columns,
              ranges_of_box = std::min(p.box_frames, frames) *
                              (p.box_columns < columns ? std::min(p.box_rows, rows) : 1);
  require_memory(sizeof(Tile) * static_cast<double>(boxes) * static_cast<double>(ranges_of_box),
                 "the tiles of " + problem.lengths().text(),
                 "Larger tiles or smaller boxes need less");
  const auto tile_at = [&](Index frame, Index row, Index column) {
    return (frame * rows + row) * columns + column;
  };
  return plan_boxes(
      problem, grid,
      {.count = boxes,
       .box_of =
           [&](const TokenGrid::Place& at) {
             return tile_at(at.frame / p.tile_frames, at.row / p.tile_rows,
                            at.column / p.tile_columns);
           },
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
                 add_range(ranges, {tile_at(frame, row, along_columns.begin),
                                    tile_at(frame, row, along_columns.end)});
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
