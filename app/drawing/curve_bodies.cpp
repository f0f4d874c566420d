// Bodies that are small plots: a query's row over the keys, and a number of each query.
#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "drawing/bodies.h"
#include "drawing/largest.h"

namespace fovea::drawing {
namespace {

constexpr double kTopKeys = 10.7, kTopKeysWidth = 43;  // columns of the list, and least width
constexpr std::size_t kMostTopKeys = 5;

/// Numbers spread evenly over tokens.
struct Spread {
  const std::vector<float>& values;
  IndexRange tokens;

  /// The largest of those that fall between two places of the axis; NaN when none do.
  float largest(double from, double to) const {
    const double count = values.size();
    const Index begin = std::clamp(std::floor(entry(from) + 1e-6), 0.0, count),
                end = std::clamp(std::ceil(entry(to) - 1e-6), 0.0, count);
    return largest_in(values, {begin, end}).value_or(NAN);
  }

 private:
  double entry(double token) const {
    return (token - tokens.begin) * values.size() / std::max<Index>(1, tokens.size());
  }
};

/// The parts of a token axis that can be distinguished: one for each token, or as many as the
/// resolution allows.
struct Steps {
  double begin, step;  // in tokens
  int count;

  Steps(const PanelAxis& axis, double length, double finest) {
    const double cell = length / (axis.high - axis.low);
    step = std::max(1.0, finest / cell);
    begin = step > 1 ? axis.low : std::floor(axis.low);
    count = std::ceil((axis.high - begin) / step - 1e-9);
  }
  double at(int s) const { return begin + step * s; }
};

/// The height of a value over the foot of its axis: at least `least` if it is above the foot at
/// all, so that it is seen.
double height_of(float value, const PanelAxis& axis, double length, double least) {
  if (!(value > axis.low)) return 0;
  return std::max(least, axis.place(std::min<double>(value, axis.high), 0, length));
}

void draw_filled(const BodyDrawing& d, const Spread& spread, bool upright) {
  const PanelAxis &tokens = upright ? *d.plot.axes.x : *d.plot.axes.y,
                  &amounts = upright ? *d.plot.axes.y : *d.plot.axes.x;
  const Rect& where = d.plot.where;
  const double along = upright ? where.width : where.height,
               high = upright ? where.height : where.width;
  const Steps steps(tokens, along, d.ink.style.finest);
  std::vector<Rect> bars;
  for (int s = 0; s < steps.count; ++s) {
    const double from = std::max(steps.at(s), tokens.low),
                 to = std::min(steps.at(s + 1), tokens.high);
    const double h =
        height_of(spread.largest(steps.at(s), steps.at(s + 1)), amounts, high, d.ink.style.finest);
    if (!(h > 0)) continue;
    const double a = tokens.place(from, 0, along), b = tokens.place(to, 0, along);
    bars.push_back(upright ? Rect{where.x + a, where.bottom() - h, b - a, h}
                           : Rect{where.x, where.y + a, h, b - a});
  }
  d.ink.fill_all(bars, d.ink.style.exact);
}

/// A line across each token of a strip.
void draw_bounds(const BodyDrawing& d, const Spread& spread) {
  const PanelAxis &tokens = *d.plot.axes.y, &amounts = *d.plot.axes.x;
  const Rect& where = d.plot.where;
  const double thick = std::max(d.ink.style.finest, 0.12 * d.ink.letters.size());
  const Steps steps(tokens, where.height, d.ink.style.finest);
  std::vector<Rect> lines;
  for (int s = 0; s < steps.count; ++s) {
    const double from = std::max(steps.at(s), tokens.low),
                 to = std::min(steps.at(s + 1), tokens.high);
    const double x =
        height_of(spread.largest(steps.at(s), steps.at(s + 1)), amounts, where.width, 0);
    if (!(x > 0)) continue;
    const double a = tokens.place(from, 0, where.height), b = tokens.place(to, 0, where.height);
    lines.push_back({std::min(where.x + x, where.right()) - thick, where.y + a, thick, b - a});
  }
  d.ink.fill_all(lines, d.ink.style.approximate);
}

bool shows_exact(const BodyDrawing& d) {
  return !d.settings.hides("exact");
}

/// False if the approximate row is that of exact attention.
bool has_approximate(const RowCurve& row) {
  return !row.approximate.empty() && row.approximate != row.exact;
}

bool shows_approximate(const BodyDrawing& d, const RowCurve& row) {
  return has_approximate(row) && !d.settings.hides("approximate");
}

/// Draws a dot for each key, or for each place if keys are dense.
void draw_dots(const BodyDrawing& d, const RowCurve& row) {
  const PanelAxis &keys = *d.plot.axes.x, &amounts = *d.plot.axes.y;
  const Rect& where = d.plot.where;
  const Spread exact{row.exact, row.keys}, approximate{row.approximate, row.keys};
  const Steps steps(keys, where.width, 2 * d.ink.style.finest);
  const double cell = where.width / (keys.high - keys.low), size = d.ink.letters.size();
  const double radius = std::clamp(0.35 * steps.step * cell, 0.065 * size, 0.17 * size);
  for (int s = 0; s < steps.count; ++s) {
    const float value = approximate.largest(steps.at(s), steps.at(s + 1));
    // Keys that both leave out would only thicken the axis.
    const bool left_out = !(value > 0) && !(exact.largest(steps.at(s), steps.at(s + 1)) > 0);
    if (!std::isfinite(value) || left_out) continue;
    const double x = d.plot.x(steps.at(s) + steps.step / 2);
    if (x < where.x || x > where.right()) continue;
    d.ink.dot({std::clamp(x, where.x + radius, where.right() - radius),
               where.bottom() - height_of(value, amounts, where.height, 0)},
              radius, d.ink.style.approximate);
  }
}

/// Names the best exact keys over their peaks if there is room.
void name_peaks(const BodyDrawing& d, const RowCurve& row) {
  const Rect& where = d.plot.where;
  const double line = d.ink.letters.line(), size = d.ink.letters.size();
  std::vector<Rect> taken;
  for (const auto& [key, weight] : row.top_exact) {
    if (taken.size() == 3) break;
    const double x = d.plot.x(key + 0.5);
    if (x < where.x || x > where.right()) continue;
    const double gap = 0.3 * size;
    const std::string name =
        d.names.keys.numbered(key, d.ink.letters, std::min(6 * size, where.width - 2 * gap));
    const double width = d.ink.letters.width(name);
    const double left =
        std::max(where.x + gap / 2, std::min(x - width / 2, where.right() - width - gap / 2));
    const double top =
        where.bottom() - height_of(weight, *d.plot.axes.y, where.height, 0) - line - 0.14 * size;
    Rect box{left, std::max(top, where.y + 0.07 * size), width, line};
    // A name pushed down from the top stands beside its peak, not over it.
    if (top < where.y)
      box.x = x + gap + width > where.right() - gap / 2 ? x - gap - width : x + gap;
    const bool is_free = std::ranges::none_of(taken, [&](const Rect& other) {
      return !other.inset(-1.2 * size).intersected(box).empty();
    });
    if (!is_free || box.x < where.x) continue;
    taken.push_back(box);
    d.ink.write(box, name, Align::left, d.ink.style.text);
  }
}

/// The heaviest keys with their weights, in a column that ends at `right`.
void list_keys(const BodyDrawing& d, const std::vector<std::pair<Index, float>>& keys, double right,
               Rgba colour) {
  const double size = d.ink.letters.size(), line = d.ink.letters.line();
  const double column = kTopKeys * size;
  const std::size_t count = std::min(kMostTopKeys, keys.size());
  Rect at{right - column + size, d.plot.where.y + 0.2 * size, column - size, line};
  d.ink.fill({at.x - 0.4 * size, at.y, column - 0.2 * size, line * count},
             faded(d.ink.style.paper, 0.8), 0.3 * size);
  for (std::size_t i = 0; i < count; ++i, at.y += line) {
    const auto& [key, weight] = keys[i];
    const std::string amount = format_drawn(weight);
    const double room = at.width - d.ink.letters.width(amount) - 0.6 * size;
    d.ink.write(at, d.names.keys.numbered(key, d.ink.letters, room), Align::left, colour);
    d.ink.write(at, amount, Align::right, d.ink.style.text);
  }
}

/// Draws a list for each series that is drawn, that of exact at the left.
void list_top_keys(const BodyDrawing& d, const RowCurve& row) {
  double right = d.plot.where.right() - 0.7 * d.ink.letters.size();
  if (shows_approximate(d, row)) {
    list_keys(d, row.top_approximate, right, d.ink.style.approximate);
    right -= kTopKeys * d.ink.letters.size();
  }
  if (shows_exact(d)) list_keys(d, row.top_exact, right, d.ink.style.exact);
}

/// The words of a strip without an amount above 0.
std::string nothing_to_draw(const std::vector<float>& values) {
  const auto odd = std::ranges::count_if(values, [](float x) { return !std::isfinite(x); });
  if (odd == 0) return " is 0 for every token";
  return odd == std::ssize(values) ? " is not defined for any token"
                                   : " is 0 for every token for which it is defined";
}

std::string query_of(const RowCurve& row, const Lettering& letters, const TokenNames& names) {
  return "query " + names.queries.numbered(row.query, letters, 8 * letters.size());
}

std::vector<LegendItem> items_of(const RowCurve& row, const Style& style,
                                 const ViewSettings& settings, const char* approximate) {
  std::vector<LegendItem> items{{"exact", style.exact, false, "exact", settings.hides("exact")}};
  if (has_approximate(row))
    items.push_back(
        {approximate, style.approximate, true, "approximate", settings.hides("approximate")});
  return items;
}

/// The legend with the query, if two lines hold it.
std::optional<Legend> legend_with_query(const RowCurve& row, const Style& style,
                                        const Lettering& letters, double width,
                                        const TokenNames& names, const ViewSettings& settings) {
  const std::string query = query_of(row, letters, names);
  const bool narrow = width < letters.width("exact approximate " + query) + 4 * letters.size();
  auto items = items_of(row, style, settings, narrow ? "approx." : "approximate");
  items.push_back({query});
  Legend legend(std::move(items), letters, width);
  if (legend.height() > 2 * letters.line()) return {};
  return legend;
}

Legend legend_of(const RowCurve& row, const Style& style, const Lettering& letters, double width,
                 const TokenNames& names, const ViewSettings& settings) {
  if (auto legend = legend_with_query(row, style, letters, width, names, settings)) return *legend;
  Legend legend(items_of(row, style, settings, "approx."), letters, width);
  if (legend.height() <= letters.line()) return legend;
  return Legend(items_of(row, style, settings, "app."), letters, width);
}

}  // namespace

bool names_query(const RowCurve& row, double width, const Lettering& letters,
                 const TokenNames& names) {
  return legend_with_query(row, {}, letters, width, names, {}).has_value();
}

double row_heading_height(const RowCurve& row, double width, const Lettering& letters,
                          const TokenNames& names) {
  return legend_of(row, {}, letters, width, names, {}).height() + 0.14 * letters.size();
}

Legend legend_of(const BodyDrawing& d, const RowCurve& row) {
  return legend_of(row, d.ink.style, d.ink.letters, d.body.width, d.names, d.settings);
}

void draw(const BodyDrawing& d, const RowCurve& row) {
  legend_of(d, row).draw(d.ink, {d.body.x, d.body.y});
  if (!(amount_of(*d.prepared.panel).value_or(0) > 0)) return;
  draw_grid_lines(d.ink, d.plot);
  if (shows_exact(d)) draw_filled(d, {row.exact, row.keys}, true);
  if (shows_approximate(d, row)) draw_dots(d, row);
  // The list names the peaks too: names over them would only cover more of the curves.
  if (d.plot.where.width >= kTopKeysWidth * d.ink.letters.size())
    list_top_keys(d, row);
  else if (shows_exact(d))
    name_peaks(d, row);
}

void draw(const BodyDrawing& d, const Strip& strip) {
  if (strip.values.empty()) return draw_message(d.ink, d.plot.where, "no values");
  if (!(amount_of(*d.prepared.panel).value_or(0) > 0))
    return draw_message(d.ink, d.plot.where, strip.quantity + nothing_to_draw(strip.values));
  draw_grid_lines(d.ink, d.plot);
  draw_filled(d, {strip.values, {0, std::ssize(strip.values)}}, false);
  if (!strip.bounds.empty()) draw_bounds(d, {strip.bounds, {0, std::ssize(strip.bounds)}});
}

}  // namespace fovea::drawing
