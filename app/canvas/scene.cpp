#include "canvas/scene.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "canvas/raster_painter.h"
#include "data/pixels.h"
#include "data/text.h"
#include "drawing/caption.h"
#include "views/views.h"

namespace fovea::canvas {
namespace {

using drawing::ColourBar;
using drawing::ColourScale;

/// Whether a row has or will have something beside messages.
bool has_pictures(const Scene& scene, int row) {
  for (int c = 0; c < std::ssize(scene.columns); ++c)
    if (!is_one_of<Message>(scene.panel(row, c))) return true;
  return false;
}

/// Whether token ticks belong below a row: as its view says, so that they have their room before
/// there is a panel.
bool has_key_ticks(const Scene& scene, int row) {
  if (scene.view(row)->has_keys && has_pictures(scene, row)) return true;
  for (int c = 0; c < std::ssize(scene.columns); ++c)
    if (has_key_axis(scene.panel(row, c))) return true;
  return false;
}

/// The bar of a panel with a range of its own, as wide as the panel.
ColourBar own_bar(const Scene& scene, const ColourScale& scale, double width) {
  return {scale, scene.fonts, {.width = width, .form = ColourBar::Form::beneath}};
}

drawing::RowScales scales_of(const Scene& scene, int row) {
  const CanvasModel& model = scene.model.in_place_of ? *scene.model.in_place_of : scene.model;
  // An enlarged panel has the scale of what it is compared with too.
  std::vector<int> columns = scene.columns;
  if (const auto& comparison = model.comparison;
      comparison && std::ranges::count(columns, comparison->column) > 0 &&
      std::ranges::count(columns, comparison->with) == 0)
    columns.push_back(comparison->with);
  std::vector<const Panel*> panels;
  for (const int column : columns) {
    const auto& cells = model.cells[scene.rows[row]];
    panels.push_back(column < std::ssize(cells) ? cells[column].panel.get() : nullptr);
  }
  auto scales = drawing::scales_of_row(scene.view(row), panels, scene.settings, columns);
  scales.of.resize(scene.columns.size());
  for (int c = 0; c < std::ssize(scene.columns); ++c) {
    auto& scale = scales.of[c];
    const Panel* panel = scene.panel(row, c);
    if (panel && scene.model.in_place_of) {
      scale = drawing::colour_scale_of(*panel, scene.settings);
      if (scale && scales.shared) scale = scales.shared;
    }
    if (!scales.shared)
      if (const auto both = scale_of_both(scene, row, c)) scale = both;
    if (!scale || !is_one_of<Raster>(panel)) continue;
    for (const CanvasCell* cell : {scene.cell(row, c), scene.compared_with(row, c)})
      if (cell) scale->add(special_colours_of(scene.prepared.at(cell->panel).contents, *scale));
    if (scales.shared) scales.shared->add(*scale);
  }
  return scales;
}

void append(std::string& words, const std::string& more) {
  if (!more.empty()) add_item(words, more, " · ");
}

std::string plain_caption(const Scene& scene, int row, int column) {
  const Panel* panel = scene.panel(row, column);
  return panel ? panel->caption : "";
}

/// The caption, with what the strip beside the panel shows if the caption does not say it.
std::string with_strip(const Scene& scene, int row, int column, std::string words) {
  if (plain_caption(scene, row, column).find("strip: ") == std::string::npos)
    append(words, row_strip_legend(scene, row, column));
  return words;
}

/// How far the names of a row's colours reach below the row.
double legend_overhang(const Scene& scene, const GridShape& shape, int row) {
  const auto& shared = scene.scales[row].shared;
  if (!shared || !shared->is_named()) return 0;
  const Grid grid(shape);
  const Rect bar = grid.side_bar(row);
  const ColourBar legend(*shared, scene.fonts,
                         {.width = bar.width, .form = ColourBar::Form::upright});
  return std::ceil(bar.y + legend.height() - grid.caption(row, 0).bottom());
}

/// Gives rows room for their own colour bars, and for names of colours that reach below them.
/// Returns whether any got more.
bool make_room(const Scene& scene, GridShape& shape, double side) {
  bool more = false;
  const auto grow = [&](auto& room, auto wanted) {
    more |= wanted > room;
    room = std::max(room, wanted);
  };
  for (int r = 0; r < std::ssize(shape.rows); ++r) {
    grow(shape.rows[r].bar_height, legend_overhang(scene, shape, r));
    for (int c = 0; c < shape.columns; ++c) {
      if (const auto& scale = scene.scales[r].of[c]; scale && !scene.scales[r].shared)
        grow(shape.rows[r].bar_height, std::ceil(own_bar(scene, *scale, side).height()) + 3);
    }
  }
  return more;
}

GridShape shape_of(const Scene& scene) {
  GridShape shape{.size = scene.size, .columns = int(scene.columns.size())};
  if (!scene.enlarged) shape.panels = scene.panel_size;
  shape.side_bars = false;
  GridRow* last_with_keys = nullptr;
  shape.rows.resize(scene.rows.size());
  for (int r = 0; r < std::ssize(scene.rows); ++r) {
    const View view = scene.view(r);
    shape.rows[r].aspect = view->aspect;
    shape.side_bars |=
        scene.scales[r].shared.has_value() || (view->has_colours && scene.settings.shared_range);
    if (has_key_ticks(scene, r)) last_with_keys = &shape.rows[r];
  }
  if (last_with_keys) last_with_keys->key_axis = true;
  // More room below makes the panels smaller, so that more is needed.
  constexpr int most_rounds = 4;
  double side = Grid(shape).side();
  for (int round = 0; round < most_rounds && make_room(scene, shape, side); ++round)
    side = Grid(shape).side();
  if (const auto names = scene.names(); names.keys.known()) {
    const auto axis = drawing::key_axis({scene.viewport.col_begin, scene.viewport.col_end}, side,
                                        scene.fonts, names);
    if (axis.named)
      shape.key_axis_height =
          std::ceil(drawing::x_axis_height(axis, scene.fonts, {.numbers = true, .label = false}));
  }
  return shape;
}

}  // namespace

std::string Scene::pooling(int row, int column) const {
  const auto* raster = body<Raster>(row, column);
  if (!raster || raster->values.empty()) return "";
  const Rect where = grid.panel(row, column);
  const double height = queries(where).cell() * double(raster->rows.size()) * pixel_ratio,
               width = keys(where).cell() * double(raster->cols.size()) * pixel_ratio;
  return words_of(*raster, screen_pooling(*raster, settings.pool, width, height));
}

namespace {

std::string caption_of(const Scene& scene, int row, int column) {
  const bool compared = scene.panel(row, column) && scene.comparison_words(column);
  return with_strip(
      scene, row, column,
      compared ? compared_caption(scene, row, column) : plain_caption(scene, row, column));
}

/// Colour bars say how the panels are pooled. Returns whether that may take more room: below a
/// panel, or beside a row above the names of its colours.
bool name_pooling(Scene& scene) {
  bool changed = false;
  for (int r = 0; r < std::ssize(scene.rows); ++r) {
    drawing::RowScales& scales = scene.scales[r];
    const std::string before = scales.shared ? scales.shared->pooling : "";
    if (scales.shared) scales.shared->pooling.clear();
    for (int c = 0; c < std::ssize(scene.columns); ++c) {
      if (!scales.of[c]) continue;
      // The blended colours that have names show by themselves what they are.
      const std::string words = scales.of[c]->is_named() ? "" : scene.pooling(r, c);
      changed |= !scales.shared && scales.of[c]->pooling != words;
      scales.of[c]->pooling = words;
      if (scales.shared && scales.shared->pooling.empty()) scales.shared->pooling = words;
    }
    changed |= scales.shared && scales.shared->is_named() && scales.shared->pooling != before;
  }
  return changed;
}

}  // namespace

void Scene::lay_out(Point canvas) {
  size = canvas;
  viewport = model.viewport;
  if (!(viewport.row_end > viewport.row_begin) || !(viewport.col_end > viewport.col_begin))
    viewport =
        whole({std::max<Index>(model.lengths.queries, 1), std::max<Index>(model.lengths.keys, 1)});
  scales.clear();
  for (int r = 0; r < std::ssize(rows); ++r) scales.push_back(scales_of(*this, r));
  captions.clear();
  strip_tops.clear();
  for (int r = 0; r < std::ssize(rows); ++r) {
    strip_tops.push_back(strip_tops_of(*this, r));
    auto& words = captions.emplace_back();
    for (int c = 0; c < std::ssize(columns); ++c) words.push_back(caption_of(*this, r, c));
  }
  if (model.in_place_of) {
    Scene replaced{.model = *model.in_place_of,
                   .settings = settings,
                   .fonts = fonts,
                   .prepared = prepared,
                   .rows = rows,
                   .columns = columns,
                   .panel_size = panel_size,
                   .enlarged = enlarged,
                   .pixel_ratio = pixel_ratio};
    replaced.lay_out(canvas);
    grid = replaced.grid;
    name_pooling(*this);
    return;
  }
  grid = Grid(shape_of(*this));
  // The title of a bar that became longer may need another line, and pixels then cover other
  // entries.
  if (!name_pooling(*this)) return;
  grid = Grid(shape_of(*this));
  name_pooling(*this);
}

Letters Scene::title_letters() const {
  for (int c = 0; c < std::ssize(columns); ++c)
    if (fonts.width(title(c), title_face) > grid.side() - 2) return narrow_title_face;
  return title_face;
}

const ColumnFigures* Scene::figures(int column) const {
  const auto c = std::size_t(columns[column]);
  const bool has = c < model.column_figures.size() && !comparison_words(column);
  return has && model.column_figures[c] ? &*model.column_figures[c] : nullptr;
}

std::string Scene::note(int column) const {
  const auto c = std::size_t(columns[column]);
  return c < model.column_notes.size() ? model.column_notes[c] : "";
}

std::string Scene::subtitle(int column) const {
  if (const auto words = comparison_words(column); words && !model.in_place_of)
    return words->second;
  const int c = columns[column];
  return c < std::ssize(model.column_subtitles) ? model.column_subtitles[c] : "";
}

const CanvasCell* Scene::cell(int row, int column) const {
  if (row < 0 || column < 0 || row >= std::ssize(rows) || column >= std::ssize(columns))
    return nullptr;
  const auto& cells = model.cells[rows[row]];
  return columns[column] < std::ssize(cells) ? &cells[columns[column]] : nullptr;
}

const Panel* Scene::panel(int row, int column) const {
  const CanvasCell* at = cell(row, column);
  return at ? at->panel.get() : nullptr;
}

std::vector<PlacedBar> Scene::bars(int row) const {
  std::vector<PlacedBar> placed;
  if (scales[row].shared) {
    // Names stand below the bar, beside the caption if there is room; otherwise they make the bar
    // shorter.
    const Rect where = grid.side_bar(row);
    const double below = grid.caption(row, 0).bottom() - where.bottom();
    const ColourBar::Request request{.width = where.width,
                                     .form = ColourBar::Form::upright,
                                     .length = where.height + below,
                                     .bar = where.height};
    placed.push_back({row, -1, ColourBar(*scales[row].shared, fonts, request), {where.x, where.y}});
    return placed;
  }
  for (int c = 0; c < grid.columns(); ++c)
    if (const Rect where = grid.own_bar(row, c); scales[row].of[c] && !where.empty())
      placed.push_back(
          {row, c, own_bar(*this, *scales[row].of[c], where.width), {where.x, where.y}});
  return placed;
}

float number_of_pair(const Raster& raster, const Matrix& numbers, Index query, Index key) {
  return numbers(pixel_of(query - raster.rows.begin, raster.rows.size(), numbers.rows()),
                 pixel_of(key - raster.cols.begin, raster.cols.size(), numbers.cols()));
}

std::optional<float> value_at(const Raster& raster, Index query, Index key) {
  if (!raster.rows.contains(query) || !raster.cols.contains(key) || raster.values.empty())
    return {};
  return number_of_pair(raster, raster.values, query, key);
}

}  // namespace fovea::canvas
