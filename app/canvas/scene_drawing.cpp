// One frame over the rasters: panels, captions, states, scroll bars.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

/// A line at the top that fills.
void draw_progress(ScreenInk& ink, const Rect& where, const CanvasCell& cell) {
  if (!cell.progress) return;
  const auto share = static_cast<double>(std::clamp(*cell.progress, 0.0, 1.0));
  ink.fill({where.x, where.y, where.width, 3}, ink.theme.tip);
  ink.fill({where.x, where.y, where.width * share, 3}, ink.theme.accent);
}

/// "computing 42 %, 3 s left" on a pill.
void draw_badge(ScreenInk& ink, const Rect& where, const std::string& status) {
  const std::string words =
      ink.letters.elided(status.empty() ? "out of date" : status, where.width - 28);
  const Rect pill{where.x + 6, where.y + 6, ink.letters.width(words) + 26, 19};
  ink.fill(pill, ink.theme.tip, 9);
  ink.outline(pill, {ink.style.frame}, 9);
  ink.dot({pill.x + 11, pill.centre().y}, 4, ink.style.key);
  ink.dot({pill.x + 11, pill.centre().y}, 2.5, ink.theme.tip);
  ink.write_left({pill.x + 19, pill.y + 3}, words, ink.style.text);
}

void draw_empty(ScreenInk& ink, const Rect& where, const CanvasCell* cell) {
  ink.fill(where, ink.style.paper);
  const std::string words = cell && !cell->status.empty() ? cell->status : "waiting";
  const bool wrong = words.starts_with("error");
  ink.write_paragraph(where.inset(14), words, wrong ? ink.theme.pinned : ink.style.faint,
                      body_face);
}

void draw_caption(ScreenInk& ink, const Scene& scene, int row, int column, const Panel& panel) {
  const Rect where = scene.grid.caption(row, column);
  const std::string value = value_at_pointer(scene, panel);
  const double taken = value.empty() ? 0 : ink.letters.width(value) + 8;
  if (taken > 0 && taken < where.width)
    ink.write_right({where.right(), where.y + 1}, value, ink.style.text);
  if (taken > 0)  // the number at the cursor takes the first line
    return ink.write_left({where.x, where.y + 1},
                          ink.letters.elided(panel.caption, where.width - taken), ink.style.faint);
  const int lines =
      1 + static_cast<int>(std::lround((where.height - Grid::caption_height) / Grid::line_height));
  double y = where.y + 1;
  for (const std::string& line : ink.letters.wrapped(panel.caption, where.width, lines)) {
    ink.write_left({where.x, y}, line, ink.style.faint);
    y += Grid::line_height;
  }
}

void draw_panel(ScreenInk& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.panel(row, column);
  const Rect seen = where.intersected(scene.grid.window());
  const CanvasCell* cell = scene.cell(row, column);
  const bool only_words = cell && cell->panel && std::holds_alternative<Message>(cell->panel->body);
  if (!seen.empty()) {
    const Clip clip(ink, seen);
    if (!cell || !cell->panel) {
      draw_empty(ink, where, cell);
    } else {
      if (!std::holds_alternative<Raster>(cell->panel->body) && !only_words)
        ink.fill(where, ink.style.paper);
      const PlacedPanel placed = placed_panel(scene, row, column);
      placed.draw_body(ink);
      if (drawing::amount_of(*cell->panel).value_or(0) > 0)
        drawing::draw_amounts_inside(ink, placed.plot());
      if (cell->stale) ink.fill(where, ink.theme.veil);
      draw_marks(ink, scene, row, column);
      if (cell->stale || !cell->status.empty()) draw_badge(ink, where, cell->status);
    }
    if (cell) draw_progress(ink, where, *cell);
  }
  const Rect window = scene.grid.window();
  const Clip clip(ink, window);
  const bool chosen = scene.model.selected_column == column;
  if (!only_words)  // nothing to look at: no window to look through
    ink.outline(where.inset(-1), {chosen ? ink.theme.accent : ink.style.frame});
  if (!cell || !cell->panel) return;
  draw_row_strip(ink, scene, row, column);
  draw_caption(ink, scene, row, column, *cell->panel);
}

void draw_scroll_bars(ScreenInk& ink, const Grid& grid) {
  const Point most = grid.furthest(), now = grid.scroll();
  const Rect window = grid.window();
  const auto thumb = [&](const Rect& bar, bool across, double place, double furthest) {
    if (bar.empty()) return;
    const double length = across ? bar.width : bar.height;
    const double seen = across ? window.width : window.height;
    const double size = std::max(24.0, length * seen / (seen + furthest));
    const double at = furthest > 0 ? (length - size) * place / furthest : 0;
    ink.fill(bar, faded(ink.style.grid, 0.7), 4);
    ink.fill(across ? Rect{bar.x + at, bar.y + 1, size, bar.height - 2}
                    : Rect{bar.x + 1, bar.y + at, bar.width - 2, size},
             faded(ink.style.faint, 0.8), 3);
  };
  thumb(grid.horizontal_bar(), true, now.x, most.x);
  thumb(grid.vertical_bar(), false, now.y, most.y);
}

}  // namespace

void draw_scene(ScreenInk& ink, const Scene& scene) {
  if (scene.grid.columns() == 0 || scene.grid.rows() == 0) {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ink.write_paragraph({20, 0, size.x - 40.0, size.y},
                        scene.model.n == 0 ? "Nothing is open: drop a file here, or File > Open."
                        : scene.grid.columns() == 0 ? "No variants to show: add a column."
                                                    : "No views to show: add a row.",
                        ink.style.faint, body_face);
    return;
  }
  for (int r = 0; r < scene.grid.rows(); ++r) {
    for (int c = 0; c < scene.grid.columns(); ++c) draw_panel(ink, scene, r, c);
    draw_axes(ink, scene, r);
    const Rect window = scene.grid.window();
    const Clip clip(ink, {0, window.y, 100000, window.height});
    draw_row_bar(ink, scene, r);
  }
  draw_headers(ink, scene);
  draw_scroll_bars(ink, scene.grid);
}

}  // namespace fovea::canvas
