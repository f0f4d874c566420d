// Leaves of a tree or buckets of a hash: sizes in order, sorted, the tree above them, its figures.
#include <algorithm>
#include <cmath>
#include <functional>

#include "canvas/bodies.h"

namespace fovea::canvas {
namespace {

constexpr float key_height = 20, figure_line = 15, level_height = 6;

Index at(const std::vector<Index>& sizes, std::size_t leaf) {
  return leaf < sizes.size() ? sizes[leaf] : 0;
}

std::size_t leaf_count(const LeafSizes& leaves) {
  return std::max(leaves.queries.size(), leaves.keys.size());
}

std::size_t levels_shown(const LeafSizes& leaves) {
  return std::min<std::size_t>(leaves.branching.size() + 1, 8);
}

float icicle_height(const LeafSizes& leaves) {
  if (leaves.branching.empty()) return 0;
  return level_height * static_cast<float>(levels_shown(leaves)) + 4;
}

/// Nodes of the level below one of `nodes` at `depth`.
std::size_t nodes_below(const LeafSizes& leaves, std::size_t nodes, std::size_t depth) {
  if (depth >= leaves.branching.size()) return nodes;
  const auto children = static_cast<std::size_t>(std::max(1, leaves.branching[depth]));
  return std::min(leaf_count(leaves), nodes * children);
}

std::size_t boxes_shown(std::size_t nodes, const Rect& where) {
  return std::max<std::size_t>(1, std::min(nodes, static_cast<std::size_t>(where.width / 2)));
}

/// None where their names would be cut: then the words at the cursor tell them.
std::size_t figures_shown(const LeafSizes& leaves, const Rect& panel) {
  if (panel.width < least_width_for_figures) return 0;
  const float room = panel.height * 0.5f - key_height - icicle_height(leaves);
  return std::min(leaves.figures.size(),
                  static_cast<std::size_t>(std::max(0.0f, std::floor(room / figure_line))));
}

/// Wide levels are drawn by pixel: the tokens under it, as darkness.
void draw_icicle(const BodyDrawing& d, const Rect& where, const LeafSizes& leaves) {
  const std::size_t count = leaf_count(leaves);
  const std::size_t levels = levels_shown(leaves);
  std::vector<Index> sums(count + 1, 0);
  for (std::size_t leaf = 0; leaf < count; ++leaf)
    sums[leaf + 1] = sums[leaf] + at(leaves.queries, leaf) + at(leaves.keys, leaf);
  std::size_t nodes = 1;
  for (std::size_t depth = 0; depth < levels; ++depth) {
    const std::size_t boxes = boxes_shown(nodes, where);
    const float width = where.width / static_cast<float>(boxes);
    const double even = static_cast<double>(sums[count]) / static_cast<double>(boxes);
    for (std::size_t node = 0; node < boxes; ++node) {
      const auto held =
          static_cast<double>(sums[(node + 1) * count / boxes] - sums[node * count / boxes]);
      const auto share = static_cast<float>(even > 0 ? std::min(held / (2 * even), 1.0) : 0.0);
      const float gap = width > 4 ? 1.0f : 0.0f;
      d.ink.fill(
          {where.x + width * static_cast<float>(node),
           where.y + level_height * static_cast<float>(depth), width - gap, level_height - 1},
          faded(d.ink.theme.accent, 0.12f + 0.8f * share));
    }
    nodes = nodes_below(leaves, nodes, depth);
  }
}

void draw_bars(const BodyDrawing& d, const Rect& plot, const LeafSizes& leaves, float unit) {
  const std::size_t count = leaf_count(leaves);
  const float step = plot.width / static_cast<float>(count);
  const auto bar = [&](float x, float width, Index size, ImU32 colour) {
    const float h = unit * static_cast<float>(size);
    if (size > 0) d.ink.fill({x, plot.bottom() - h, std::max(width, 1.0f), h}, colour);
  };
  for (std::size_t leaf = 0; leaf < count; ++leaf) {
    const float x = plot.x + step * static_cast<float>(leaf);
    const float gap = step > 6 ? step * 0.12f : 0, half = (step - 2 * gap) / 2;
    bar(x + gap, half, at(leaves.queries, leaf), d.ink.theme.queries);
    bar(x + gap + half, half, at(leaves.keys, leaf), d.ink.theme.keys);
  }
}

/// The same sizes in falling order, as a staircase over the bars.
void draw_sorted(const BodyDrawing& d, const Rect& plot, std::vector<Index> sizes, float unit,
                 ImU32 colour) {
  if (sizes.size() < 2) return;
  std::ranges::sort(sizes, std::greater<>());
  const float step = plot.width / static_cast<float>(sizes.size());
  float before = plot.bottom();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const float x = plot.x + step * static_cast<float>(i);
    const float y = std::round(plot.bottom() - unit * static_cast<float>(sizes[i]));
    if (i > 0) d.ink.fill({x, before, 1.5f, std::max(1.5f, y - before)}, colour);
    d.ink.fill({x, y, step + 1.5f, 1.5f}, colour);
    before = y;
  }
}

void draw_figures(const BodyDrawing& d, const LeafSizes& leaves) {
  float y = d.where.y + key_height + 2;
  for (std::size_t f = 0; f < figures_shown(leaves, d.where); ++f, y += figure_line) {
    const Diagnostic& figure = leaves.figures[f];
    const std::string value = std::isinf(figure.value) ? "infinite" : number(figure.value);
    d.ink.write(Face::small, {d.where.x + 8, y}, d.ink.theme.muted, figure.label);
    d.ink.write_right(Face::small, {d.where.right() - 8, y}, d.ink.theme.text, value);
  }
}

void draw_key(const BodyDrawing& d, const LeafSizes& leaves, Index most) {
  const float y = d.where.y + 5;
  float x = d.where.x + 8;
  const std::pair<const char*, ImU32> names[] = {{"queries", d.ink.theme.queries},
                                                 {"keys", d.ink.theme.keys}};
  for (const auto& [name, colour] : names) {
    d.ink.fill({x, y + 2, 8, 8}, colour, 2);
    d.ink.write(Face::small, {x + 12, y}, d.ink.theme.muted, name);
    x += d.ink.width(Face::small, name) + 24;
  }
  const std::size_t count = leaf_count(leaves) * static_cast<std::size_t>(leaves.together);
  const std::string plural = leaves.kind == "leaf" ? "leaves" : leaves.kind + "s";
  const std::string counted = std::to_string(count) + " " + (count == 1 ? leaves.kind : plural) +
                              ", at most " + std::to_string(most);
  if (x + d.ink.width(Face::small, counted) + 8 < d.where.right())
    d.ink.write_right(Face::small, {d.where.right() - 8, y}, d.ink.theme.muted, counted);
}

/// The bars that stand for a range of leaves.
IndexRange bars_of(const LeafSizes& leaves, IndexRange range) {
  return {range.begin / leaves.together, (range.end + leaves.together - 1) / leaves.together};
}

void draw_leaf_highlight(const BodyDrawing& d, const Rect& plot, std::size_t count,
                         IndexRange leaves, ImU32 colour, float from) {
  if (leaves.size() <= 0 || leaves.end > static_cast<Index>(count)) return;
  const float step = plot.width / static_cast<float>(count);
  d.ink.fill({plot.x + step * static_cast<float>(leaves.begin), from,
              std::max(step * static_cast<float>(leaves.size()), 2.0f), plot.bottom() - from},
             colour);
}

/// Where bars of leaves stand within a panel.
Rect leaf_plot(const LeafSizes& leaves, const Rect& panel) {
  const float above = key_height + figure_line * static_cast<float>(figures_shown(leaves, panel)) +
                      8 + icicle_height(leaves);
  return {panel.x + 8, panel.y + above, panel.width - 16,
          std::max(10.0f, panel.height - above - 1)};
}

}  // namespace

IndexRange leaves_at(const LeafSizes& leaves, const Rect& panel, Point at) {
  const Rect plot = leaf_plot(leaves, panel);
  const std::size_t count = leaf_count(leaves);
  const float top = plot.y - icicle_height(leaves), share = (at.x - plot.x) / plot.width;
  if (at.x < plot.x || at.x >= plot.right() || at.y < top || count == 0) return {0, 0};
  std::size_t nodes = 1, depth = 0;
  for (; depth + 1 < levels_shown(leaves) &&
         at.y >= top + level_height * static_cast<float>(depth + 1);
       ++depth)
    nodes = nodes_below(leaves, nodes, depth);
  const bool bars = leaves.branching.empty() || at.y >= plot.y;
  const std::size_t boxes = bars ? count : boxes_shown(nodes, plot);
  const auto box = std::min(boxes - 1, static_cast<std::size_t>(share * static_cast<float>(boxes)));
  return {static_cast<Index>(box * count / boxes) * leaves.together,
          static_cast<Index>((box + 1) * count / boxes) * leaves.together};
}

void draw_body(const BodyDrawing& d, const LeafSizes& leaves) {
  const std::size_t count = leaf_count(leaves);
  if (count == 0) return draw_body(d, Message{"no leaves"});
  const Rect plot = leaf_plot(leaves, d.where);
  Index most = 1;
  for (const auto* sizes : {&leaves.queries, &leaves.keys})
    for (const Index size : *sizes) most = std::max(most, size);
  const float unit = plot.height * 0.97f / static_cast<float>(most);
  const float icicle_top = plot.y - icicle_height(leaves);
  if (!leaves.branching.empty())
    draw_icicle(d, {plot.x, icicle_top, plot.width, icicle_height(leaves)}, leaves);
  draw_bars(d, plot, leaves, unit);
  draw_sorted(d, plot, leaves.queries, unit, d.ink.theme.queries);
  draw_sorted(d, plot, leaves.keys, unit, d.ink.theme.keys);
  const auto& chosen = d.scene.chosen_leaves;
  if (chosen && chosen->first == d.column)
    draw_leaf_highlight(d, plot, count, bars_of(leaves, chosen->second),
                        faded(d.ink.theme.marked, 0.45f), icicle_top);
  if (d.scene.pointer.row == d.row && d.scene.pointer.column == d.column)
    draw_leaf_highlight(d, plot, count, bars_of(leaves, d.scene.pointer.leaves),
                        faded(d.ink.theme.text, 0.2f), icicle_top);
  draw_key(d, leaves, most);
  draw_figures(d, leaves);
}

}  // namespace fovea::canvas
