// A TokenGrid says where the tokens of a picture or a video lie: in frames of rows and columns, one
// frame after the other, each row by row. Some tokens have no place: those of a text, or of a
// class.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/blocks.h"
#include "data/problem.h"
#include "plan/plan.h"
#include "variants/schema.h"

namespace fovea {

struct GridParameters {
  enum class TextPlace { first, last };

  Index height = 30, width = 45;  // tokens of a frame
  Index text = 0;
  TextPlace text_place = TextPlace::first;
};

/// A guess for n tokens of which nothing else is known: a square picture, whose last row may be cut
/// off. If n is no square number and n - 1 or n - 5 is, a class token, or a class token and four
/// registers, stand before the picture.
GridParameters likely_grid(Index n);

/// The fields of a variant whose parameters derive from GridParameters.
template <class P>
std::vector<TypedField<P>> grid_fields() {
  const auto of_head = [](Index GridParameters::*member) {
    return [member](Index n) { return Value(std::int64_t{likely_grid(n).*member}); };
  };
  const auto size = [&](const char* id, const char* label, Index GridParameters::*member,
                        std::int64_t least, const char* meaning) {
    auto field =
        int_field<P, Index>(id, label, "tokens", member, least, 131072, Axis::log2, meaning);
    field.field.for_short_head = of_head(member);
    return field;
  };
  return {size("height", "Height", &P::height, 1, "Rows of tokens in a frame."),
          size("width", "Width", &P::width, 1, "Columns of tokens in a frame."),
          size("text", "Text", &P::text, 0,
               "Tokens without a place in a frame: a text, a class token. They attend all tokens, "
               "and all tokens attend them."),
          choice_field<P, GridParameters::TextPlace>(
              "text_place", "Place of the text", &P::text_place, {"first", "last"},
              "Whether the text stands before the frames or behind them.")};
}

/// Whether all tokens attend the first frame, too.
enum class FirstFrame { masked, attended };

/// The sides of the tiles into which frames are cut.
struct TileSizes {
  Index tile_frames = 6, tile_rows = 8, tile_columns = 8;
};

/// The fields of what has TileSizes: rows, columns and frames.
template <class P>
std::vector<TypedField<P>> tile_fields() {
  const auto side = [](const char* id, const char* label, const char* unit,
                       Index TileSizes::*member, const char* meaning) {
    return int_field<P, Index>(id, label, unit, member, 1, 131072, Axis::log2, meaning);
  };
  return {side("tile_rows", "Tile rows", "tokens", &P::tile_rows, "Rows of a tile."),
          side("tile_columns", "Tile columns", "tokens", &P::tile_columns, "Columns of a tile."),
          side("tile_frames", "Tile frames", "frames", &P::tile_frames, "Frames of a tile.")};
}

class TokenGrid {
 public:
  struct Place {
    Index frame, row, column;
  };

  /// If there are fewer tokens than a frame has, its width and height are those of what is there.
  TokenGrid(const GridParameters& parameters, Index n);

  IndexRange text() const { return text_; }
  IndexRange cells() const { return cells_; }  // the tokens of all frames
  Index area() const { return height_ * width_; }
  /// The last one may be cut off.
  Index frames() const { return number_of_blocks(cells_.size(), area()); }
  Index height() const { return height_; }
  Index width() const { return width_; }
  Place place(Index token) const;
  IndexRange tokens_of(Index frame) const;
  /// What to say if a frame is cut off: "the last of 14 frames of 30 × 45 tokens has only 226".
  std::vector<std::string> notes() const;
  /// What a plan for the head says: the same, and that its tokens are in another order.
  std::vector<std::string> notes(const Problem& problem) const;

 private:
  Index height_, width_;
  IndexRange text_, cells_;
};

/// The tiles of a grid, counted along columns, then rows, then frames.
struct FrameTiles {
  Index frames, rows, columns;

  FrameTiles(const TileSizes& sizes, const TokenGrid& grid);

  Index count() const { return frames * rows * columns; }
  Index number(Index frame, Index row, Index column) const {
    return (frame * rows + row) * columns + column;
  }
  Index tile_of(const TokenGrid::Place& at) const {
    return number(at.frame / sizes_.tile_frames, at.row / sizes_.tile_rows,
                  at.column / sizes_.tile_columns);
  }

 private:
  TileSizes sizes_;
};

/// Frames of a grid, cut into `count` boxes.
struct GridBoxes {
  Index count = 0;
  std::function<Index(const TokenGrid::Place&)> box_of;
  /// The boxes that the queries of a box attend, disjoint ranges.
  std::function<std::vector<IndexRange>(Index box)> attended;
};

/// Queries attend the keys of some boxes and the text, which attends all keys. One pass, over the
/// tokens sorted by their boxes. The head has as many queries as keys and no causal mask.
Plan plan_boxes(const Problem& problem, const TokenGrid& grid, const GridBoxes& boxes);

}  // namespace fovea
