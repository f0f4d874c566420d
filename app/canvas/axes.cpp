// Headers above columns, names and token axes beside rows.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

bool names_tokens(const Scene& scene, const TokenAxis& axis) {
  return axis.cell() >= cell_for_tokens &&
         (!scene.model.sequence->tokens.empty() || scene.model.sequence->grid);
}

/// A token's name for an axis: "12 everything" when there is room for the number too.
std::string axis_name(const Ink& ink, const Scene& scene, Index token, float room) {
  std::string name = scene.model.sequence->label(token);
  if (scene.model.sequence->tokens.empty() && scene.model.sequence->grid &&
      name.starts_with("patch "))
    name = name.substr(6);
  return ink.elided(Face::small, ink.fonts.readable(name), room);
}

ImU32 name_colour(const Ink& ink, const Scene& scene, Index token, Index pointed) {
  if (token == pointed) return ink.theme.text;
  return scene.model.pinned_query == token ? ink.theme.pinned : ink.theme.muted;
}

/// "170 thought", or the bare number.
std::string full_name(const Ink& ink, const Scene& scene, Index token, float room) {
  const std::string index = std::to_string(token), name = axis_name(ink, scene, token, room);
  const float left = room - ink.width(Face::small, index + " ");
  return name == index ? index : index + " " + axis_name(ink, scene, token, left);
}

/// The token of the crosshair or of the pinned row, over the ticks.
void draw_query_label(const Ink& ink, const Scene& scene, const Rect& where, Index token,
                      ImU32 colour) {
  const TokenAxis axis = scene.queries(where);
  const float y = std::round(axis.pixel(static_cast<double>(token) + 0.5));
  if (token < 0 || token >= scene.model.n || y < where.y || y > where.bottom()) return;
  const std::string name = full_name(ink, scene, token, where.width - 10);
  const float width = ink.width(Face::small, name);
  const Rect pill{where.right() - width - 10, std::round(y - 7), width + 8, 14};
  ink.fill(pill, ink.theme.tip, 3);
  ink.frame(pill, colour, 1, 3);
  ink.write(Face::small, {pill.x + 4, pill.y}, ink.theme.text, name);
}

void draw_key_label(const Ink& ink, const Scene& scene, const Rect& where, Index token) {
  const TokenAxis axis = scene.keys(where);
  const float x = std::round(axis.pixel(static_cast<double>(token) + 0.5));
  if (token < 0 || token >= scene.model.n || x < where.x || x > where.right()) return;
  const std::string name = full_name(ink, scene, token, where.width - 10);
  const float width = ink.width(Face::small, name) + 8;
  const float left = std::clamp(x - width / 2, where.x - 2, where.right() - width + 2);
  const Rect pill{std::round(left), where.y + 2, width, 14};
  ink.fill(pill, ink.theme.tip, 3);
  ink.frame(pill, ink.theme.muted, 1, 3);
  ink.write(Face::small, {pill.x + 4, pill.y}, ink.theme.text, name);
}

void draw_query_axis(const Ink& ink, const Scene& scene, int row) {
  const Rect where = scene.grid.query_axis(row);
  const TokenAxis axis = scene.queries(where);
  const bool names = names_tokens(scene, axis);
  for (const Index t : ticks(axis, names ? 13 : 30)) {
    const double place = static_cast<double>(t) + (axis.cell() > 6 ? 0.5 : 0);
    const float y = std::round(axis.pixel(place));
    if (y < where.y || y > where.bottom()) continue;
    ink.line({where.right() - 4, y}, {where.right(), y}, ink.theme.border);
    const float text = std::clamp(y - 6, where.y - 2, where.bottom() - 11);
    const std::string label =
        names ? axis_name(ink, scene, t, where.width - 10) : std::to_string(t);
    const ImU32 colour = names ? name_colour(ink, scene, t, scene.pointer.query) : ink.theme.muted;
    ink.write_right(Face::small, {where.right() - 7, text}, colour, label);
  }
  if (scene.model.pinned_query)
    draw_query_label(ink, scene, where, *scene.model.pinned_query, ink.theme.pinned);
  draw_query_label(ink, scene, where, scene.pointer.query, ink.theme.muted);
}

void draw_key_axis(const Ink& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.key_axis(row, column);
  const TokenAxis axis = scene.keys(where);
  const bool names = names_tokens(scene, axis);
  float free_from = where.x - 8;
  for (const Index t : ticks(axis, names ? 13 : 34)) {
    const double place = static_cast<double>(t) + (axis.cell() > 6 ? 0.5 : 0);
    const float x = std::round(axis.pixel(place));
    if (x < where.x || x > where.right()) continue;
    ink.line({x, where.y}, {x, where.y + 4}, ink.theme.border);
    if (names) {
      const std::string label = axis_name(ink, scene, t, where.height - 8);
      const float half = ink.width(Face::small, label) / 2;
      ink.write_upright(Face::small, {x, where.y + 6 + half},
                        name_colour(ink, scene, t, scene.pointer.key), label);
      continue;
    }
    const std::string label = std::to_string(t);
    const float width = ink.width(Face::small, label);
    const float left = std::clamp(x - width / 2, where.x - 2, where.right() - width + 2);
    if (left < free_from) continue;
    ink.write(Face::small, {left, where.y + 3}, ink.theme.muted, label);
    free_from = left + width + 6;
  }
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

void draw_header(const Ink& ink, const Scene& scene, int column) {
  const Rect where = scene.grid.header(column);
  const auto c = static_cast<std::size_t>(column);
  const bool chosen = scene.model.selected_column == column;
  const bool pointed = scene.pointer.column == column && scene.pointer.row < 0;
  if (pointed || chosen)
    ink.fill({where.x - 4, where.y - 2, where.width + 8, where.height + 4},
             faded(ink.theme.accent, chosen ? 0.16f : 0.08f), 4);
  const std::string& title = scene.model.column_titles[c];
  const bool long_title = ink.width(Face::title, title) > where.width - 2;
  const Face face = long_title ? Face::body : Face::title;
  ink.write(face, {where.x + 1, where.y + 1}, chosen ? ink.theme.accent : ink.theme.text,
            ink.elided(face, title, where.width - 2));
  if (c >= scene.model.column_subtitles.size()) return;
  float y = where.y + 20;
  const int lines = where.height > 38 ? 2 : 1;
  std::string subtitle = scene.model.column_subtitles[c];
  if (const std::size_t part = subtitle.find(" · "); lines > 1 && part != std::string::npos)
    subtitle.replace(part, std::string_view(" · ").size(), "\n");
  for (const std::string& line : ink.wrapped(Face::small, subtitle, where.width - 2, lines)) {
    ink.write(Face::small, {where.x + 1, y}, ink.theme.muted, line);
    y += 14;
  }
}

/// Where a dragged column would land.
void draw_drop_line(const Ink& ink, const Scene& scene) {
  if (!scene.dragged_column) return;
  const auto [from, x] = *scene.dragged_column;
  const Rect source = scene.grid.header(from);
  const std::string& title = scene.model.column_titles[static_cast<std::size_t>(from)];
  ink.fill({x + 10, source.y, ink.width(Face::title, title) + 16, 22}, ink.theme.accent, 4);
  ink.write(Face::title, {x + 18, source.y + 3}, ink.theme.ground, title);
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const Rect header = scene.grid.header(c);
    if (x < header.x - Grid::gap / 2 || x >= header.right() + Grid::gap / 2 || c == from) continue;
    const float edge = c > from ? header.right() + Grid::gap / 2 : header.x - Grid::gap / 2;
    ink.fill({edge - 1.5f, header.y, 3, 4000}, ink.theme.accent);
  }
}

}  // namespace

void draw_headers(const Ink& ink, const Scene& scene) {
  const Rect window = scene.grid.window();
  const Clip clip(ink, {window.x - 4, 0, window.width + 8, window.bottom()});
  for (int c = 0; c < scene.grid.columns(); ++c) draw_header(ink, scene, c);
  draw_drop_line(ink, scene);
}

void draw_axes(const Ink& ink, const Scene& scene, int row) {
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
  ink.write_upright(Face::body, label.centre(), current ? ink.theme.accent : ink.theme.text,
                    row_name(scene.model.views[static_cast<std::size_t>(row)]));
}

}  // namespace fovea::canvas
