// Headers above columns, names and token axes beside rows.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

/// The token of the crosshair or of the pinned row, over the ticks.
void draw_query_label(ScreenInk& ink, const Scene& scene, const Rect& where, Index token,
                      Rgba colour) {
  const TokenAxis axis = scene.queries(where);
  const double y = std::round(axis.pixel(static_cast<double>(token) + 0.5));
  if (token < 0 || token >= scene.model.n || y < where.y || y > where.bottom()) return;
  const std::string name = scene.names().numbered(token, ink.letters, where.width - 10);
  const double width = ink.letters.width(name);
  const Rect pill{where.right() - width - 10, std::round(y - 7), width + 8, 14};
  ink.fill(pill, ink.theme.tip, 3);
  ink.outline(pill, {colour}, 3);
  ink.write_left({pill.x + 4, pill.y}, name, ink.style.text);
}

void draw_key_label(ScreenInk& ink, const Scene& scene, const Rect& where, Index token) {
  const TokenAxis axis = scene.keys(where);
  const double x = std::round(axis.pixel(static_cast<double>(token) + 0.5));
  if (token < 0 || token >= scene.model.n || x < where.x || x > where.right()) return;
  const std::string name = scene.names().numbered(token, ink.letters, where.width - 10);
  const double width = ink.letters.width(name) + 8;
  const double left = std::clamp(x - width / 2, where.x - 2, where.right() - width + 2);
  const Rect pill{std::round(left), where.y + 2, width, 14};
  ink.fill(pill, ink.theme.tip, 3);
  ink.outline(pill, {ink.style.faint}, 3);
  ink.write_left({pill.x + 4, pill.y}, name, ink.style.text);
}

/// The axis of queries at the left of a row.
void draw_query_axis(ScreenInk& ink, const Scene& scene, int row) {
  const Rect where = scene.grid.query_axis(row);
  const drawing::Axes axes{{},
                           drawing::query_axis({scene.viewport.row_begin, scene.viewport.row_end},
                                               where.height, ink.letters, scene.names())};
  draw_y_axis(ink, {{where.right(), where.y, 0, where.height}, axes},
              {.numbers = true, .label = false});
  if (scene.model.pinned_query)
    draw_query_label(ink, scene, where, *scene.model.pinned_query, ink.theme.pinned);
  draw_query_label(ink, scene, where, scene.pointer.query, ink.style.faint);
}

void draw_key_axis(ScreenInk& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.key_axis(row, column);
  const drawing::Axes axes{drawing::key_axis({scene.viewport.col_begin, scene.viewport.col_end},
                                             where.width, ink.letters, scene.names()),
                           {}};
  draw_x_axis(ink, {{where.x, where.y, where.width, 0}, axes}, {.numbers = true, .label = false});
  draw_key_label(ink, scene, where, scene.pointer.key);
}

const char* row_name(View view) {
  switch (view) {
    case View::heatmap:
      return "Attention P";
    case View::error:
      return "Error";
    case View::mask:
      return "Mask";
    case View::rank:
      return "Rank";
    case View::level:
      return "Level";
    case View::tree:
      return "Tree";
    case View::row:
      return "Row";
    case View::output:
      return "Output";
    case View::cost:
      return "Cost";
  }
  return "";
}

void draw_header(ScreenInk& ink, const Scene& scene, int column) {
  const Rect where = scene.grid.header(column);
  const auto c = static_cast<std::size_t>(column);
  const bool chosen = scene.model.selected_column == column;
  const bool pointed = scene.pointer.column == column && scene.pointer.row < 0;
  if (pointed || chosen)
    ink.fill({where.x - 4, where.y - 2, where.width + 8, where.height + 4},
             faded(ink.theme.accent, chosen ? 0.16 : 0.08), 4);
  const std::string& title = scene.model.column_titles[c];
  const bool long_title = ink.letters.width(title, title_face.size, true) > where.width - 2;
  const Letters face = long_title ? body_face : title_face;
  ink.write_left({where.x + 1, where.y + 1},
                 ink.letters.elided(title, where.width - 2, face.bold, face.size),
                 chosen ? ink.theme.accent : ink.style.text, face);
  if (c >= scene.model.column_subtitles.size()) return;
  double y = where.y + 20;
  const int lines = where.height > 38 ? 2 : 1;
  std::string subtitle = scene.model.column_subtitles[c];
  if (const std::size_t part = subtitle.find(" · "); lines > 1 && part != std::string::npos)
    subtitle.replace(part, std::string_view(" · ").size(), "\n");
  for (const std::string& line : ink.letters.wrapped(subtitle, where.width - 2, lines)) {
    ink.write_left({where.x + 1, y}, line, ink.style.faint);
    y += 14;
  }
}

/// Where a dragged column would land.
void draw_drop_line(ScreenInk& ink, const Scene& scene) {
  if (!scene.dragged_column) return;
  const auto [from, x] = *scene.dragged_column;
  const Rect source = scene.grid.header(from);
  const std::string& title = scene.model.column_titles[static_cast<std::size_t>(from)];
  ink.fill({x + 10, source.y, ink.letters.width(title, title_face.size, true) + 16, 22},
           ink.theme.accent, 4);
  ink.write_left({x + 18, source.y + 3}, title, ink.theme.ground, title_face);
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const Rect header = scene.grid.header(c);
    if (x < header.x - Grid::gap / 2 || x >= header.right() + Grid::gap / 2 || c == from) continue;
    const double edge = c > from ? header.right() + Grid::gap / 2 : header.x - Grid::gap / 2;
    ink.fill({edge - 1.5, header.y, 3, 4000}, ink.theme.accent);
  }
}

}  // namespace

void draw_headers(ScreenInk& ink, const Scene& scene) {
  const Rect window = scene.grid.window();
  const Clip clip(ink, {window.x - 4, 0, window.width + 8, window.bottom()});
  for (int c = 0; c < scene.grid.columns(); ++c) draw_header(ink, scene, c);
  draw_drop_line(ink, scene);
}

void draw_axes(ScreenInk& ink, const Scene& scene, int row) {
  const Rect window = scene.grid.window();
  bool queries = false;
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const CanvasCell* cell = scene.cell(row, c);
    if (!cell || !cell->panel) continue;
    queries |= has_query_axis(*cell->panel);
    const Rect seen = window;
    const Clip clip(ink, {seen.x - 6, seen.y, seen.width + 12, seen.height});
    if (has_key_axis(*cell->panel) && !scene.grid.key_axis(row, c).empty())
      draw_key_axis(ink, scene, row, c);
  }
  const Clip clip(ink, {0, window.y - 4, window.right() + 200, window.height + 4});
  if (queries && scene.model.n > 0) draw_query_axis(ink, scene, row);
  const Rect label = scene.grid.row_label(row);
  const bool current = row == scene.current_row && scene.grid.rows() > 1;
  ink.text_upwards(label.centre(), row_name(scene.model.views[static_cast<std::size_t>(row)]),
                   current ? ink.theme.accent : ink.style.text, body_face);
}

}  // namespace fovea::canvas
