// Headers above columns, names and token axes beside rows.
#include <algorithm>
#include <array>
#include <cmath>

#include "canvas/scene.h"
#include "data/number_text.h"
#include "views/views.h"

namespace fovea::canvas {
namespace {

/// The name of a token in place of the ticks of its axis.
struct TokenLabel {
  std::string name;
  Rect pill;
  Rgba edge;

  void draw(Ink& ink) const {
    draw_pill(ink, pill, edge, 3);
    ink.write(pill, name, Align::centre, ink.style.text);
  }
};

/// The token of the crosshair or of the pinned row; nothing if it is not seen.
std::optional<TokenLabel> token_label(const Ink& ink, const Scene& scene, const Rect& where,
                                      bool down, Index token, Rgba edge, int column = -1) {
  const Lengths& lengths = scene.model.lengths;
  if (token < 0 || token >= (down ? lengths.queries : lengths.keys)) return {};
  const TokenAxis axis = down ? scene.queries(where) : scene.keys(where);
  const double at = std::round(axis.pixel(token + 0.5));
  if (at < axis.from || at > axis.to) return {};
  const drawing::TokenNames names = scene.names(column);
  const std::string name =
      (down ? names.queries : names.keys).numbered(token, ink.letters, where.width - 10);
  const double width = ink.letters.width(name) + 8;
  const double left = std::clamp(at - width / 2, where.x - 2, where.right() - width + 2);
  const Rect pill = down ? Rect{where.right() - width - 2, std::round(at - 7), width, 14}
                         : Rect{std::round(left), where.y + 2, width, 14};
  return TokenLabel{name, pill, edge};
}

/// Without the numbers and names that a label would cut.
void make_room(drawing::PanelAxis& axis, const std::optional<TokenLabel>& label, const Rect& where,
               const drawing::Lettering& letters) {
  if (!label) return;
  std::erase_if(axis.ticks, [&](const drawing::Tick& tick) {
    const double at = axis.downward ? axis.place(tick.at, where.y, where.bottom())
                                    : axis.place(tick.at, where.x, where.right());
    const double half =
        axis.downward || axis.named ? letters.line() / 2 : letters.width(tick.label) / 2;
    const Rect& pill = label->pill;
    return axis.downward ? at + half > pill.y && at - half < pill.bottom()
                         : at + half > pill.x && at - half < pill.right();
  });
}

/// The axis of queries at the left of a row.
void draw_query_axis(Ink& ink, const Scene& scene, int row) {
  const Rect where = scene.grid.query_axis(row);
  drawing::Axes axes{{},
                     drawing::query_axis({scene.viewport.row_begin, scene.viewport.row_end},
                                         where.height, ink.letters, scene.names())};
  const auto pinned = token_label(ink, scene, where, true, scene.model.pinned_query.value_or(-1),
                                  ink.style.pinned),
             pointed = token_label(ink, scene, where, true, scene.pointer.query, ink.style.faint);
  for (const auto& label : {pinned, pointed}) make_room(*axes.y, label, where, ink.letters);
  draw_y_axis(ink, {{where.right(), where.y, 0, where.height}, axes},
              {.numbers = true, .label = false});
  for (const auto& label : {pinned, pointed})
    if (label) label->draw(ink);
}

void draw_key_axis(Ink& ink, const Scene& scene, int row, int column) {
  const Rect where = scene.grid.key_axis(row, column);
  drawing::Axes axes{drawing::key_axis({scene.viewport.col_begin, scene.viewport.col_end},
                                       where.width, ink.letters, scene.names(column)),
                     {}};
  const auto pointed =
      token_label(ink, scene, where, false, scene.pointer.key, ink.style.faint, column);
  make_room(*axes.x, pointed, where, ink.letters);
  draw_x_axis(ink, {{where.x, where.y, where.width, 0}, axes}, {.numbers = true, .label = false});
  if (pointed) pointed->draw(ink);
}

/// The end of the variant's name in a title, behind which stands what tells its columns apart.
std::size_t name_end(const std::string& title) {
  return std::min({title.find(", "), title.find(" ("), title.size()});
}

// The lines of a header, down from its top: the title, then figures with their bars above the
// parameters, or words.
constexpr double title_height = 16, figures_top = 18, figures_height = 18, bars_top = 38,
                 bar_height = 3, parameters_top = 43, parameters_height = 14, words_top = 17,
                 between_figures = 10;
constexpr int most_word_lines = 3;

/// A number of a header, and its bar.
struct HeaderFigure {
  std::string number, word;  // "0.53", "error"
  double share;              // of the bar's length
};

/// Errors of all columns have one scale: up to that of an output of zeros, or up to the largest.
double largest_error(const Scene& scene) {
  double largest = 1;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const ColumnFigures* figures = scene.figures(c))
      if (const double error = figures->error.value_or(0); std::isfinite(error))
        largest = std::max(largest, error);
  return largest;
}

std::array<HeaderFigure, 2> figures_of(const ColumnFigures& of, double largest) {
  const std::string unknown = "–";
  return {HeaderFigure{of.error ? format_number(*of.error, 2, Zeros::keep) : unknown, "error",
                       std::clamp(of.error.value_or(0) / largest, 0.0, 1.0)},
          HeaderFigure{of.cost ? format_share(*of.cost) : unknown, "cost",
                       std::clamp(of.cost.value_or(0), 0.0, 1.0)}};
}

/// The places of the two figures in a header.
Rect figure_place(const Rect& header, std::size_t at) {
  const double width = (header.width - 2 - between_figures) / 2;
  return {header.x + 1 + double(at) * (width + between_figures), header.y + figures_top, width,
          figures_height};
}

double width_with_word(const HeaderFigure& figure, const drawing::Lettering& letters) {
  constexpr double gap = 5;
  return letters.width(figure.number, figure_face) + gap + letters.width(figure.word);
}

/// How the figures of all columns are drawn alike.
struct FigureLook {
  double largest_error;
  Letters face = figure_face;
  bool any = false, words = true;  // words: beside the numbers
};

FigureLook figure_look(const Scene& scene) {
  FigureLook look{.largest_error = largest_error(scene)};
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const ColumnFigures* figures = scene.figures(c);
    if (!figures) continue;
    look.any = true;
    const double room = figure_place(scene.grid.header(c), 0).width;
    for (const HeaderFigure& figure : figures_of(*figures, look.largest_error)) {
      if (scene.fonts.width(figure.number, figure_face) > room) look.face = narrow_title_face;
      look.words &= width_with_word(figure, scene.fonts) <= room;
    }
  }
  return look;
}

void draw_figures(Ink& ink, const Scene& scene, int column, const FigureLook& look) {
  const Rect where = scene.grid.header(column);
  const auto figures = figures_of(*scene.figures(column), look.largest_error);
  const std::array colours{ink.style.approximate, ink.style.accent};
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const HeaderFigure& figure = figures[f];
    const Rect place = figure_place(where, f);
    ink.write(place, figure.number, Align::left, ink.style.text, look.face);
    if (look.words)
      ink.write(place.without(width_with_word(figure, ink.letters) - ink.letters.width(figure.word),
                              3, 0, 0),
                figure.word, Align::left, ink.style.faint);
    const Rect bar{place.x, where.y + bars_top, place.width, bar_height};
    ink.fill(bar, ink.style.grid, 1);
    if (figure.share > 0)
      ink.fill({bar.x, bar.y, std::max(1.0, bar.width * figure.share), bar.height}, colours[f], 1);
  }
}

/// As many parameters as fit; what is left of the first if not even that fits.
std::string fitting_parameters(const std::string& parameters, const drawing::Lettering& letters,
                               double room) {
  std::string shown = parameters;
  for (std::size_t end; letters.width(shown) > room; shown.resize(end)) {
    end = shown.rfind(", ");
    if (end == std::string::npos) return letters.elided(shown, room);
  }
  return shown;
}

/// A list that begins with an item, wherever the item was.
std::string with_first(const std::string& item, const std::string& list) {
  std::string all = ", " + list + ", ";
  if (const std::size_t at = all.find(", " + item + ", "); at != std::string::npos)
    all.erase(at, item.size() + 2);
  const std::string others = all.size() > 4 ? all.substr(2, all.size() - 4) : "";
  return item + (others.empty() ? "" : ", " + others);
}

void draw_header(Ink& ink, const Scene& scene, int column, const FigureLook& look) {
  const Rect where = scene.grid.header(column);
  const bool chosen = scene.is_selected(column);
  const bool pointed = scene.pointer.column == column && scene.pointer.row < 0;
  if (pointed || chosen)
    ink.fill({where.x - 4, where.y - 2, where.width + 8, where.height + 4},
             faded(ink.style.accent, chosen ? 0.16 : 0.08), 4);
  const auto compared = scene.model.in_place_of ? std::nullopt : scene.comparison_words(column);
  const ColumnFigures* figures = scene.figures(column);
  const std::string title = compared ? compared->first : scene.title(column);
  const std::string place = compared ? compared->place : "";
  const Letters face = scene.title_letters();
  const Rect line{where.x + 1, where.y, where.width - 2, title_height};
  std::string below = figures ? figures->parameters : scene.subtitle(column);
  std::string shown = shortened_title(title, line.width, ink.letters, face, place);
  // If what tells columns apart does not fit in the title, it comes first below the title.
  const std::string name = title.substr(0, name_end(title)), apart = title.substr(name.size());
  if (apart.starts_with(", ") && shown != title + place) {
    if (figures && ink.letters.width(name, face) <= line.width) shown = name;
    if (!shown.ends_with(apart + place)) below = with_first(apart.substr(2), below);
  }
  ink.write(line, shown, Align::left, chosen ? ink.style.accent : ink.style.text, face);
  if (figures) {
    draw_figures(ink, scene, column, look);
    const Rect parameters{line.x, where.y + parameters_top, line.width, parameters_height};
    return ink.write(parameters, fitting_parameters(below, ink.letters, line.width), Align::left,
                     ink.style.faint);
  }
  Rect words{line.x, where.y + words_top, line.width, Grid::line_height};
  for (const std::string& part : ink.letters.wrapped(below, line.width, most_word_lines)) {
    ink.write(words, part, Align::left, compared ? ink.style.text : ink.style.faint);
    words.y += words.height;
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
  std::size_t end = name_end(title);
  // A short last word tells variants of one paper apart: "Treefor… TF".
  if (const std::size_t last = title.rfind(' ', end); last != title.npos && end - last <= 3)
    end = last;
  const std::string apart = title.substr(end) + following;
  const std::string name =
      letters.elided(title.substr(0, end), room - letters.width(apart, face), face);
  return name.empty() ? letters.elided(title + following, room, face) : name + apart;
}

std::optional<Rect> parameters_place(const Scene& scene, int column) {
  const ColumnFigures* figures = scene.figures(column);
  if (!figures || figures->parameters.empty()) return {};
  const Rect header = scene.grid.header(column);
  return Rect{header.x + 1, header.y + parameters_top, header.width - 2, parameters_height};
}

void draw_headers(Ink& ink, const Scene& scene) {
  const Rect window = scene.grid.window();
  const FigureLook look = figure_look(scene);
  // Where columns are too narrow for the words, they stand once beside the numbers of all.
  if (look.any && !look.words)
    ink.write({0, scene.grid.header(0).y + figures_top, window.x - 8, figures_height},
              "error, cost", Align::right, ink.style.faint);
  const Clip clip(ink, {window.x - 4, 0, window.width + 8, window.bottom()});
  for (int c = 0; c < scene.grid.columns(); ++c) draw_header(ink, scene, c, look);
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
