// One frame over the rasters: panels, captions, states, colour bars, scroll bars.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

/// A line at the top that fills.
void draw_progress(Ink& ink, const Rect& where, const CanvasCell& cell) {
  if (!cell.progress) return;
  const double share = std::clamp(*cell.progress, 0.0, 1.0);
  ink.fill({where.x, where.y, where.width, 3}, ink.style.tip);
  ink.fill({where.x, where.y, where.width * share, 3}, ink.style.accent);
}

/// "computing 42 %, 3 s left" on a pill.
void draw_badge(Ink& ink, const Rect& where, const std::string& status) {
  const std::string words =
      ink.letters.elided(status.empty() ? "out of date" : status, where.width - 28);
  const Rect pill{where.x + 6, where.y + 6, ink.letters.width(words) + 26, 19};
  draw_pill(ink, pill, ink.style.frame, 9);
  ink.dot({pill.x + 11, pill.centre().y}, 4, ink.style.key);
  ink.dot({pill.x + 11, pill.centre().y}, 2.5, ink.style.tip);
  ink.write(pill.without(19, 0, 0, 0), words, Align::left, ink.style.text);
}

void draw_empty(Ink& ink, const Rect& where, const CanvasCell* cell) {
  ink.fill(where, ink.style.paper);
  const std::string words = cell && !cell->status.empty() ? cell->status : "waiting";
  const bool wrong = cell && cell->failed;
  ink.write_paragraph(where.inset(14), words, wrong ? ink.style.pinned : ink.style.faint,
                      body_face);
}

void draw_caption(Ink& ink, const Scene& scene, int row, int column) {
  const std::string& caption = scene.captions[row][column];
  const Rect where = scene.grid.caption(row, column);
  Rect line{where.x, where.y, where.width, Grid::line_height};
  auto lines = ink.letters.wrapped(caption, where.width, drawing::most_caption_lines);
  lines.resize(drawing::most_caption_lines);
  // The number at the cursor stands at the end of the last line.
  if (const std::string value = value_at_pointer(scene, row, column); !value.empty()) {
    const double room = where.width - ink.letters.width(value) - 8;
    const Rect last{line.x, line.y + line.height * (drawing::most_caption_lines - 1), line.width,
                    line.height};
    if (room > 0) ink.write(last, value, Align::right, ink.style.text);
    lines.back() = ink.letters.elided(lines.back(), std::max(0.0, room));
  }
  for (const std::string& words : lines) {
    ink.write(line, words, Align::left, ink.style.faint);
    line.y += line.height;
  }
}

void draw_part(Ink& ink, const Scene& scene, int row, int column, const PanelPart& part) {
  const PlacedPanel placed = scene.placed(row, column, part);
  const drawing::BodyDrawing body = placed.drawn_with(ink);
  draw_body(body);
  const bool falls = std::holds_alternative<LeafSizes>(part.cell.panel->body);  // in its order
  if (drawing::amount_of(*part.cell.panel).value_or(0) > 0)
    draw_amounts_inside(ink, body.plot, falls);
  if (part.cell.stale) ink.fill(scene.grid.panel(row, column), ink.style.veil);
}

/// Draws the border between two columns so that it can be seen on any colours, and so can what lies
/// below it.
void draw_border(Ink& ink, const drawing::HalfPlane& part) {
  ink.line(part.from, part.to, {{0, 0, 0, 90}, 2});
  ink.line(part.from, part.to, {{255, 255, 255, 190}, 1});
}

void draw_parts(Ink& ink, const Scene& scene, int row, int column) {
  const std::vector<PanelPart> parts = scene.parts(row, column);
  for (const PanelPart& part : parts) {
    const auto draw = [&] { draw_part(ink, scene, row, column, part); };
    if (part.where)
      ink.within(*part.where, draw);
    else
      draw();
  }
  if (parts.size() > 1) draw_border(ink, *parts.front().where);
  draw_marks(ink, scene, row, column);
  for (const PanelPart& part : parts)
    if (part.cell.stale || !part.cell.status.empty())
      return draw_badge(ink, scene.grid.panel(row, column), part.cell.status);
}

/// Clipped to the panel.
void draw_inside(Ink& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.panel(row, column);
  const CanvasCell* cell = scene.cell(row, column);
  if (const Panel* panel = scene.panel(row, column)) {
    if (!std::holds_alternative<Raster>(panel->body) &&
        !std::holds_alternative<Message>(panel->body))
      ink.fill(where, ink.style.paper);
    draw_parts(ink, scene, row, column);
  } else {
    draw_empty(ink, where, cell);
  }
  if (cell) draw_progress(ink, where, *cell);
}

void draw_panel(Ink& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.panel(row, column), window = scene.grid.window();
  const Rect seen = where.intersected(window);
  if (!seen.empty()) {
    const Clip clip(ink, seen);
    draw_inside(ink, scene, row, column);
  }
  if (scene.panel(row, column)) {  // the strip of the last column lies beside the window
    const double room = drawing::row_strip_room(ink.letters);
    const Clip clip(ink, {window.x, window.y, window.width + room, window.height});
    draw_row_strip(ink, scene, row, column);
  }
  const Clip clip(ink, window);
  if (!scene.body<Message>(row, column))  // a message has nothing to look at
    ink.outline(where.inset(-1), {scene.is_selected(column) ? ink.style.accent : ink.style.frame});
  if (scene.panel(row, column)) draw_caption(ink, scene, row, column);
}

void draw_colour_bars(Ink& ink, const Scene& scene, int row) {
  const Rect window = scene.grid.window();
  for (const PlacedBar& placed : scene.bars(row)) {
    const bool beside = placed.column < 0;
    const Clip clip(ink, beside ? Rect{0, window.y, 100000, window.height} : window);
    placed.bar.draw(ink, placed.at);
  }
}

void draw_scroll_bars(Ink& ink, const Grid& grid) {
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

/// Why nothing is drawn, and what to do.
std::string text_of_empty(const Scene& scene) {
  if (!scene.model.opening.empty()) return "Opening " + scene.model.opening + "…";
  if (scene.model.is_empty()) return "Nothing is open: drop a file here, or File > Open.";
  if (scene.grid.columns() == 0) return "No variants to show: add a column.";
  return "No views to show: add a row.";
}

}  // namespace

void draw_pill(Ink& ink, const Rect& where, Rgba edge, double rounding) {
  ink.fill(where, ink.style.tip, rounding);
  ink.outline(where, {edge}, rounding);
}

void draw_scene(Ink& ink, const Scene& scene) {
  if (scene.grid.empty()) {
    ink.write_paragraph({20, 0, scene.size.x - 40, scene.size.y}, text_of_empty(scene),
                        ink.style.faint, body_face);
    return;
  }
  for (int r = 0; r < scene.grid.rows(); ++r) {
    for (int c = 0; c < scene.grid.columns(); ++c) draw_panel(ink, scene, r, c);
    draw_axes(ink, scene, r);
    draw_colour_bars(ink, scene, r);
  }
  draw_headers(ink, scene);
  draw_scroll_bars(ink, scene.grid);
}

}  // namespace fovea::canvas
