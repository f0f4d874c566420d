// Colour bars at the side of rows, and those of panels with a range of their own below them.
#include "canvas/scene.h"

namespace fovea::canvas {

using drawing::ColourBar;
using drawing::ColourScale;

namespace {

/// That of the row, with what occurs in any of its panels.
ColourScale shared_scale(const Scene& scene, int row) {
  ColourScale all = *scene.scales[static_cast<std::size_t>(row)].shared;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const auto one = scene.scale(row, c)) all.add(*one);
  return all;
}

}  // namespace

void draw_row_bar(drawing::Ink& ink, const Scene& scene, int row) {
  const RowScale& scale = scene.scales[static_cast<std::size_t>(row)];
  if (scale.shared) {
    // Names stand below the bar, first beside the caption; what has no room makes the bar shorter.
    const Rect where = scene.grid.side_bar(row);
    const double below = scene.grid.caption(row, 0).bottom() - where.bottom();
    const ColourBar bar(shared_scale(scene, row), ink.letters,
                        {.width = where.width,
                         .form = ColourBar::Form::upright,
                         .length = where.height + below,
                         .bar = where.height});
    return bar.draw(ink, {where.x, where.y});
  }
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const auto own = scene.scale(row, c);
    const Rect where = scene.grid.own_bar(row, c);
    if (!own || where.empty()) continue;
    const Rect window = scene.grid.window();
    const Clip clip(ink, window);
    own_bar(*own, scene.fonts, where.width).draw(ink, {where.x, where.y});
  }
}

}  // namespace fovea::canvas
