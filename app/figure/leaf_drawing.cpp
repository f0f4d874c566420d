#include <QPainterPath>
#include <algorithm>

#include "figure/bodies.h"
#include "figure/legend.h"

namespace fovea {
namespace {

double share(Index size, const PanelAxis& axis, double height) {
  return std::clamp(static_cast<double>(size) / axis.high, 0.0, 1.0) * height;
}

Index at(const std::vector<Index>& sizes, std::size_t leaf) {
  return leaf < sizes.size() ? sizes[leaf] : 0;
}

/// Two bars a leaf, side by side.
void draw_bars(Ink& ink, const QRectF& plot, const LeafSizes& leaves, const PanelAxis& y,
               std::size_t count) {
  const double step = plot.width() / static_cast<double>(count), bar = 0.4 * step;
  for (std::size_t leaf = 0; leaf < count; ++leaf) {
    const double left = plot.left() + step * static_cast<double>(leaf) + 0.1 * step;
    const double q = share(at(leaves.queries, leaf), y, plot.height());
    const double k = share(at(leaves.keys, leaf), y, plot.height());
    ink.fill({left, plot.bottom() - q, bar, q}, ink.query);
    ink.fill({left + bar, plot.bottom() - k, bar, k}, ink.key);
  }
}

std::vector<Index> descending(std::vector<Index> sizes) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}

/// Sizes as a staircase over the leaves, for more leaves than bars can be told apart.
QPainterPath staircase(const QRectF& plot, const std::vector<Index>& sizes, const PanelAxis& y,
                       std::size_t count) {
  QPainterPath path(plot.bottomLeft());
  const double step = plot.width() / static_cast<double>(count);
  for (std::size_t leaf = 0; leaf < count; ++leaf) {
    const double top = plot.bottom() - share(at(sizes, leaf), y, plot.height());
    path.lineTo(plot.left() + step * static_cast<double>(leaf), top);
    path.lineTo(plot.left() + step * static_cast<double>(leaf + 1), top);
  }
  path.lineTo(plot.bottomRight());
  return path;
}

/// The nodes of every level over the leaves below them, the darker the more tokens they hold.
void draw_icicle(Ink& ink, const QRectF& where, const LeafSizes& leaves, std::size_t count) {
  const double height = where.height() / static_cast<double>(leaves.branching.size() + 1);
  std::size_t nodes = 1;
  for (std::size_t depth = 0; depth <= leaves.branching.size(); ++depth) {
    const std::size_t below = std::max<std::size_t>(1, count / nodes);
    const double width = where.width() / static_cast<double>(nodes);
    double total = 0, most = 0;
    std::vector<double> held(nodes, 0.0);
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
      const double tokens = static_cast<double>(at(leaves.queries, leaf) + at(leaves.keys, leaf));
      held[std::min(leaf / below, nodes - 1)] += tokens;
      total += tokens;
    }
    for (const double tokens : held) most = std::max(most, tokens);
    for (std::size_t node = 0; node < nodes; ++node) {
      const QRectF box(where.left() + width * static_cast<double>(node),
                       where.top() + height * static_cast<double>(depth), width, height);
      const double weight = most > 0 ? held[node] / most : 0;
      QColor colour = ink.query;
      colour.setHslF(
          colour.hslHueF(), 0.45f,
          static_cast<float>(ink.style.dark ? 0.18 + 0.4 * weight : 0.94 - 0.4 * weight));
      const double gap = std::min(0.3, 0.12 * width);
      ink.fill(box.adjusted(gap, 0.3, -gap, -0.3), colour);
    }
    if (depth < leaves.branching.size())
      nodes *= static_cast<std::size_t>(std::max(1, leaves.branching[depth]));
  }
}

constexpr double kIcicleLevel = 3.2;  // points

double icicle_height(const LeafSizes& leaves) {
  if (leaves.branching.empty()) return 0;
  return std::min(8.0, static_cast<double>(leaves.branching.size() + 1)) * kIcicleLevel + 2;
}

Legend legend_of(const Ink* ink, const Lettering& letters, double width) {
  const auto colour = [&](QColor Inks::*which) { return ink ? ink->*which : QColor(); };
  return Legend({{QStringLiteral("queries"), colour(&Inks::query)},
                 {QStringLiteral("keys"), colour(&Inks::key)}},
                letters, width);
}

/// Key figures that fit above a plot of at least half the height.
std::size_t figures_shown(const LeafSizes& leaves, const QRectF& body, const Lettering& letters) {
  const double room = 0.5 * body.height() - icicle_height(leaves) -
                      legend_of(nullptr, letters, body.width()).height();
  const auto lines = static_cast<std::size_t>(std::clamp(room / letters.line(), 0.0, 4.0));
  return std::min(lines, leaves.figures.size());
}

}  // namespace

bool sorted_by_size(const LeafSizes& leaves) {
  return std::max(leaves.queries.size(), leaves.keys.size()) > 32;
}

double leaf_heading(const LeafSizes& leaves, const QRectF& body, const Lettering& letters) {
  return legend_of(nullptr, letters, body.width()).height() +
         letters.line() * static_cast<double>(figures_shown(leaves, body, letters)) +
         icicle_height(leaves) + 2;
}

void draw_leaf_heading(Ink& ink, const QRectF& body, const QRectF& plot, const LeafSizes& leaves) {
  const Legend legend = legend_of(&ink, ink.letters, body.width());
  legend.draw(ink, body.topLeft());
  QRectF line(body.left(), body.top() + legend.height(), body.width(), ink.letters.line());
  const std::size_t shown = figures_shown(leaves, body, ink.letters);
  for (std::size_t f = 0; f < shown; ++f) {
    const QString value = number_text(leaves.figures[f].value);
    const QString label = QString::fromStdString(leaves.figures[f].label);
    ink.write(line, ink.letters.elided(label, line.width() - ink.letters.width(value) - 4),
              Align::left, ink.faint);
    ink.write(line, value, Align::right, ink.text);
    line.translate(0, line.height());
  }
  const std::size_t count = std::max(leaves.queries.size(), leaves.keys.size());
  const double icicle = icicle_height(leaves);
  if (icicle > 0 && count > 0)
    draw_icicle(ink, {plot.left(), plot.top() - icicle, plot.width(), icicle - 2}, leaves, count);
}

void draw_leaves(Ink& ink, const QRectF& plot, const LeafSizes& leaves, const Axes& axes) {
  const std::size_t count = std::max(leaves.queries.size(), leaves.keys.size());
  if (count == 0) return draw_message(ink, plot, {"no leaves"});
  const PanelAxis& y = *axes.y;
  if (sorted_by_size(leaves)) {
    ink.painter.fillPath(staircase(plot, descending(leaves.queries), y, count), ink.query);
    ink.painter.strokePath(staircase(plot, descending(leaves.keys), y, count), QPen(ink.key, 0.9));
  } else {
    draw_bars(ink, plot, leaves, y, count);
  }
  Index tokens = 0;
  for (const Index size : leaves.keys) tokens += size;
  const double even = share(tokens / static_cast<Index>(count), y, plot.height());
  ink.painter.setPen(QPen(ink.faint, 0.4, Qt::DashLine, Qt::FlatCap));
  ink.painter.drawLine(QPointF(plot.left(), plot.bottom() - even),
                       QPointF(plot.right(), plot.bottom() - even));
}

}  // namespace fovea
