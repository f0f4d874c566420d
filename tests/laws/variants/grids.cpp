#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

/// Where a token lies; tokens of a text are nowhere.
struct Spot {
  bool text = false;
  Index cell = 0, frame = 0, row = 0, column = 0, height = 0, width = 0, frames = 0;
};

Spot spot_of(const Instance& x, Index i) {
  const Parameters p{x};
  const Index n = x.problem.n(), text = std::min(p.integer("text"), n), cells = n - text;
  Spot spot;
  spot.text = p.text("text_place") == "first" ? i < text : i >= cells;
  spot.cell = p.text("text_place") == "first" ? i - text : i;
  spot.width = std::max<Index>(1, std::min(p.integer("width"), cells));
  spot.height = 1;
  while (spot.height < p.integer("height") && spot.height * spot.width < cells) ++spot.height;
  const Index area = spot.height * spot.width;
  while ((spot.frame + 1) * area <= spot.cell) ++spot.frame;
  while (spot.frames * area < cells) ++spot.frames;
  spot.row = (spot.cell - spot.frame * area) / spot.width;
  spot.column = (spot.cell - spot.frame * area) % spot.width;
  return spot;
}

/// Whether tile b is within a box of `box` tiles around tile a that is moved until it lies within
/// `count` tiles.
bool near(Index a, Index b, Index count, Index box) {
  Index begin = a - box / 2;
  while (begin + box > count) --begin;
  while (begin < 0) ++begin;
  return begin <= b && b < begin + box;
}

template <class Real>
Dense<Real> sta(const Instance& x) {
  const Parameters p{x};
  const auto along = [&](Index a, Index b, Index size, const char* tile, const char* box) {
    const Index t = p.integer(tile);
    return near(a / t, b / t, (size + t - 1) / t, p.integer(box));
  };
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Spot a = spot_of(x, i), b = spot_of(x, j);
    return a.text || b.text ||
           (along(a.frame, b.frame, a.frames, "tile_frames", "box_frames") &&
            along(a.row, b.row, a.height, "tile_rows", "box_rows") &&
            along(a.column, b.column, a.width, "tile_columns", "box_columns"));
  });
}

template <class Real>
Dense<Real> svg(const Instance& x) {
  const Parameters p{x};
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Spot a = spot_of(x, i), b = spot_of(x, j);
    if (a.text || b.text || i == j) return true;
    const auto area = static_cast<double>(a.height * a.width);
    if (p.text("pattern") == "temporal")
      return static_cast<double>(std::abs((a.row - b.row) * a.width + a.column - b.column)) <
             std::max(1.0, std::floor(p.real("reach") * area / static_cast<double>(a.frames)));
    if (p.text("first_frame") == "attended" && b.frame == 0) return true;
    return static_cast<double>(std::abs(a.cell - b.cell)) < std::floor(p.real("reach") * area);
  });
}

template <class Real>
Dense<Real> radial(const Instance& x) {
  const Parameters p{x};
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Spot a = spot_of(x, i), b = spot_of(x, j);
    if (a.text || b.text || i == j) return true;
    if (p.text("first_frame") == "attended" && b.frame == 0 && b.frames > 1) return true;
    const Index apart = std::abs(a.frame - b.frame);
    double width = p.real("reach") * static_cast<double>(a.height * a.width);
    Index every = 1;
    for (Index d = apart; d > 1; d /= 2) width /= 2;
    const Index places = std::abs((a.row - b.row) * a.width + a.column - b.column);
    if (width >= 1) return static_cast<double>(places) < std::floor(width);
    while (static_cast<double>(every) * width < 1) ++every;
    return places == 0 && apart % every == 0;
  });
}

}  // namespace

VariantLaws sta_laws() {
  VariantLaws laws =
      laws_from("sta", [](auto real, const Instance& x) { return sta<decltype(real)>(x); },
                {{.settings = {{"height", "4"},
                               {"width", "5"},
                               {"tile_frames", "1"},
                               {"tile_rows", "2"},
                               {"tile_columns", "2"},
                               {"box_frames", "1"},
                               {"box_rows", "1"},
                               {"box_columns", "3"}}},
                 {.settings = {{"height", "3"},
                               {"width", "4"},
                               {"text", "5"},
                               {"tile_frames", "2"},
                               {"tile_rows", "1"},
                               {"tile_columns", "3"},
                               {"box_frames", "2"},
                               {"box_rows", "2"},
                               {"box_columns", "1"}}},
                 {.settings = {{"height", "8"},
                               {"width", "9"},
                               {"text", "3"},
                               {"text_place", "last"},
                               {"tile_rows", "2"},
                               {"tile_columns", "4"},
                               {"box_rows", "2"},
                               {"box_columns", "2"}}}});
  laws.exact_settings = {{{{"height", "3"},
                           {"width", "7"},
                           {"tile_frames", "1"},
                           {"tile_rows", "1"},
                           {"tile_columns", "7"},
                           {"box_frames", "3"},
                           {"box_rows", "3"},
                           {"box_columns", "1"}}},
                         {{{"text", "63"}}}};
  return laws;
}

VariantLaws svg_laws() {
  VariantLaws laws =
      laws_from("svg", [](auto real, const Instance& x) { return svg<decltype(real)>(x); },
                {{.settings = {{"height", "3"}, {"width", "5"}, {"text", "2"}, {"reach", "1.3"}}},
                 {.settings = {{"height", "3"},
                               {"width", "5"},
                               {"text", "2"},
                               {"reach", "0.5"},
                               {"first_frame", "attended"},
                               {"text_place", "last"}}},
                 {.settings = {{"height", "2"},
                               {"width", "7"},
                               {"text", "3"},
                               {"pattern", "temporal"},
                               {"reach", "1.6"}}},
                 {.settings = {{"height", "70"}, {"width", "70"}, {"reach", "0.2"}}}});
  laws.exact_settings = {
      {{{"height", "3"}, {"width", "7"}, {"reach", "3"}}},
      {{{"height", "3"}, {"width", "7"}, {"reach", "3"}, {"pattern", "temporal"}}}};
  return laws;
}

VariantLaws radial_laws() {
  VariantLaws laws = laws_from(
      "radial", [](auto real, const Instance& x) { return radial<decltype(real)>(x); },
      {{.settings = {{"height", "2"}, {"width", "3"}, {"text", "2"}, {"reach", "1"}}},
       {.settings = {{"height", "1"}, {"width", "5"}, {"reach", "0.3"}, {"first_frame", "masked"}}},
       {.settings = {{"height", "2"},
                     {"width", "2"},
                     {"text", "3"},
                     {"text_place", "last"},
                     {"first_frame", "masked"},
                     {"reach", "0.6"}}},
       {.settings = {{"height", "1"}, {"width", "2"}, {"first_frame", "masked"}, {"reach", "0.5"}}},
       {.settings = {{"height", "70"}, {"width", "70"}, {"reach", "0.2"}}}});
  laws.exact_settings = {{{{"height", "3"}, {"width", "7"}, {"reach", "2"}}},
                         {{{"text", "63"}}},
                         {{{"height", "4"}, {"width", "4"}, {"reach", "4096"}}}};
  return laws;
}

}  // namespace fovea::test
