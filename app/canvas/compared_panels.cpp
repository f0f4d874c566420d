// Two columns in the panels of one: which part of a panel shows which column, in which colours, and
// with what caption.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"
#include "data/text.h"

namespace fovea::canvas {
namespace {

using drawing::ColourScale;

/// Whether a panel is a matrix or an image, which can be shown in parts and in place of another.
bool is_picture(const Panel* panel) {
  return panel && (std::holds_alternative<Raster>(panel->body) ||
                   std::holds_alternative<BlockMap>(panel->body) ||
                   std::holds_alternative<OutputPicture>(panel->body));
}

}  // namespace

const CanvasCell* Scene::compared_with(int row, int column) const {
  const auto& comparison = model.comparison;
  const Panel* own = panel(row, column);
  if (!comparison || !is_picture(own) || columns[column] != comparison->column) return nullptr;
  const auto& cells = model.cells[rows[row]];
  const CanvasCell* other =
      comparison->with < std::ssize(cells) ? &cells[comparison->with] : nullptr;
  if (!other || !other->panel || other->panel->body.index() != own->body.index()) return nullptr;
  const auto scale = drawing::colour_scale_of(*own, settings),
             others = drawing::colour_scale_of(*other->panel, settings);
  return scale && !same_kind(*scale, *others) ? nullptr : other;
}

std::vector<PanelPart> Scene::parts(int row, int column) const {
  const CanvasCell& own = *cell(row, column);
  const CanvasCell* other = compared_with(row, column);
  if (!other) return {{columns[column], own}};
  const PanelPart first{columns[column], own}, second{model.comparison->with, *other};
  if (model.comparison->mode == ComparisonMode::blink) return {shows_other ? second : first};
  Rect where = grid.panel(row, column);
  const double x = std::round(where.x + border * where.width);
  drawing::HalfPlane part{{x, where.y}, {x, where.bottom()}};  // the left one
  if (model.comparison->mode == ComparisonMode::split) {
    const auto on_diagonal = [&](double token) {
      return Point{keys(where).pixel(token), queries(where).pixel(token)};
    };
    part = {on_diagonal(viewport.col_end), on_diagonal(viewport.col_begin)};  // the upper right one
    if (body<OutputPicture>(row, column)) {
      where = placed(row, column).plot;
      part = {{where.right(), where.bottom()}, {where.x, where.y}};
    }
  }
  return {{first.column, own, part}, {second.column, *other, part.other_side()}};
}

PanelPart Scene::part_at_pointer(int row, int column) const {
  const std::vector<PanelPart> all = parts(row, column);
  const Rect where = grid.panel(row, column);
  const Point middle{keys(where).pixel(pointer.key + 0.5),
                     queries(where).pixel(pointer.query + 0.5)};
  const bool first = all.size() == 1 || pointer.key < 0 || all[0].where->contains(middle);
  return first ? all.front() : all.back();
}

std::optional<ComparisonWords> Scene::comparison_words(int column) const {
  const auto& comparison = model.comparison;
  if (!comparison || columns[column] != comparison->column ||
      comparison->with >= std::ssize(model.column_titles))
    return {};
  const bool turned = comparison->mode == ComparisonMode::blink && shows_other;
  return words_of(comparison->mode,
                  model.column_titles[turned ? comparison->with : comparison->column],
                  model.column_titles[turned ? comparison->column : comparison->with]);
}

std::optional<ColourScale> scale_of_both(const Scene& scene, int row, int column) {
  const CanvasCell* other = scene.compared_with(row, column);
  if (!other) return {};
  ViewSettings shared = scene.settings;
  shared.shared_range = true;
  const View view = scene.view(row);
  const auto scales =
      drawing::scales_of_row(view, {scene.panel(row, column), other->panel.get()}, shared);
  auto scale = scales.shared;
  if (const ColourRange* chosen = shared.range_of(view, scene.columns[column]); scale && chosen) {
    scale->low = chosen->low;
    scale->high = chosen->high;
  }
  return scale;
}

std::string compared_caption(const Scene& scene, int row, int column) {
  const Comparison& comparison = *scene.model.comparison;
  const std::string& first = scene.model.column_titles[comparison.column];
  const std::string& second = scene.model.column_titles[comparison.with];
  std::string words = scene.panel(row, column)->caption;
  const CanvasCell* other = scene.compared_with(row, column);
  if (!other) {
    const auto& cells = scene.model.cells[scene.rows[row]];
    const bool there = comparison.with < std::ssize(cells) && cells[comparison.with].panel;
    if (is_picture(scene.panel(row, column)))
      add_item(words,
               first + " alone: " + second + (there ? " has no such picture" : " is not there yet"),
               " · ");
    return words;
  }
  if (const std::string& others = other->panel->caption; others != words) {
    words = words.empty() ? "" : first + ": " + words;
    if (!others.empty()) add_item(words, second + ": " + others, " · ");
  }
  if (const auto& scale = scene.scales[row].of[column];
      scale && scale->is_amounts() && !scene.scales[row].shared)
    add_item(words, "one range of colours for both", " · ");
  return words;
}

}  // namespace fovea::canvas
