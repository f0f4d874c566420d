// Where the body of a panel lies within it, and which token is at a place.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

/// The rectangle of a picture within its panel.
Rect picture_place(const OutputPicture& picture, const Rect& panel) {
  if (picture.rows <= 0 || picture.cols <= 0) return panel;
  const Rect room = panel.inset(6);
  const double scale = std::min(room.width / picture.cols, room.height / picture.rows);
  const double w = scale * picture.cols, h = scale * picture.rows;
  return {std::round(room.centre().x - w / 2), std::round(room.centre().y - h / 2), w, h};
}

struct BodyPlace {
  Rect body, plot;
};

BodyPlace place_of(const Panel& panel, const Rect& where, const Fonts& fonts,
                   const drawing::TokenNames& names) {
  constexpr double margin = 8;
  if (const auto* picture = std::get_if<OutputPicture>(&panel.body))
    return {where, picture_place(*picture, where)};
  if (is_one_of<Message>(&panel)) return {where, where.inset(where.width < 200 ? 0 : margin)};
  if (is_one_of<FigureTable>(&panel)) return {where, where.inset(margin)};
  const bool leaves = is_one_of<LeafSizes>(&panel);
  if (!leaves && !is_one_of<RowCurve>(&panel)) return {where, where};
  const Rect body = where.without(margin, 4, margin, 1);
  const double heading = drawing::heading_height(panel, body, fonts, names);
  const Rect across = leaves ? body : where;  // keys align with those of other rows
  const double top = std::round(body.y + heading + (leaves ? 0 : 6));
  return {body, {across.x, top, across.width, std::max(10.0, body.bottom() - top)}};
}

/// The greatest amount of a panel, or of all panels in its row if the row shares a range.
std::optional<double> shared_top(const Scene& scene, int row, const Panel& panel) {
  auto top = drawing::amount_of(panel);
  if (!top || !scene.settings.shared_range) return top;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const Panel* other = scene.panel(row, c);
        other && drawing::amount_name(*other) == drawing::amount_name(panel))
      top = std::max(*top, drawing::amount_of(*other).value_or(0));
  return top;
}

}  // namespace

PlacedPanel Scene::placed(int row, int column) const {
  return placed(row, column, {columns[column], *cell(row, column)});
}

PlacedPanel Scene::placed(int row, int column, const PanelPart& part) const {
  const auto& panel = part.cell.panel;
  // A wiped panel is cut like a picture, with its numbers.
  const bool split = part.where && model.comparison->mode == ComparisonMode::split;
  const auto [body, plot] = place_of(*panel, grid.panel(row, column), fonts, names(column));
  const auto& scale = scales[row].of[column];
  return {.prepared = prepared.at(panel),
          .body = body,
          .plot = plot,
          .axes = drawing::axes_of(
              *panel, {.size = {plot.width, plot.height},
                       .letters = fonts,
                       .top = shared_top(*this, row, *panel),
                       .queries = drawing::TokenSpan{viewport.row_begin, viewport.row_end},
                       .keys = drawing::TokenSpan{viewport.col_begin, viewport.col_end},
                       .names = names(column)}),
          .scale = scale ? &*scale : nullptr,
          .names = names(column),
          .settings = settings,
          .part = split ? part.where : std::nullopt};
}

drawing::LeafPlace Scene::leaf_place(int row, int column) const {
  const Rect plot =
      place_of(*panel(row, column), grid.panel(row, column), fonts, names(column)).plot;
  return {*body<LeafSizes>(row, column), plot, fonts, 1};
}

Pointer Scene::point_at(Point at) const {
  Pointer under;
  auto cell_at = grid.find(at, &Grid::panel);
  if (!cell_at) {
    cell_at = grid.find(at, &Grid::strip);
    if (!cell_at || !has_row_strip(*this, cell_at->first, cell_at->second)) return under;
  }
  std::tie(under.row, under.column) = *cell_at;
  const Rect where = grid.panel(under.row, under.column);
  const Panel* in = panel(under.row, under.column);
  if (model.is_empty() || !in) return under;
  if (has_query_axis(in)) under.query = queries(where).token_at(at.y, model.lengths.queries);
  if (has_key_axis(in) && where.contains(at))
    under.key = keys(where).token_at(at.x, model.lengths.keys);
  if (const auto* row = std::get_if<RowCurve>(&in->body)) under.query = row->query;
  if (is_one_of<LeafSizes>(in))
    under.leaves = drawing::leaves_at(leaf_place(under.row, under.column), at);
  if (const auto* picture = std::get_if<OutputPicture>(&in->body);
      picture && model.queries_of(under.column).grid) {
    const Rect plot = picture_place(*picture, where);
    if (plot.contains(at))
      under.query =
          std::min(model.queries_of(under.column)
                       .grid->token_at((at.y - plot.y) / plot.height, (at.x - plot.x) / plot.width),
                   model.lengths.queries - 1);
  }
  return under;
}

}  // namespace fovea::canvas
