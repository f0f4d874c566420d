// Headers above columns, names and token axes beside rows.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"
#include "views/views.h"

namespace fovea::canvas {
namespace {

/// The token of the crosshair or of the pinned row, over the ticks of its axis.
void draw_token_label(Ink& ink, const Scene& scene, const Rect& where, bool down, Index token,
                      Rgba edge) {
  const Lengths& lengths = scene.model.lengths;
  if (token < 0 || token >= (down ? lengths.queries : lengths.keys)) return;
  const TokenAxis axis = down ? scene.queries(where) : scene.keys(where);
  const double at = std::round(axis.pixel(token + 0.5));
  if (at < axis.from || at > axis.to) return;
  const drawing::TokenNames names = scene.names();
  const std::string name =
      (down ? names.queries : names.keys).numbered(token, ink.letters, where.width - 10);
  const double width = ink.letters.width(name) + 8;
  const double left = std::clamp(at - width / 2, where.x - 2, where.right() - width + 2);
  const Rect pill = down ? Rect{where.right() - width - 2, std::round(at - 7), width, 14}
                         : Rect{std::round(left), where.y + 2, width, 14};
  draw_pill(ink, pill, edge, 3);
  ink.write(pill, name, Align::centre, ink.style.text);
}

/// The axis of queries at the left of a row.
void draw_query_axis(Ink& ink, const Scene& scene, int row) {
  const Rect where = scene.grid.query_axis(row);
  const drawing::Axes axes{{},
                           drawing::query_axis({scene.viewport.row_begin, scene.viewport.row_end},
                                               where.height, ink.letters, scene.names())};
  draw_y_axis(ink, {{where.right(), where.y, 0, where.height}, axes},
              {.numbers = true, .label = false});
  if (scene.model.pinned_query)
    draw_token_label(ink, scene, where, true, *scene.model.pinned_query, ink.style.pinned);
  draw_token_label(ink, scene, where, true, scene.pointer.query, ink.style.faint);
}

void draw_key_axis(Ink& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.key_axis(row, column);
  const drawing::Axes axes{drawing::key_axis({scene.viewport.col_begin, scene.viewport.col_end},
                                             where.width, ink.letters, scene.names()),
                           {}};
  draw_x_axis(ink, {{where.x, where.y, where.width, 0}, axes}, {.numbers = true, .label = false});
  draw_token_label(ink, scene, where, false, scene.pointer.key, ink.style.faint);
}

/// The end of the variant's name in a title, behind which stands what tells its columns apart.
std::size_t name_end(const std::string& title) {
  return std::min({title.find(", "), title.find(" ("), title.size()});
}

void draw_header(Ink& ink, const Scene& scene, int column) {
  const Rect where = scene.grid.header(column);
  const bool chosen = scene.is_selected(column);
  const bool pointed = scene.pointer.column == column && scene.pointer.row < 0;
  if (pointed || chosen)
    ink.fill({where.x - 4, where.y - 2, where.width + 8, where.height + 4},
             faded(ink.style.accent, chosen ? 0.16 : 0.08), 4);
  const auto compared = scene.model.in_place_of ? std::nullopt : scene.comparison_words(column);
  const std::string title = compared ? compared->first : scene.title(column);
  const std::string place = compared ? compared->place : "";
  const Letters face = scene.titles_fit() ? title_face : body_face;
  Rect line{where.x + 1, where.y, where.width - 2, 16};
  const std::string shown = shortened_title(title, line.width, ink.letters, face, place);
  ink.write(line, shown, Align::left, chosen ? ink.style.accent : ink.style.text, face);
  // If what tells columns apart does not fit in the title, it comes first below the title.
  std::string subtitle = scene.subtitle(column);
  if (const std::string apart = title.substr(name_end(title)); !shown.ends_with(apart + place))
    if (apart.starts_with(", ")) subtitle = apart.substr(2) + ", " + subtitle;
  line = {line.x, where.y + 18, line.width, 14};
  for (const std::string& words :
       subtitle_lines(subtitle, ink.letters, line.width, scene.grid.subtitle_lines())) {
    ink.write(line, words, Align::left, compared ? ink.style.text : ink.style.faint);
    line.y += line.height;
  }
}

/// Where a dragged column would land.
void draw_drop_line(Ink& ink, const Scene& scene) {
  if (!scene.dragged_column) return;
  const auto [from, x] = *scene.dragged_column;
  const Rect source = scene.grid.header(from);
  const std::string& title = scene.title(from);
  const Rect dragged{x + 10, source.y, ink.letters.width(title, title_face) + 16, 22};
  ink.fill(dragged, ink.style.accent, 4);
  ink.write(dragged, title, Align::centre, ink.style.ground, title_face);
  const int to = scene.grid.column_at(x, from);
  if (to == from) return;
  const Rect header = scene.grid.header(to);
  const double edge = to > from ? header.right() + Grid::gap / 2 : header.x - Grid::gap / 2;
  ink.fill({edge - 1.5, header.y, 3, 4000}, ink.style.accent);
}

}  // namespace

std::string shortened_title(const std::string& title, double room,
                            const drawing::Lettering& letters, Letters face,
                            const std::string& following) {
  const std::size_t end = name_end(title);
  const std::string apart = title.substr(end) + following;
  const std::string name =
      letters.elided(title.substr(0, end), room - letters.width(apart, face), face);
  return name.empty() ? letters.elided(title + following, room, face) : name + apart;
}

void draw_headers(Ink& ink, const Scene& scene) {
  const Rect window = scene.grid.window();
  const Clip clip(ink, {window.x - 4, 0, window.width + 8, window.bottom()});
  for (int c = 0; c < scene.grid.columns(); ++c) draw_header(ink, scene, c);
  draw_drop_line(ink, scene);
}

void draw_axes(Ink& ink, const Scene& scene, int row) {
  const Rect window = scene.grid.window();
  bool queries = false;
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const Panel* panel = scene.panel(row, c);
    queries |= has_query_axis(panel);
    const Clip clip(ink, {window.x - 6, window.y, window.width + 12, window.height});
    if (has_key_axis(panel) && !scene.grid.key_axis(row, c).empty())
      draw_key_axis(ink, scene, row, c);
  }
  const Clip clip(ink, {0, window.y - 4, window.right() + 200, window.height + 4});
  if (queries && !scene.model.is_empty()) draw_query_axis(ink, scene, row);
  const bool current = !scene.enlarged && row == scene.current_row && scene.grid.rows() > 1;
  ink.text_upwards(scene.grid.row_label(row).centre(), label_of(scene.view(row)),
                   current ? ink.style.accent : ink.style.text, body_face);
}

}  // namespace fovea::canvas
