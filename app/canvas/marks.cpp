// The marks of all panels: crosshair, pinned row, marked tokens and the selection.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

constexpr Rgba light{255, 255, 255, 225}, shadow{0, 0, 0, 110};

/// An axis of tokens of a panel: the queries, down, or the keys, to the right.
struct Edge {
  bool down;
  Rect panel;
  TokenAxis axis;

  /// Across the panel, from one place of the axis to another.
  Rect band(double from, double to) const {
    return down ? Rect{panel.x, from, panel.width, to - from}
                : Rect{from, panel.y, to - from, panel.height};
  }
  /// The part of a band that lies at the panel's left or top.
  Rect edge(const Rect& band, double width) const {
    return down ? Rect{band.x, band.y, width, band.height}
                : Rect{band.x, band.y, band.width, width};
  }
};

/// Marks a token so that it can be seen on any colour: light on a dark seam. A wide cell is framed,
/// a narrow one struck through.
void mark_line(Ink& ink, const Edge& edge, Index token, Rgba colour) {
  const double a = edge.axis.pixel(token), b = edge.axis.pixel(token + 1);
  const auto stroke = [&](double at) {
    at = std::round(at);
    ink.fill(edge.band(at - 1, at + 2), shadow);
    ink.fill(edge.band(at, at + 1), colour);
  };
  if (b - a < 7) return stroke(std::floor((a + b) / 2));
  stroke(a);
  stroke(b - 1);
}

void frame_pairs(Ink& ink, const Edge& down, const Edge& over, IndexRange rows, IndexRange cols) {
  const Rect box =
      down.band(down.axis.pixel(rows.begin), down.axis.pixel(rows.end))
          .intersected(over.band(over.axis.pixel(cols.begin), over.axis.pixel(cols.end)));
  ink.fill(box, faded(ink.style.accent, 0.18));
  ink.outline(box.inset(-1), {shadow, 3});
  ink.outline(box.inset(-1), {{255, 255, 255}, 1.25});
}

/// Draws bands of tokens at an edge and, if they shall be followed, faintly across.
void draw_marked(Ink& ink, const Edge& edge, const std::vector<Index>& tokens, Rgba colour,
                 bool across) {
  if (tokens.empty()) return;
  ink.fill(edge.edge(edge.panel, 5), ink.style.tip);  // seen on any colours
  for (const auto& [a, b] : spans(edge.axis, tokens)) {
    const Rect band = edge.band(a, b);
    if (across) ink.fill(band, faded(colour, 0.2));
    ink.fill(edge.edge(band, 4), colour);
  }
}

/// The tiles of a leaf: where its queries meet its keys.
void draw_marked_tiles(Ink& ink, const Scene& scene, const Edge& queries, const Edge& keys) {
  constexpr std::size_t most = 4096;  // for more finely scattered tokens the bands are enough
  const auto down = spans(queries.axis, scene.model.marked_queries);
  const auto over = spans(keys.axis, scene.model.marked_keys);
  if (down.size() * over.size() > most) return;
  for (const auto& [top, bottom] : down)
    for (const auto& [left, right] : over) {
      const Rect tile{left, top, right - left, bottom - top};
      ink.fill(tile, faded(ink.style.marked, 0.5));
      if (tile.width > 6 && tile.height > 6) ink.outline(tile, {ink.style.marked});
    }
}

/// The leaves that were chosen, and those under the pointer.
void draw_marked_leaves(Ink& ink, const Scene& scene, int row, int column) {
  const drawing::LeafPlace place = scene.leaf_place(row, column);
  const Index count = std::max(place.leaves.queries.size(), place.leaves.keys.size());
  const auto mark = [&](IndexRange leaves, Rgba colour) {
    if (leaves.size() > 0 && leaves.end <= count)
      ink.fill(drawing::place_of_leaves(place, leaves), colour);
  };
  if (scene.chosen_leaves && scene.chosen_leaves->first == scene.columns[column])
    mark(scene.chosen_leaves->second, faded(ink.style.marked, 0.45));
  if (scene.pointer.row == row && scene.pointer.column == column)
    mark(scene.pointer.leaves, faded(ink.style.text, 0.2));
}

/// The patches of an image that are pinned and pointed at.
void draw_patches(Ink& ink, const Scene& scene, int column, const Rect& place) {
  const auto& grid = scene.model.queries_of(column).grid;
  if (!grid) return;
  const double w = place.width / grid->cols, h = place.height / grid->rows;
  const auto outline = [&](Index token, Rgba colour) {
    if (!grid->contains(token)) return;
    const Rect box{place.x + w * grid->col_of(token), place.y + h * grid->row_of(token), w, h};
    ink.outline(box.inset(-1), {{0, 0, 0, 160}});
    ink.outline(box, {colour, 1.5});
  };
  if (scene.model.pinned_query) outline(*scene.model.pinned_query, ink.style.pinned);
  outline(scene.pointer.key, ink.style.key);
  outline(scene.pointer.query, {255, 255, 255});
}

void draw_pairs(Ink& ink, const Scene& scene, const Edge& queries, const Edge& keys) {
  const auto& part = scene.dragged ? scene.dragged : scene.model.selection;
  if (part) frame_pairs(ink, queries, keys, part->first, part->second);
}

}  // namespace

void draw_marks(Ink& ink, const Scene& scene, int row, int column) {
  const Panel* panel = scene.panel(row, column);
  const Rect where = scene.grid.panel(row, column);
  if (scene.body<LeafSizes>(row, column)) draw_marked_leaves(ink, scene, row, column);
  if (scene.body<OutputPicture>(row, column))
    draw_patches(ink, scene, column, scene.placed(row, column).plot);
  if (scene.model.is_empty()) return;
  const CanvasModel& model = scene.model;
  const bool down = has_query_axis(panel), over = has_key_axis(panel);
  const Edge queries{true, where, scene.queries(where)}, keys{false, where, scene.keys(where)};
  if (down) draw_marked(ink, queries, model.marked_queries, ink.style.marked, true);
  if (over) draw_marked(ink, keys, model.marked_keys, ink.style.marked, true);
  if (down && over) draw_marked_tiles(ink, scene, queries, keys);
  if (down) draw_marked(ink, queries, scene.found.queries, ink.style.key, false);
  if (over) draw_marked(ink, keys, scene.found.keys, ink.style.key, false);
  if (down && over) draw_pairs(ink, scene, queries, keys);
  if (down && model.pinned_query) mark_line(ink, queries, *model.pinned_query, ink.style.pinned);
  if (down && scene.pointer.query >= 0) mark_line(ink, queries, scene.pointer.query, light);
  if (over && scene.pointer.key >= 0) mark_line(ink, keys, scene.pointer.key, light);
}

}  // namespace fovea::canvas
