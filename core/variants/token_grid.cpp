#include "variants/token_grid.h"

#include <algorithm>
#include <cmath>

namespace fovea {

GridParameters likely_grid(Index n) {
  const auto side_of = [](Index cells) {
    auto side = static_cast<Index>(std::sqrt(static_cast<double>(std::max<Index>(cells, 1))));
    while (side * side > cells && side > 1) --side;
    return side;
  };
  for (const Index text : {0, 1, 5})
    if (const Index side = side_of(n - text); n > text && side * side == n - text)
      return {.height = side, .width = side, .text = text};
  // The last row of the picture is cut off.
  return {.height = side_of(n) + 1, .width = side_of(n) + 1, .text = 0};
}

TokenGrid::TokenGrid(const GridParameters& parameters, Index n) {
  const Index text = std::min(parameters.text, n);
  const bool first = parameters.text_place == GridParameters::TextPlace::first;
  text_ = first ? IndexRange{0, text} : IndexRange{n - text, n};
  cells_ = first ? IndexRange{text, n} : IndexRange{0, n - text};
  const Index cells = std::max<Index>(1, cells_.size());
  width_ = std::min(parameters.width, cells);
  height_ = std::min(parameters.height, number_of_blocks(cells, width_));
}

TokenGrid::Place TokenGrid::place(Index token) const {
  const Index cell = token - cells_.begin;
  return {cell / area(), cell % area() / width_, cell % width_};
}

IndexRange TokenGrid::tokens_of(Index frame) const {
  const Index begin = cells_.begin + frame * area();
  return IndexRange{begin, begin + area()}.intersected(cells_);
}

FrameTiles::FrameTiles(const TileSizes& sizes, const TokenGrid& grid)
    : frames(number_of_blocks(grid.frames(), sizes.tile_frames)),
      rows(number_of_blocks(grid.height(), sizes.tile_rows)),
      columns(number_of_blocks(grid.width(), sizes.tile_columns)),
      sizes_(sizes) {}

std::vector<std::string> TokenGrid::notes() const {
  const Index rest = cells_.size() % area();
  if (rest == 0) return {};
  const std::string of = std::to_string(height_) + " × " + std::to_string(width_) + " tokens";
  return {(frames() == 1 ? "the frame of " + of
                         : "the last of " + std::to_string(frames()) + " frames of " + of) +
          " has only " + std::to_string(rest)};
}

std::vector<std::string> TokenGrid::notes(const Problem& problem) const {
  std::vector<std::string> all = notes();
  if (problem.reordered)
    all.push_back(
        "frames are taken from tokens row by row, but this source is in another order; expected "
        "that of the file");
  return all;
}

Plan plan_boxes(const Problem& problem, const TokenGrid& grid, const GridBoxes& boxes) {
  const Index n = problem.n(), text = grid.text().size();
  std::vector<std::int32_t> order;
  for (Index i = grid.text().begin; i < grid.text().end; ++i)
    order.push_back(static_cast<std::int32_t>(i));
  std::vector<Index> ends(static_cast<std::size_t>(boxes.count) + 1, 0);  // of boxes, in the order
  std::vector<Index> box(static_cast<std::size_t>(grid.cells().size()));
  for (Index i = grid.cells().begin; i < grid.cells().end; ++i) {
    const Index of_token = boxes.box_of(grid.place(i));
    box[static_cast<std::size_t>(i - grid.cells().begin)] = of_token;
    ++ends[static_cast<std::size_t>(of_token) + 1];
    order.push_back(static_cast<std::int32_t>(i));
  }
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(text), order.end(),
                   [&](std::int32_t a, std::int32_t b) {
                     const auto at = [&](std::int32_t i) {
                       return box[static_cast<std::size_t>(i - grid.cells().begin)];
                     };
                     return at(a) < at(b);
                   });
  ends[0] = text;
  for (std::size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
  const auto tokens = [&](IndexRange range) {
    return IndexRange{ends[static_cast<std::size_t>(range.begin)],
                      ends[static_cast<std::size_t>(range.end)]};
  };
  Pass pass{.rows = order, .cols = order, .unit = "tile"};
  if (text > 0) pass.tiles.push_back({{0, text}, {0, n}});
  for (Index b = 0; b < boxes.count; ++b) {
    const IndexRange rows = tokens({b, b + 1});
    if (rows.size() == 0) continue;
    if (text > 0) pass.tiles.push_back({rows, {0, text}});
    for (const IndexRange range : boxes.attended(b))
      if (const IndexRange cols = tokens(range); cols.size() > 0)
        pass.tiles.push_back({rows, cols});
  }
  return {.lengths = {n, n},
          .form = TilePlan{.passes = {std::move(pass)}},
          .notes = grid.notes(problem)};
}

}  // namespace fovea
