// Colour bars at the side of rows, and those of panels with a range of their own below them.
#include "canvas/scene.h"

namespace fovea::canvas {

using drawing::ColourBar;
using drawing::ColourScale;

namespace {

/// That of the row, with what occurs in any of its panels.
ColourScale shared_scale(const Scene& scene, int row) {
  ColourScale all = *scene.scales[static_cast<std::size_t>(row)].shared;
  scene.choose_range(all, row, -1);
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const auto one = scene.scale(row, c)) all.add(*one);
  return all;
}

}  // namespace

std::vector<PlacedBar> placed_bars(const Scene& scene, int row) {
  std::vector<PlacedBar> bars;
  if (scene.scales[static_cast<std::size_t>(row)].shared) {
    // Names stand below the bar, first beside the caption; what has no room makes the bar shorter.
    const Rect where = scene.grid.side_bar(row);
    const double below = scene.grid.caption(row, 0).bottom() - where.bottom();
    bars.push_back({row,
                    -1,
                    {shared_scale(scene, row),
                     scene.fonts,
                     {.width = where.width,
                      .form = ColourBar::Form::upright,
                      .length = where.height + below,
                      .bar = where.height}},
                    {where.x, where.y}});
    return bars;
  }
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const auto own = scene.scale(row, c);
    const Rect where = scene.grid.own_bar(row, c);
    if (own && !where.empty())
      bars.push_back({row, c, own_bar(*own, scene.fonts, where.width), {where.x, where.y}});
  }
  return bars;
}

void draw_row_bar(drawing::Ink& ink, const Scene& scene, int row) {
  for (const PlacedBar& placed : placed_bars(scene, row)) {
    const Rect window = scene.grid.window();
    const bool beside = placed.column < 0;
    const Clip clip(ink, beside ? Rect{0, window.y, 100000, window.height} : window);
    placed.bar.draw(ink, placed.at);
  }
}

}  // namespace fovea::canvas
