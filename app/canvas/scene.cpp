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
  row.aspect = words ? 0.3f : flat && !square ? 0.72f : 1.0f;
  return row;
}

}  // namespace

const CanvasCell* Scene::cell(int row, int column) const {
  const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
  if (row < 0 || column < 0 || r >= model.cells.size() || c >= model.cells[r].size())
    return nullptr;
  return &model.cells[r][c];
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
      if (!cell.panel || fonts.width(Face::small, cell.panel->caption) <= grid.side()) continue;
      const int lines = static_cast<int>(
          fonts.wrapped(Face::small, cell.panel->caption, grid.side(), most_lines).size());
      more |= lines > shape.rows[r].caption_lines;
      shape.rows[r].caption_lines = std::max(shape.rows[r].caption_lines, lines);
    }
  return more;
}

/// Whether a legend got more lines than it had.
bool make_room_for_legends(GridShape& shape, const CanvasModel& model, float side,
                           const Fonts& fonts, const ContentsOf& contents) {
  bool more = false;
  for (std::size_t r = 0; r < shape.rows.size(); ++r)
    for (const CanvasCell& cell : model.cells[r]) {
      const Raster* raster = raster_of(cell);
      if (!raster || shape.rows[r].legend_lines == 0) continue;
      const int bar = raster->palette == Palette::categories ? 0 : 1;
      const auto names = legend_lines(*raster, contents(cell.panel), model.settings, fonts, side);
      const int lines = bar + static_cast<int>(names.size());
      more |= lines > shape.rows[r].legend_lines;
      shape.rows[r].legend_lines = std::max(shape.rows[r].legend_lines, lines);
    }
  return more;
}

}  // namespace

GridShape shape_of(const CanvasModel& model, const Viewport& viewport, Point size,
                   const Fonts& fonts, const ContentsOf& contents) {
  GridShape shape{.size = size, .columns = static_cast<int>(model.column_titles.size())};
  shape.side_bars = false;
  int last_with_keys = -1;
  const std::vector<RowScale> scales = scales_of(model);
  for (std::size_t r = 0; r < model.cells.size() && r < model.views.size(); ++r) {
    GridRow row = grid_row(model.views[r], model.cells[r]);
    row.legend_lines = scales[r].own ? 1 : 0;
    shape.side_bars |= scales[r].range && !scales[r].own;
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
    if (!make_room_for_legends(shape, model, grid.side(), fonts, contents) && !captions) break;
    grid = Grid(shape);
  }
  for (const std::string& subtitle : model.column_subtitles)
    if (fonts.width(Face::small, subtitle) > grid.side()) shape.subtitle_lines = 2;
  const double extent = viewport.col_end - viewport.col_begin;
  const bool named = !model.sequence->tokens.empty() || model.sequence->grid;
  if (named && extent > 0 && grid.side() / extent >= cell_for_tokens) shape.key_axis_height = 58;
  return shape;
}

std::vector<RasterDrawing> raster_drawings(const Scene& scene) {
  std::vector<RasterDrawing> out;
  const Rect window = scene.grid.window();
  for (int r = 0; r < scene.grid.rows(); ++r)
    for (int c = 0; c < scene.grid.columns(); ++c) {
      const CanvasCell* cell = scene.cell(r, c);
      const Raster* raster = cell ? raster_of(*cell) : nullptr;
      const Rect panel = scene.grid.panel(r, c);
      const Rect seen = panel.intersected(window);
      if (!raster || seen.empty()) continue;
      const TokenAxis down = scene.queries(panel), across = scene.keys(panel);
      const float x = across.pixel(static_cast<double>(raster->cols.begin));
      const float y = down.pixel(static_cast<double>(raster->rows.begin));
      const Rect placed{x, y, across.pixel(static_cast<double>(raster->cols.end)) - x,
                        down.pixel(static_cast<double>(raster->rows.end)) - y};
      const RowScale& scale = scene.scales[static_cast<std::size_t>(r)];
      out.push_back({cell->panel, placed, placed.intersected(seen),
                     range_in(scale, *raster, scene.model.settings)});
    }
  return out;
}

namespace {

Index token_at(const TokenAxis& axis, float pixel, Index n) {
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
    pointer.leaves = leaves_at(*leaves, where, at);
  if (const auto* picture = std::get_if<OutputPicture>(&panel.body)) {
    const Rect place = picture_place(*picture, where);
    const auto& grid = scene.model.sequence->grid;
    if (!grid || !place.contains(at)) return;
    const auto r =
        static_cast<Index>((at.y - place.y) / place.height * static_cast<float>(grid->rows));
    const auto c =
        static_cast<Index>((at.x - place.x) / place.width * static_cast<float>(grid->cols));
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
