#include "figure/axes.h"

#include <algorithm>
#include <cmath>

#include "figure/bodies.h"

namespace fovea {
namespace {

/// As many ticks as stand side by side without touching.
template <class Make>
std::vector<Tick> fitting(Make make, double width, const Lettering& letters) {
  for (int most = 5; most > 1; --most) {
    std::vector<Tick> ticks = make(most);
    double widest = 0;
    for (const Tick& tick : ticks) widest = std::max(widest, letters.width(tick.label));
    if ((widest + 6) * static_cast<double>(ticks.size()) <= width) return ticks;
  }
  return make(1);
}

int ticks_up(double height, const Lettering& letters) {
  return std::clamp(static_cast<int>(height / (2.6 * letters.size())), 1, 5);
}

PanelAxis token_axis(IndexRange tokens, const QString& label, double width,
                     const Lettering& letters) {
  return {static_cast<double>(tokens.begin),
          static_cast<double>(std::max(tokens.end, tokens.begin + 1)), label,
          fitting([&](int most) { return token_ticks(tokens, most); }, width, letters)};
}

PanelAxis down_axis(IndexRange tokens, double height, const Lettering& letters) {
  return {static_cast<double>(tokens.begin),
          static_cast<double>(std::max(tokens.end, tokens.begin + 1)), QStringLiteral("query"),
          token_ticks(tokens, ticks_up(height, letters)), true};
}

PanelAxis amount_axis(double top, const QString& label, double height, const Lettering& letters) {
  const double high = top > 0 && std::isfinite(top) ? 1.04 * top : 1;
  return {0, high, label, linear_ticks(0, high, ticks_up(height, letters))};
}

PanelAxis weight_axis(double top, double log_floor, double height, const Lettering& letters) {
  PanelAxis axis = amount_axis(top, QStringLiteral("weight"), height, letters);
  if (!(log_floor > 0) || !(log_floor < 1)) return axis;
  axis.low = log_floor * axis.high;
  axis.logarithmic = true;
  axis.label += QStringLiteral(", log");
  axis.ticks = log_ticks(axis.low, axis.high, ticks_up(height, letters));
  return axis;
}

double highest(const std::vector<float>& values) {
  double high = 0;
  for (const float v : values)
    if (std::isfinite(v)) high = std::max(high, static_cast<double>(v));
  return high;
}

double largest(const std::vector<Index>& sizes) {
  return sizes.empty() ? 0 : static_cast<double>(*std::max_element(sizes.begin(), sizes.end()));
}

QString leaf_label(const LeafSizes& leaves) {
  const QString kind = QString::fromStdString(leaves.kind);
  return sorted_by_size(leaves) ? kind + QStringLiteral(", largest first") : kind;
}

struct Maker {
  QSizeF size;
  const Lettering& letters;
  double top;

  Axes matrix(IndexRange rows, IndexRange cols) const {
    return {token_axis(cols, QStringLiteral("key"), size.width(), letters),
            down_axis(rows, size.height(), letters)};
  }
  Axes operator()(const Raster& raster) const { return matrix(raster.rows, raster.cols); }
  Axes operator()(const BlockMap& blocks) const {
    return matrix(tokens_of(blocks), tokens_of(blocks));
  }
  Axes operator()(const LeafSizes& leaves) const {
    const Index count = static_cast<Index>(std::max(leaves.queries.size(), leaves.keys.size()));
    return {token_axis({0, count}, leaf_label(leaves), size.width(), letters),
            amount_axis(top, QStringLiteral("tokens"), 0.6 * size.height(), letters)};
  }
  Axes operator()(const RowCurve& row) const {
    return {token_axis(row.keys, QStringLiteral("key (query %1)").arg(row.query), size.width(),
                       letters),
            weight_axis(top, row.log_floor, size.height(), letters)};
  }
  Axes operator()(const Strip& strip) const {
    return {token_axis({0, static_cast<Index>(strip.values.size())}, QStringLiteral("token"),
                       size.width(), letters),
            amount_axis(top, QString::fromStdString(strip.quantity), size.height(), letters)};
  }
  template <class Other>
  Axes operator()(const Other&) const {
    return {};
  }
};

}  // namespace

IndexRange tokens_of(const BlockMap& blocks) {
  if (blocks.map.blocks.empty()) return {0, blocks.map.n};
  IndexRange all = blocks.map.blocks.front().rows;
  for (const RankBlock& block : blocks.map.blocks)
    all = {std::min(all.begin, block.rows.begin), std::max(all.end, block.rows.end)};
  return all;
}

std::optional<double> amount_of(const Panel& panel) {
  if (const auto* row = std::get_if<RowCurve>(&panel.body))
    return std::max(highest(row->exact), highest(row->approximate));
  if (const auto* strip = std::get_if<Strip>(&panel.body)) return highest(strip->values);
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body))
    return std::max(largest(leaves->queries), largest(leaves->keys));
  return std::nullopt;
}

std::string amount_name(const Panel& panel) {
  if (const auto* strip = std::get_if<Strip>(&panel.body)) return strip->quantity;
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body)) return "tokens a " + leaves->kind;
  return std::holds_alternative<RowCurve>(panel.body) ? "weight" : "";
}

Axes axes_of(const Panel& panel, QSizeF size, const Lettering& letters, std::optional<double> top) {
  return std::visit(Maker{size, letters, top ? *top : amount_of(panel).value_or(1)}, panel.body);
}

}  // namespace fovea
