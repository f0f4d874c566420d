#include "canvas/scene.h"

#include <algorithm>
#include <cmath>

namespace fovea::canvas {
namespace {

const Raster* raster_of(const CanvasCell& cell) {
  return cell.panel ? std::get_if<Raster>(&cell.panel->body) : nullptr;
}

template <class Body>
bool any_holds(const std::vector<CanvasCell>& cells) {
  return std::ranges::any_of(cells, [](const CanvasCell& cell) {
    return cell.panel && std::holds_alternative<Body>(cell.panel->body);
  });
}

GridRow grid_row(View view, const std::vector<CanvasCell>& cells) {
  GridRow row;
  const bool square =
      any_holds<Raster>(cells) || any_holds<BlockMap>(cells) || any_holds<OutputPicture>(cells);
  const bool flat = view == View::row || view == View::tree;
  const bool words = !cells.empty() && std::ranges::all_of(cells, [](const CanvasCell& cell) {
    return cell.panel && std::holds_alternative<Message>(cell.panel->body);
  });
  row.aspect = words ? 0.3 : flat && !square ? 0.72 : 1.0;
  return row;
}

}  // namespace

const CanvasCell* Scene::cell(int row, int column) const {
  const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
  if (row < 0 || column < 0 || r >= model.cells.size() || c >= model.cells[r].size())
    return nullptr;
  return &model.cells[r][c];
}

const Panel* Scene::panel(int row, int column) const {
  const CanvasCell* at = cell(row, column);
  return at ? at->panel.get() : nullptr;
}

std::optional<drawing::ColourScale> Scene::scale(int row, int column) const {
  const CanvasCell* at = cell(row, column);
  if (!at || !at->panel) return {};
  auto of_panel = scale_in(scales[static_cast<std::size_t>(row)], *at->panel, model.settings);
  if (of_panel && std::holds_alternative<Raster>(at->panel->body))
    of_panel->add(special_colours_of(prepared(at->panel).contents, *of_panel));
  return of_panel;
}

TokenAxis Scene::queries(const Rect& panel) const {
  return {viewport.row_begin, viewport.row_end, panel.y, panel.bottom()};
}

TokenAxis Scene::keys(const Rect& panel) const {
  return {viewport.col_begin, viewport.col_end, panel.x, panel.right()};
}

bool has_query_axis(const Panel& panel) {
  return std::holds_alternative<Raster>(panel.body) ||
         std::holds_alternative<BlockMap>(panel.body) || std::holds_alternative<Strip>(panel.body);
}

bool has_key_axis(const Panel& panel) {
  return std::holds_alternative<Raster>(panel.body) ||
         std::holds_alternative<BlockMap>(panel.body) ||
         std::holds_alternative<RowCurve>(panel.body);
}

namespace {

/// Whether a caption got more lines than it had.
bool make_room_for_captions(GridShape& shape, const CanvasModel& model, const Grid& grid,
                            const Fonts& fonts) {
  constexpr int most_lines = 6;
  bool more = false;
  for (std::size_t r = 0; r < shape.rows.size(); ++r)
    for (const CanvasCell& cell : model.cells[r]) {
      if (!cell.panel || fonts.width(cell.panel->caption) <= grid.side()) continue;
      const int lines =
          static_cast<int>(fonts.wrapped(cell.panel->caption, grid.side(), most_lines).size());
      more |= lines > shape.rows[r].caption_lines;
      shape.rows[r].caption_lines = std::max(shape.rows[r].caption_lines, lines);
    }
  return more;
}

/// Whether a panel's own colour bar got more room than it had.
bool make_room_for_bars(GridShape& shape, const CanvasModel& model, double side, const Fonts& fonts,
                        const PreparedOf& prepared) {
  bool more = false;
  for (std::size_t r = 0; r < shape.rows.size(); ++r)
    for (const CanvasCell& cell : model.cells[r]) {
      auto scale = cell.panel && shape.rows[r].own_bars
                       ? drawing::colour_scale_of(*cell.panel, model.settings)
                       : std::nullopt;
      if (!scale) continue;
      if (raster_of(cell)) scale->add(special_colours_of(prepared(cell.panel).contents, *scale));
      const double height = std::ceil(own_bar(*scale, fonts, side).height()) + 3;
      more |= height > shape.rows[r].bar_height;
      shape.rows[r].bar_height = std::max(shape.rows[r].bar_height, height);
    }
  return more;
}

}  // namespace

drawing::ColourBar own_bar(const drawing::ColourScale& scale, const Fonts& fonts, double width) {
  return {scale, fonts, {.width = width, .form = drawing::ColourBar::Form::beneath}};
}

GridShape shape_of(const CanvasModel& model, const Viewport& viewport, Point size,
                   const Fonts& fonts, const PreparedOf& prepared) {
  GridShape shape{.size = size, .columns = static_cast<int>(model.column_titles.size())};
  shape.side_bars = false;
  int last_with_keys = -1;
  const std::vector<RowScale> scales = scales_of(model);
  for (std::size_t r = 0; r < model.cells.size() && r < model.views.size(); ++r) {
    GridRow row = grid_row(model.views[r], model.cells[r]);
    row.own_bars = scales[r].own;
    shape.side_bars |= scales[r].shared.has_value();
    const bool keys = std::ranges::any_of(model.cells[r], [](const CanvasCell& cell) {
      return cell.panel && has_key_axis(*cell.panel);
    });
    if (keys) last_with_keys = static_cast<int>(r);
    shape.rows.push_back(row);
  }
  if (last_with_keys >= 0) shape.rows[static_cast<std::size_t>(last_with_keys)].key_axis = true;
  // What would be cut gets more lines, which makes the panels smaller, so that more may be cut.
  constexpr int most_rounds = 4;
  Grid grid(shape);
  for (int round = 0; round < most_rounds; ++round) {
    const bool captions = make_room_for_captions(shape, model, grid, fonts);
    if (!make_room_for_bars(shape, model, grid.side(), fonts, prepared) && !captions) break;
    grid = Grid(shape);
  }
  for (const std::string& subtitle : model.column_subtitles)
    if (fonts.width(subtitle) > grid.side()) shape.subtitle_lines = 2;
  const bool seen = viewport.col_end > viewport.col_begin;
  if (const drawing::TokenNames names(*model.sequence); names.known() && seen) {
    const auto axis =
        drawing::key_axis({viewport.col_begin, viewport.col_end}, grid.side(), fonts, names);
    if (axis.named)
      shape.key_axis_height =
          std::ceil(drawing::x_axis_height(axis, fonts, {.numbers = true, .label = false}));
  }
  return shape;
}

/// The rectangle of a picture within its panel.
Rect picture_place(const OutputPicture& picture, const Rect& panel) {
  if (picture.rows <= 0 || picture.cols <= 0) return panel;
  const Rect room = panel.inset(6);
  const double scale = std::min(room.width / static_cast<double>(picture.cols),
                                room.height / static_cast<double>(picture.rows));
  const double w = scale * static_cast<double>(picture.cols),
               h = scale * static_cast<double>(picture.rows);
  return {std::round(room.centre().x - w / 2), std::round(room.centre().y - h / 2), w, h};
}

BodyPlace place_of(const Panel& panel, const Rect& where, const Fonts& fonts) {
  constexpr double margin = 8;
  if (const auto* picture = std::get_if<OutputPicture>(&panel.body))
    return {where, picture_place(*picture, where)};
  if (std::holds_alternative<Message>(panel.body))
    return {where, where.inset(where.width < 200 ? 0 : margin)};
  if (std::holds_alternative<FigureTable>(panel.body)) return {where, where.inset(margin)};
  const bool leaves = std::holds_alternative<LeafSizes>(panel.body);
  if (!leaves && !std::holds_alternative<RowCurve>(panel.body)) return {where, where};
  const Rect body = where.without(margin, 4, margin, 1);
  const double heading = drawing::heading_height(panel, body, fonts);
  const Rect across = leaves ? body : where;  // keys align with those of other rows
  const double top = std::round(body.y + heading + (leaves ? 0 : 6));
  return {body, {across.x, top, across.width, std::max(10.0, body.bottom() - top)}};
}

drawing::LeafPlace leaf_place(const LeafSizes& leaves, const Panel& panel, const Rect& where,
                              const Fonts& fonts) {
  return {leaves, place_of(panel, where, fonts).plot, fonts, 1};
}

namespace {

Index token_at(const TokenAxis& axis, double pixel, Index n) {
  return std::clamp(static_cast<Index>(std::floor(axis.token(pixel))), Index{0}, n - 1);
}

void point_into(Pointer& pointer, const Scene& scene, const Panel& panel, const Rect& where,
                Point at) {
  const Index n = scene.model.n;
  if (n <= 0) return;
  if (has_query_axis(panel)) pointer.query = token_at(scene.queries(where), at.y, n);
  if (has_key_axis(panel)) pointer.key = token_at(scene.keys(where), at.x, n);
  if (const auto* row = std::get_if<RowCurve>(&panel.body)) pointer.query = row->query;
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body))
    pointer.leaves = drawing::leaves_at(leaf_place(*leaves, panel, where, scene.fonts), at);
  if (std::holds_alternative<OutputPicture>(panel.body)) {
    const Rect place = place_of(panel, where, scene.fonts).plot;
    const auto& grid = scene.model.sequence->grid;
    if (!grid || !place.contains(at)) return;
    const auto r =
        static_cast<Index>((at.y - place.y) / place.height * static_cast<double>(grid->rows));
    const auto c =
        static_cast<Index>((at.x - place.x) / place.width * static_cast<double>(grid->cols));
    pointer.query = std::min(grid->prefix + r * grid->cols + c, n - 1);
  }
}

}  // namespace

Pointer point_at(const Scene& scene, Point at) {
  Pointer pointer;
  if (!scene.grid.window().contains(at)) return pointer;
  for (int r = 0; r < scene.grid.rows(); ++r)
    for (int c = 0; c < scene.grid.columns(); ++c) {
      const Rect where = scene.grid.panel(r, c);
      if (!where.contains(at)) continue;
      pointer.row = r;
      pointer.column = c;
      const CanvasCell* cell = scene.cell(r, c);
      if (cell && cell->panel) point_into(pointer, scene, *cell->panel, where, at);
      return pointer;
    }
  return pointer;
}

std::optional<float> value_at(const Raster& raster, Index query, Index key) {
  if (!raster.rows.contains(query) || !raster.cols.contains(key) || raster.values.empty())
    return {};
  return raster.values(pixel_of(raster.rows, raster.values.rows(), query),
                       pixel_of(raster.cols, raster.values.cols(), key));
}

}  // namespace fovea::canvas
