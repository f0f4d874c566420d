// Leaves of a tree or buckets of a hash: sizes in order, sorted, the tree above them, its figures.
#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "drawing/bodies.h"
#include "drawing/largest.h"

namespace fovea::drawing {
namespace {

constexpr double kLevel = 0.5;           // height of a level of the icicle, in letters
constexpr double kLeastForFigures = 13;  // width, in letters
constexpr double kNarrowBars = 0.3;      // a pair of bars, in letters
constexpr Index kMostLevels = 8, kMostFigures = 4;

Index levels_shown(const LeafSizes& leaves) {
  return leaves.branching.empty() ? 0 : std::min(std::ssize(leaves.branching) + 1, kMostLevels);
}

double icicle_height(const LeafSizes& leaves, const Lettering& letters) {
  const double levels = levels_shown(leaves);
  return levels > 0 ? (levels * kLevel + 0.3) * letters.size() : 0;
}

/// Nodes of the level below one of `nodes` at `depth`.
Index nodes_below(const LeafSizes& leaves, Index nodes, Index depth) {
  if (depth >= std::ssize(leaves.branching)) return nodes;
  const Index children = std::max(1, leaves.branching[depth]);
  return std::min(leaf_count(leaves), nodes * children);
}

/// How many parts of a width can be distinguished, at most `parts`.
Index parts_shown(Index parts, double width, double finest) {
  return std::clamp<Index>(width / finest, 1, std::max<Index>(1, parts));
}

Legend legend_of(const Style& style, const Lettering& letters, double width,
                 const ViewSettings& settings = {}) {
  const auto item = [&](const char* name, Rgba colour) {
    return LegendItem{name, colour, false, name, settings.hides(name)};
  };
  return Legend({item("queries", style.query), item("keys", style.key)}, letters, width);
}

/// Key figures that fit above a plot of at least half the height.
Index figures_shown(const LeafSizes& leaves, const Rect& body, const Lettering& letters) {
  if (body.width < least_width_for_figures(letters)) return 0;
  const double room = 0.5 * body.height - icicle_height(leaves, letters) -
                      legend_of({}, letters, body.width).height();
  const Index lines = std::max(0.0, room / letters.line());
  return std::min({lines, std::ssize(leaves.figures), kMostFigures});
}

void draw_heading(const BodyDrawing& d, const LeafSizes& leaves) {
  Ink& ink = d.ink;
  const double line = ink.letters.line(), size = ink.letters.size();
  const Legend legend = legend_of(d, leaves);
  legend.draw(ink, {d.body.x, d.body.y});
  const Index count = leaf_count(leaves) * leaves.together;
  const std::string counted =
      plural(count, leaves.kind) + ", at most " + std::to_string(d.prepared.leaves.most);
  Rect at{d.body.x, d.body.y + legend.height() - line, d.body.width, line};
  if (legend.last_width() + size + ink.letters.width(counted) <= d.body.width)
    ink.write(at, counted, Align::right, ink.style.faint);
  for (Index f = 0; f < figures_shown(leaves, d.body, ink.letters); ++f) {
    at.y += line;
    const std::string value = format_drawn(leaves.figures[f].value);
    const double room = at.width - ink.letters.width(value) - 0.5 * size;
    ink.write(at, ink.letters.elided(leaves.figures[f].label, room), Align::left, ink.style.faint);
    ink.write(at, value, Align::right, ink.style.text);
  }
}

Rect icicle_place(const LeafPlace& place) {
  const double height = icicle_height(place.leaves, place.letters);
  return {place.plot.x, place.plot.y - height, place.plot.width, height};
}

/// The nodes of every level over the leaves below them, the more strongly coloured the more tokens
/// they hold: twice an even share has all of the colour.
void draw_icicle(const BodyDrawing& d, const LeafSizes& leaves) {
  const Rect where = icicle_place({leaves, d.plot.where, d.ink.letters, d.ink.style.finest});
  const LeafOrder& order = d.prepared.leaves;
  const double level = kLevel * d.ink.letters.size();
  Index nodes = 1;
  for (Index depth = 0; depth < levels_shown(leaves); ++depth) {
    const Index boxes = parts_shown(nodes, where.width, 2 * d.ink.style.finest);
    const double width = where.width / boxes;
    const double even = double(order.sums[order.count]) / boxes;
    const double gap = std::min(0.5 * d.ink.style.hair, 0.12 * width);
    for (Index node = 0; node < boxes; ++node) {
      const double held =
          order.sums[(node + 1) * order.count / boxes] - order.sums[node * order.count / boxes];
      const double share = even > 0 ? std::min(held / (2 * even), 1.0) : 0;
      const Rect box{where.x + width * node, where.y + level * depth, width, level};
      d.ink.fill(box.without(gap, 0, gap, 0.2 * level),
                 mixed(d.ink.style.paper, d.ink.style.query, 0.12 + 0.8 * share));
    }
    nodes = nodes_below(leaves, nodes, depth);
  }
}

double height_at(const BodyDrawing& d, double size) {
  return d.plot.where.bottom() - d.plot.y(size);
}

/// Two bars for each leaf side by side; if leaves are too narrow to be distinguished, the largest
/// of each kind, one in front of the other.
void draw_bars(const BodyDrawing& d, const LeafSizes& leaves) {
  const Rect& plot = d.plot.where;
  const Index count = d.prepared.leaves.count;
  const Index parts = parts_shown(count, plot.width, 2 * d.ink.style.finest);
  const double step = plot.width / parts;
  const bool no_queries = d.settings.hides("queries"), no_keys = d.settings.hides("keys");
  std::vector<Rect> queries, keys, keys_behind;
  for (Index part = 0; part < parts; ++part) {
    const IndexRange merged{part * count / parts, (part + 1) * count / parts};
    const auto highest = [&](const std::vector<Index>& sizes) {
      return height_at(d, largest_in(sizes, merged).value_or(0));
    };
    const double q = no_queries ? 0 : highest(leaves.queries),
                 k = no_keys ? 0 : highest(leaves.keys);
    const double x = plot.x + step * part, gap = 0.1 * step;
    const double half = parts == count ? (step - 2 * gap) / 2 : step;
    const double left = parts == count ? x + gap : x, right = parts == count ? left + half : x;
    if (q > 0) queries.push_back({left, plot.bottom() - q, half, q});
    if (k > 0)
      (parts < count && k > q ? keys_behind : keys).push_back({right, plot.bottom() - k, half, k});
  }
  // Narrow bars are pale, so that the staircases over them can be read.
  const double strength = step < kNarrowBars * d.ink.letters.size() ? 0.5 : 1;
  const Rgba query = mixed(d.ink.style.paper, d.ink.style.query, strength),
             key = mixed(d.ink.style.paper, d.ink.style.key, strength);
  d.ink.fill_all(keys_behind, key);
  d.ink.fill_all(queries, query);
  d.ink.fill_all(keys, key);
}

/// The same sizes in falling order, as a staircase over the bars.
void draw_sorted(const BodyDrawing& d, const std::vector<Index>& sizes, Rgba colour) {
  if (sizes.size() < 2) return;
  const Rect& plot = d.plot.where;
  const Index parts = parts_shown(std::ssize(sizes), plot.width, d.ink.style.finest);
  const double step = plot.width / parts;
  std::vector<Point> stairs;
  for (Index part = 0; part < parts; ++part) {
    const double y = plot.bottom() - height_at(d, sizes[part * std::ssize(sizes) / parts]);
    const double x = plot.x + step * part;
    if (!stairs.empty() && stairs.back().y == y) {
      stairs.back().x = x + step;
      continue;
    }
    stairs.push_back({x, y});
    stairs.push_back({x + step, y});
  }
  d.ink.path(stairs, {colour, 1.5 * d.ink.style.hair});
}

}  // namespace

double least_width_for_figures(const Lettering& letters) {
  return kLeastForFigures * letters.size();
}

Legend legend_of(const BodyDrawing& d, const LeafSizes&) {
  return legend_of(d.ink.style, d.ink.letters, d.body.width, d.settings);
}

double leaf_heading_height(const LeafSizes& leaves, const Rect& body, const Lettering& letters) {
  return legend_of({}, letters, body.width).height() +
         letters.line() * figures_shown(leaves, body, letters) + icicle_height(leaves, letters) +
         0.3 * letters.size();
}

Rect place_of_leaves(const LeafPlace& place, IndexRange leaves) {
  const double top = icicle_place(place).y;
  const double step = place.plot.width / std::max<Index>(1, leaf_count(place.leaves));
  const Index together = place.leaves.together;  // leaves that a bar stands for
  const IndexRange bars{leaves.begin / together, (leaves.end + together - 1) / together};
  return {place.plot.x + step * bars.begin, top, std::max(step * bars.size(), 2 * place.finest),
          place.plot.bottom() - top};
}

IndexRange leaves_at(const LeafPlace& place, Point at) {
  const LeafSizes& leaves = place.leaves;
  const Rect& plot = place.plot;
  const Rect icicle = icicle_place(place);
  const Index count = leaf_count(leaves);
  if (at.x < plot.x || at.x >= plot.right() || at.y < icicle.y || count == 0) return {0, 0};
  const double level = kLevel * place.letters.size();
  Index nodes = 1, depth = 0;
  for (; depth + 1 < levels_shown(leaves) && at.y >= icicle.y + level * (depth + 1); ++depth)
    nodes = nodes_below(leaves, nodes, depth);
  const bool bars = leaves.branching.empty() || at.y >= plot.y;
  const Index boxes = bars ? count : parts_shown(nodes, plot.width, 2 * place.finest);
  const double share = (at.x - plot.x) / plot.width;
  const Index box = std::min<Index>(boxes - 1, share * boxes);
  return {box * count / boxes * leaves.together, (box + 1) * count / boxes * leaves.together};
}

void draw(const BodyDrawing& d, const LeafSizes& leaves) {
  const LeafOrder& order = d.prepared.leaves;
  if (order.count == 0) return draw_message(d.ink, d.plot.where, "no leaves");
  draw_heading(d, leaves);
  draw_icicle(d, leaves);
  draw_grid_lines(d.ink, d.plot);
  draw_bars(d, leaves);
  if (!d.settings.hides("queries")) draw_sorted(d, order.sorted_queries, d.ink.style.query);
  if (!d.settings.hides("keys")) draw_sorted(d, order.sorted_keys, d.ink.style.key);
  const Rect& plot = d.plot.where;
  const double even = plot.bottom() - height_at(d, double(order.keys) / order.count);
  d.ink.line({plot.x, even}, {plot.right(), even}, {d.ink.style.faint, 0, true});
}

}  // namespace fovea::drawing
