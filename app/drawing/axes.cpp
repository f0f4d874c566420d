// What the axes of a panel measure, and how they are drawn.
#include "drawing/axes.h"

#include <algorithm>
#include <cmath>

#include "data/compressed_entries.h"
#include "data/direction.h"
#include "drawing/bodies.h"
#include "drawing/largest.h"
#include "drawing/series_axes.h"
#include "drawing/visit_body.h"

namespace fovea::drawing {
namespace {

constexpr double kNameRoom = 4;      // longest name of a token, in letters
constexpr double kWideToken = 0.55;  // of a letter: ticks stand in the middle of the token
constexpr double kNamedToken = 0.64;

int ticks_along(double length, const Lettering& letters) {
  return std::clamp(length / (2.6 * letters.size()), 1.0, 5.0);
}

TokenSpan span_of(IndexRange tokens) {
  return {double(tokens.begin), double(std::max(tokens.end, tokens.begin + 1))};
}

/// The end of the code that a cut at `at` would part, or `at` if there is none. Without its last
/// digits <0xF0> would be another byte, and U+200D another character.
std::size_t end_of_code(const std::string& name, std::size_t at) {
  for (const std::string_view begin : {"<0x", "U+"}) {
    const std::size_t found = name.rfind(begin, at);
    if (found == std::string::npos) continue;
    std::size_t end = name.find_first_not_of("0123456789ABCDEF", found + begin.size());
    if (end != std::string::npos && begin == "<0x" && name[end] == '>') ++end;
    end = std::min(end, name.size());
    if (found <= at && at < end) return end;
  }
  return at;
}

/// The name cut to the room of a tick, without parting codes.
std::string tick_name(const std::string& name, const Lettering& letters) {
  constexpr std::string_view more = "…";
  const std::string shown = letters.elided(name, kNameRoom * letters.size());
  if (shown == name) return name;
  const std::size_t kept = shown.size() - std::min(shown.size(), more.size());
  const std::size_t end = end_of_code(name, kept);
  return end == kept ? shown : name.substr(0, end) + (end < name.size() ? "…" : "");
}

PanelAxis token_axis(TokenSpan tokens, const char* label, double length, double spacing,
                     const Lettering& letters, const AxisNames& names) {
  PanelAxis axis{.low = tokens.begin, .high = tokens.end, .label = label};
  const double cell = length / (tokens.end - tokens.begin), size = letters.size();
  axis.named = names.known() && cell >= kNamedToken * size;
  const TokenSpacing where{cell, axis.named ? 1.2 * size : spacing, kWideToken * size};
  const double middle = cell > where.wide ? 0.5 : 0;
  const CompressedEntries* compressed = names.compressed();
  const double border = compressed ? double(compressed->tokens) : tokens.end,
               end = std::min(border, tokens.end), begin = std::max(border, tokens.begin);
  if (tokens.begin < end)
    for (const Index token : token_places(tokens.begin, end, where))
      axis.ticks.push_back({double(token) + middle,
                            axis.named ? isolated(tick_name(names.name(token, letters), letters))
                                       : std::to_string(token)});
  if (begin < tokens.end) {
    axis.compressed = true;
    for (const Index entry : token_places(begin - border, tokens.end - border, where))
      axis.ticks.push_back({border + double(entry) + middle, "e" + std::to_string(entry)});
    if (tokens.begin < border) axis.border = border;
  }
  // The middle of a token is outside if less than half of it is seen.
  std::erase_if(axis.ticks, [&](const Tick& t) { return t.at < axis.low || t.at > axis.high; });
  return axis;
}

/// "key (e: compressed)".
std::string key_label(const std::string& name, const PanelAxis& axis) {
  return name + (axis.compressed ? " (e: compressed)" : "");
}

/// Ticks from 0 on, at least two if there are numbers to choose from, since a 0 alone is no scale.
std::vector<Tick> ticks_from_zero(double high, int most) {
  std::vector<Tick> ticks = linear_ticks(0, high, most);
  for (; ticks.size() < 2 && most < 10; ++most) ticks = linear_ticks(0, high, most + 1);
  return ticks;
}

PanelAxis amount_axis(double top, const std::string& label, double length,
                      const Lettering& letters) {
  const double high = top > 0 && std::isfinite(top) ? 1.04 * top : 1;
  return {.low = 0,
          .high = high,
          .label = label,
          .ticks = ticks_from_zero(high, ticks_along(length, letters)),
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

/// The largest finite amount, for the top of an axis.
template <class T>
double highest(const std::vector<T>& amounts) {
  const auto most = largest_in(amounts, {0, std::ssize(amounts)}, std::numeric_limits<T>::max());
  return std::max<double>(0, most.value_or(0));
}

IndexRange joined(IndexRange a, IndexRange b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// The queries and keys of a rank map, which covers only a part of a long head.
std::pair<IndexRange, IndexRange> tokens_of_map(const BlockMap& blocks) {
  const auto& [lengths, all] = std::tie(blocks.map.lengths, blocks.map.blocks);
  if (all.empty()) return {{0, lengths.queries}, {0, lengths.keys}};
  IndexRange queries = all.front().rows, keys = all.front().cols;
  for (const RankBlock& block : all) {
    queries = joined(queries, block.rows);
    keys = joined(keys, block.cols);
  }
  return {queries, keys};
}

struct Maker {
  const AxesRequest& request;
  double top;
  Point size = request.size;
  const Lettering& letters = request.letters;

  PanelAxis down(IndexRange tokens) const {
    return query_axis(request.queries.value_or(span_of(tokens)), size.y, letters, request.names);
  }
  PanelAxis across(IndexRange tokens) const {
    return key_axis(request.keys.value_or(span_of(tokens)), size.x, letters, request.names);
  }
  Axes operator()(const Raster& raster) const {
    Axes axes{across(raster.cols), down(raster.rows)};
    axes.x->label = key_label(raster.cols_name, *axes.x);
    axes.y->label = raster.rows_name;
    return axes;
  }
  Axes operator()(const BlockMap& blocks) const {
    const auto [queries, keys] = tokens_of_map(blocks);
    return {across(keys), down(queries)};
  }
  Axes operator()(const LeafSizes& leaves) const {
    PanelAxis x = key_axis(span_of({0, leaf_count(leaves)}), size.x, letters, {});
    x.label = leaves.kind;
    return {x, amount_axis(top, "tokens", 0.6 * size.y, letters)};
  }
  Axes operator()(const RowCurve& row) const {
    return {across(row.keys), weight_axis(top, row.log_floor, size.y, letters)};
  }
  Axes operator()(const Strip& strip) const {
    const IndexRange all{0, std::ssize(strip.values)};
    PanelAxis x = amount_axis(top, strip.quantity, size.x, letters);
    x.ticks = ticks_from_zero(x.high, std::clamp(size.x / (5 * letters.size()), 2.0, 4.0));
    return {x, down(all)};
  }
  Axes operator()(const CurvePlot& plot) const {
    double right = 0, high = 0;
    for (const CurvePlot::Curve& curve : plot.curves)
      for (std::size_t p = 0; p < curve.points.size(); ++p) {
        const auto& [x, y] = curve.points[p];
        right = std::max(right, x);
        if (std::isfinite(y))
          high = std::max(high, y + (curve.errors.empty() ? 0 : curve.errors[p]));
      }
    for (const CurvePlot::Level& level : plot.levels) high = std::max(high, level.value);
    PanelAxis x = amount_axis(right, plot.x_label, size.x, letters);
    const bool apart = std::ranges::any_of(plot.curves, &CurvePlot::Curve::apart);
    if (right > 0 && !apart) x.high = right;  // dots have room around them
    std::erase_if(x.ticks, [&](const Tick& tick) { return tick.at > x.high; });
    return {x, amount_axis(high, plot.y_label, size.y, letters)};
  }
  Axes operator()(const SeriesPlot& plot) const { return series_axes(plot, size, letters); }
  Axes operator()(const one_of<OutputPicture, FigureTable, Message> auto&) const { return {}; }
};

constexpr double kTick = 0.3, kTickGap = 0.22, kNameGap = 0.2;  // in letters

double widest_label(const PanelAxis& axis, const Lettering& letters) {
  double widest = 0;
  for (const Tick& tick : axis.ticks) widest = std::max(widest, letters.width(tick.label));
  return widest;
}

bool labelled(const PanelAxis& axis, AxisWords words) {
  return words.label && !axis.label.empty();
}

struct Edges {
  double from, to;
};

/// The middle of a text that reaches `half` to each side: `middle`, or beside it if the text would
/// cross an edge.
double within(Edges edges, double middle, double half) {
  return std::max(edges.from + half, std::min(middle, edges.to - half));
}

}  // namespace

std::string AxisNames::name(Index token, const Lettering& letters) const {
  if (sequence_ && sequence_->is_compressed(token)) return sequence_->label(token);
  if (!known()) return std::to_string(token);
  std::string name = sequence_->label(token);
  if (sequence_->tokens.empty() && name.starts_with("patch ")) name = name.substr(6);
  return letters.readable(name);
}

std::string AxisNames::numbered(Index token, const Lettering& letters, double room) const {
  if (sequence_ && sequence_->is_compressed(token)) {
    const std::string words = sequence_->numbered(token);
    return letters.width(words) <= room ? words : sequence_->label(token);
  }
  std::string index = std::to_string(token);
  const std::string own = name(token, letters);
  if (own == index) return index;
  const bool quoted = !sequence_->tokens.empty();
  const double left = room - letters.width(index + (quoted ? " “”" : " "));
  const std::string shown = letters.elided(own, left);
  if (shown.empty()) return index;
  return index + (quoted ? " “" : " ") + isolated(shown) + (quoted ? "”" : "");
}

PanelAxis query_axis(TokenSpan tokens, double height, const Lettering& letters,
                     const TokenNames& names) {
  PanelAxis axis =
      token_axis(tokens, "query", height, 2.7 * letters.size(), letters, names.queries);
  axis.downward = true;
  return axis;
}

PanelAxis key_axis(TokenSpan tokens, double width, const Lettering& letters,
                   const TokenNames& names) {
  const double widest = letters.width(std::to_string(Index(tokens.end)));
  PanelAxis axis = token_axis(tokens, "key", width, widest + letters.size(), letters, names.keys);
  axis.label = key_label(axis.label, axis);
  return axis;
}

std::optional<double> amount_of(const Panel& panel) {
  using Amount = std::optional<double>;
  return visit_body(
      panel,
      [](const RowCurve& row) -> Amount {
        return std::max(highest(row.exact), highest(row.approximate));
      },
      [](const Strip& strip) -> Amount {
        return std::max(highest(strip.values), highest(strip.bounds));
      },
      [](const LeafSizes& leaves) -> Amount {
        return std::max(highest(leaves.queries), highest(leaves.keys));
      },
      [](const one_of<Message, Raster, BlockMap, SeriesPlot, CurvePlot, OutputPicture,
                      FigureTable> auto&) -> Amount { return std::nullopt; });
}

std::string amount_name(const Panel& panel) {
  return visit_body(
      panel, [](const RowCurve&) -> std::string { return "weight"; },
      [](const Strip& strip) { return strip.quantity; },
      [](const LeafSizes& leaves) { return "tokens a " + leaves.kind; },
      [](const one_of<Message, Raster, BlockMap, SeriesPlot, CurvePlot, OutputPicture,
                      FigureTable> auto&) { return std::string(); });
}

bool has_query_axis(const Panel* panel) {
  return is_one_of<Raster, BlockMap, Strip>(panel);
}

bool has_key_axis(const Panel* panel) {
  return is_one_of<Raster, BlockMap, RowCurve>(panel);
}

std::pair<IndexRange, IndexRange> tokens_of(const Panel& panel) {
  if (const auto* raster = std::get_if<Raster>(&panel.body)) return {raster->rows, raster->cols};
  if (const auto* blocks = std::get_if<BlockMap>(&panel.body)) return tokens_of_map(*blocks);
  if (const auto* strip = std::get_if<Strip>(&panel.body))
    return {{0, std::ssize(strip->values)}, {}};
  if (const auto* row = std::get_if<RowCurve>(&panel.body)) return {{}, row->keys};
  return {};
}

Axes axes_of(const Panel& panel, const AxesRequest& request) {
  const double top = request.top ? *request.top : amount_of(panel).value_or(1);
  return std::visit(Maker{request, top}, panel.body);
}

double PanelAxis::place(double value, double from, double to) const {
  double t = (value - low) / (high - low);
  if (logarithmic)
    t = zeros + (1 - zeros) * std::log(std::max(value, low) / low) / std::log(high / low);
  if (logarithmic && value <= 0) t = 0.4 * zeros;
  return from + t * (to - from);
}

Rect Plot::box(IndexRange rows, IndexRange cols) const {
  const double left = x(cols.begin), top = y(rows.begin);
  return {left, top, x(cols.end) - left, y(rows.end) - top};
}

double x_axis_height(const PanelAxis& axis, const Lettering& letters, AxisWords words) {
  const double size = letters.size();
  double height = kTick * size;
  if (words.numbers)
    height += axis.named ? widest_label(axis, letters) + 0.5 * size : letters.line();
  return height + (labelled(axis, words) ? letters.line() : 0);
}

double y_axis_width(const PanelAxis& axis, const Lettering& letters, AxisWords words) {
  const double size = letters.size();
  double width = kTick * size;
  if (words.numbers) width += kTickGap * size + widest_label(axis, letters);
  return width + (labelled(axis, words) ? kNameGap * size + letters.line() : 0);
}

void draw_x_axis(Ink& ink, const Plot& plot, AxisWords words) {
  const PanelAxis& axis = *plot.axes.x;
  const Rect& where = plot.where;
  const double size = ink.letters.size(), tick_end = where.bottom() + kTick * size;
  const Edges edges{where.x - 0.3 * size, where.right() + 0.3 * size};
  double end = where.right() + where.width;  // of the next number, from the last one leftwards
  for (std::size_t t = axis.ticks.size(); t-- > 0;) {
    const Tick& tick = axis.ticks[t];
    const double x = plot.x(tick.at), width = ink.letters.width(tick.label);
    ink.line({x, where.bottom()}, {x, tick_end}, {ink.style.frame});
    const double half = axis.named ? 0.5 * size : width / 2;
    const double middle = axis.named ? x : within(edges, x, half);
    if (!words.numbers || middle + half > end) continue;
    end = middle - half - (axis.named ? 0.1 : 0.4) * size;
    if (axis.named)
      ink.text_upwards({x, tick_end + 0.2 * size + width / 2}, tick.label, ink.style.label);
    else
      ink.write({middle - half, tick_end, width, ink.letters.line()}, tick.label, Align::left,
                ink.style.label);
  }
  if (!labelled(axis, words)) return;
  const double height = x_axis_height(axis, ink.letters, words);
  ink.write({where.x, where.bottom() + height - ink.letters.line() - 0.14 * size, where.width,
             ink.letters.line()},
            ink.letters.elided(axis.label, where.width), Align::centre, ink.style.label);
}

void draw_y_axis(Ink& ink, const Plot& plot, AxisWords words) {
  const PanelAxis& axis = *plot.axes.y;
  const Rect& where = plot.where;
  const double size = ink.letters.size(), line = ink.letters.line();
  const double tick_end = where.x - kTick * size;
  const Edges edges{where.y - 0.14 * size, where.bottom() + 0.14 * size};
  std::optional<double> before;  // where the number before stands
  for (const Tick& tick : axis.ticks) {
    const double y = plot.y(tick.at);
    ink.line({tick_end, y}, {where.x, y}, {ink.style.frame});
    const double middle = within(edges, y, 0.5 * size);
    if (!words.numbers || (before && std::abs(middle - *before) < 1.1 * size)) continue;
    before = middle;
    ink.write({tick_end - kTickGap * size, middle - line / 2, 0, line}, tick.label, Align::right,
              ink.style.label);
  }
  if (!labelled(axis, words)) return;
  const double left = where.x - y_axis_width(axis, ink.letters, words);
  // A label that is longer than the plot ends beside the numbers of the x axis.
  const double room = where.height + 0.3 * size,
               beyond = std::clamp(ink.letters.width(axis.label) - room, 0.0, 2 * size);
  ink.text_upwards({left + line / 2, where.centre().y + beyond / 2},
                   ink.letters.elided(axis.label, room + beyond), ink.style.label);
}

void draw_grid_lines(Ink& ink, const Plot& plot) {
  const Rect& where = plot.where;
  const PanelAxis &across = *plot.axes.x, &up = *plot.axes.y;
  for (const Tick& tick : across.ticks)
    if (across.amounts && tick.at > across.low)
      ink.line({plot.x(tick.at), where.y}, {plot.x(tick.at), where.bottom()}, {ink.style.grid});
  for (const Tick& tick : up.ticks)
    if (up.amounts && tick.at > up.low)
      ink.line({where.x, plot.y(tick.at)}, {where.right(), plot.y(tick.at)}, {ink.style.grid});
}

void draw_amounts_inside(Ink& ink, const Plot& plot, bool at_right) {
  const bool across = plot.axes.x && plot.axes.x->amounts;
  if (!across && !(plot.axes.y && plot.axes.y->amounts)) return;
  const PanelAxis& axis = across ? *plot.axes.x : *plot.axes.y;
  const double height = 1.2 * ink.letters.size(), gap = 0.2 * ink.letters.size();
  for (const Tick& tick : axis.ticks) {
    if (!(tick.at > axis.low)) continue;
    const double width = ink.letters.width(tick.label) + 2 * gap;
    Rect ground{plot.where.x + 0.1 * height, 0, width, height};
    if (across) {
      ground.x = plot.x(tick.at) - width / 2;
      ground.y = plot.where.y + gap;
      if (ground.x < plot.where.x || ground.right() > plot.where.right()) continue;
    } else {
      ground.y = plot.y(tick.at) - height;
      if (ground.y < plot.where.y) ground.y += height;  // below its line
      if (at_right) ground.x = plot.where.right() - 0.1 * height - width;
    }
    ink.fill(ground, faded(ink.style.paper, 0.8), gap);  // curves may be high
    ink.write(ground, tick.label, Align::centre, ink.style.faint);
  }
}

}  // namespace fovea::drawing
