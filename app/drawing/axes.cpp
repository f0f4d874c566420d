// What the axes of a panel measure.
#include "drawing/axes.h"

#include <algorithm>
#include <cmath>

#include "drawing/bodies.h"

namespace fovea::drawing {
namespace {

constexpr double kNameRoom = 4;      // longest name of a token, in letters
constexpr double kWideToken = 0.55;  // of a letter: ticks stand in the middle of the token
constexpr double kNamedToken = 0.64;

int ticks_along(double length, const Lettering& letters) {
  return std::clamp(static_cast<int>(length / (2.6 * letters.size())), 1, 5);
}

TokenSpan span_of(IndexRange tokens) {
  return {static_cast<double>(tokens.begin),
          static_cast<double>(std::max(tokens.end, tokens.begin + 1))};
}

PanelAxis token_axis(TokenSpan tokens, const char* label, double length, double spacing,
                     const Lettering& letters, const TokenNames& names) {
  PanelAxis axis{.low = tokens.begin, .high = tokens.end, .label = label};
  const double cell = length / (tokens.end - tokens.begin), size = letters.size();
  axis.named = names.known() && cell >= kNamedToken * size;
  const TokenSpacing where{cell, axis.named ? 1.2 * size : spacing, kWideToken * size};
  for (const Index token : token_places(tokens.begin, tokens.end, where))
    axis.ticks.push_back({static_cast<double>(token) + (cell > where.wide ? 0.5 : 0),
                          axis.named ? letters.elided(names.name(token, letters), kNameRoom * size)
                                     : std::to_string(token)});
  // A token of which less than a half is seen has its middle outside.
  std::erase_if(axis.ticks, [&](const Tick& t) { return t.at < axis.low || t.at > axis.high; });
  return axis;
}

PanelAxis amount_axis(double top, const std::string& label, double length,
                      const Lettering& letters) {
  const double high = top > 0 && std::isfinite(top) ? 1.04 * top : 1;
  return {.low = 0,
          .high = high,
          .label = label,
          .ticks = linear_ticks(0, high, ticks_along(length, letters)),
          .amounts = true};
}

PanelAxis weight_axis(double top, double log_floor, double length, const Lettering& letters) {
  PanelAxis axis = amount_axis(top, "weight", length, letters);
  if (!(log_floor > 0) || !(log_floor < 1)) return axis;
  axis.low = log_floor * axis.high;
  axis.logarithmic = true;
  axis.label += ", log";
  axis.ticks = log_ticks(axis.low, axis.high, ticks_along(length, letters));
  return axis;
}

double highest(const std::vector<float>& values) {
  double high = 0;
  for (const float v : values)
    if (std::isfinite(v)) high = std::max(high, static_cast<double>(v));
  return high;
}

double largest(const std::vector<Index>& sizes) {
  return sizes.empty() ? 0 : static_cast<double>(*std::ranges::max_element(sizes));
}

struct Maker {
  const AxesRequest& in;
  double top;

  PanelAxis down(IndexRange tokens) const {
    return query_axis(in.queries.value_or(span_of(tokens)), in.size.y, in.letters, in.names);
  }
  PanelAxis across(IndexRange tokens) const {
    return key_axis(in.keys.value_or(span_of(tokens)), in.size.x, in.letters, in.names);
  }
  Axes operator()(const Raster& raster) const { return {across(raster.cols), down(raster.rows)}; }
  Axes operator()(const BlockMap& blocks) const {
    return {across(tokens_of(blocks)), down(tokens_of(blocks))};
  }
  Axes operator()(const LeafSizes& leaves) const {
    const auto count = static_cast<Index>(std::max(leaves.queries.size(), leaves.keys.size()));
    PanelAxis x = key_axis(span_of({0, count}), in.size.x, in.letters, {});
    x.label = leaves.kind;
    return {x, amount_axis(top, "tokens", 0.6 * in.size.y, in.letters)};
  }
  Axes operator()(const RowCurve& row) const {
    return {across(row.keys), weight_axis(top, row.log_floor, in.size.y, in.letters)};
  }
  Axes operator()(const Strip& strip) const {
    const IndexRange all{0, static_cast<Index>(strip.values.size())};
    const int most = std::max(2, static_cast<int>(in.size.x / (5 * in.letters.size())));
    PanelAxis x = amount_axis(top, strip.quantity, in.size.x, in.letters);
    x.ticks = linear_ticks(0, x.high, std::min(most, 4));
    return {x, down(all)};
  }
  template <class Other>
  Axes operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::string TokenNames::name(Index token, const Lettering& letters) const {
  if (!known()) return std::to_string(token);
  std::string name = sequence_->label(token);
  if (sequence_->tokens.empty() && name.starts_with("patch ")) name = name.substr(6);
  return letters.readable(name);
}

std::string TokenNames::numbered(Index token, const Lettering& letters, double room) const {
  const std::string index = std::to_string(token), own = name(token, letters);
  if (own == index) return index;
  return index + " " + letters.elided(own, room - letters.width(index + " "));
}

PanelAxis query_axis(TokenSpan tokens, double height, const Lettering& letters,
                     const TokenNames& names) {
  PanelAxis axis = token_axis(tokens, "query", height, 2.7 * letters.size(), letters, names);
  axis.downward = true;
  return axis;
}

PanelAxis key_axis(TokenSpan tokens, double width, const Lettering& letters,
                   const TokenNames& names) {
  const double widest = letters.width(std::to_string(static_cast<Index>(tokens.end)));
  return token_axis(tokens, "key", width, widest + letters.size(), letters, names);
}

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

Axes axes_of(const Panel& panel, const AxesRequest& request) {
  const double top = request.top ? *request.top : amount_of(panel).value_or(1);
  return std::visit(Maker{request, top}, panel.body);
}

}  // namespace fovea::drawing
