// Bodies that are small plots: a query's row and the output error per token.
#include <algorithm>
#include <cmath>

#include "canvas/bodies.h"

namespace fovea::canvas {
namespace {

constexpr float head = 20;  // the legend's line above a plot

float greatest(const std::vector<float>& values) {
  float most = 0;
  for (const float v : values)
    if (std::isfinite(v)) most = std::max(most, v);
  return most;
}

/// The largest value of the entries that fall on one pixel; NaN when none do.
float on_pixel(const std::vector<float>& values, double begin, double end) {
  const auto count = static_cast<double>(values.size());
  const auto first = static_cast<std::size_t>(std::clamp(std::floor(begin), 0.0, count));
  const auto last = static_cast<std::size_t>(std::clamp(std::ceil(end), 0.0, count));
  if (end <= 0 || begin >= count) return NAN;
  float most = NAN;
  for (std::size_t i = first; i < last; ++i)
    if (!(values[i] <= most)) most = values[i];
  return most;
}

/// Entry of `values`, spread evenly over `tokens`, at a place of the axis.
struct Spread {
  const std::vector<float>& values;
  IndexRange tokens;
  double entry(double token) const {
    return (token - static_cast<double>(tokens.begin)) * static_cast<double>(values.size()) /
           static_cast<double>(std::max<Index>(1, tokens.size()));
  }
};

/// Amounts from `bottom` (0: linear) to `top`, as pixels above the foot of a plot.
struct Upright {
  Rect plot;
  float bottom = 0, top = 1;

  float height(float v) const {
    if (!(v > bottom)) return 0;
    const float t = bottom > 0 ? std::log(v / bottom) / std::log(top / bottom) : v / top;
    return plot.height * t;
  }
  std::vector<double> numbers() const {
    if (!(bottom > 0)) return round_numbers(0, top, 3);
    std::vector<double> out;
    const int last = static_cast<int>(std::floor(std::log10(top)));
    const int first = static_cast<int>(std::ceil(std::log10(bottom)));
    const int step = (last - first) / std::max(1, static_cast<int>(plot.height / 20)) + 1;
    for (int e = last; e >= first; e -= step) out.push_back(std::pow(10.0, e));
    return out;
  }
};

void draw_filled(const BodyDrawing& d, const Upright& scale, const TokenAxis& keys,
                 const Spread& spread) {
  const ImU32 colour = faded(d.ink.theme.queries, 0.75f);
  const Rect& plot = scale.plot;
  for (float x = plot.x; x < plot.right(); x += 1) {
    const float v =
        on_pixel(spread.values, spread.entry(keys.token(x)), spread.entry(keys.token(x + 1)));
    if (!(v > scale.bottom)) continue;
    const float h = std::max(1.0f, scale.height(v));
    d.ink.fill({x, plot.bottom() - h, 1, h}, colour);
  }
}

/// Dots for the approximate row: one a key, or one a pixel when they are dense.
void draw_dots(const BodyDrawing& d, const Upright& scale, const TokenAxis& keys,
               const Spread& spread) {
  const Rect& plot = scale.plot;
  const float step = static_cast<float>(std::max(2.0, keys.cell()));
  const double start = keys.cell() >= 2 ? std::floor(keys.begin) : keys.begin;
  for (float x = keys.pixel(start); x < plot.right(); x += step) {
    const float v = on_pixel(spread.values, spread.entry(keys.token(x) + 1e-3),
                             spread.entry(keys.token(x + step) - 1e-3));
    if (!(scale.height(v) > 0.004f * plot.height)) continue;
    const Point at{x + step / 2, plot.bottom() - scale.height(v)};
    d.ink.list.AddCircleFilled(vec(at), step > 8 ? 2.5f : 1.5f, d.ink.theme.keys, 8);
  }
}

void draw_grid_lines(const BodyDrawing& d, const Upright& scale) {
  for (const double v : scale.numbers()) {
    const float y = std::round(scale.plot.bottom() - scale.height(static_cast<float>(v)));
    if (v > 0) d.ink.line({scale.plot.x, y}, {scale.plot.right(), y}, d.ink.theme.faint);
  }
}

/// On a ground of their own: bars may be high.
void write_grid_numbers(const BodyDrawing& d, const Upright& scale) {
  for (const double v : scale.numbers()) {
    const float y = std::round(scale.plot.bottom() - scale.height(static_cast<float>(v)));
    if (!(v > 0) || y - 13 < d.where.y + head || y > scale.plot.bottom() - 8) continue;
    const std::string text = number(v);
    d.ink.fill({scale.plot.x + 1, y - 13, d.ink.width(Face::small, text) + 4, 13},
               faded(d.ink.theme.panel, 0.8f), 3);
    d.ink.write(Face::small, {scale.plot.x + 3, y - 13}, d.ink.theme.muted, text);
  }
}

/// The greatest amount of this panel, or of its whole row where that shares a range.
template <class Body, class Greatest>
float shared_top(const BodyDrawing& d, const Body& body, Greatest of) {
  float top = of(body);
  const auto row = static_cast<std::size_t>(d.row);
  if (!d.scene.model.settings.shared_range || row >= d.scene.model.cells.size()) return top;
  for (const CanvasCell& cell : d.scene.model.cells[row])
    if (const auto* other = cell.panel ? std::get_if<Body>(&cell.panel->body) : nullptr)
      top = std::max(top, of(*other));
  return top;
}

/// "● exact  ● approximate" with as much as fits; returns nothing, never overlaps.
void draw_key(const BodyDrawing& d, const std::vector<std::pair<std::string, ImU32>>& entries) {
  float x = d.where.x + 8;
  const float y = d.where.y + 5;
  for (const auto& [name, colour] : entries) {
    const float wide = d.ink.width(Face::small, name) + 18;
    if (x + wide > d.where.right()) return;
    if (colour) d.ink.list.AddCircleFilled({x + 3, y + 6}, 3, colour, 12);
    d.ink.write(Face::small, {x + (colour ? 10.0f : 0.0f), y}, d.ink.theme.muted, name);
    x += wide + 4;
  }
}

/// The heaviest keys, where a panel is wide enough for a list: one of exact, one of the variant.
void list_top_keys(const BodyDrawing& d, const RowCurve& row) {
  constexpr float column = 118, line = 14;
  constexpr std::size_t most = 5;
  if (d.where.width < 4 * column) return;  // it must not cover much of the curves
  float right = d.where.right() - 8;
  for (const auto& [keys, colour] :
       {std::pair{&row.top_approximate, d.ink.theme.keys}, {&row.top_exact, d.ink.theme.queries}}) {
    const std::size_t count = std::min(most, keys->size());
    const float top = d.where.y + head + 12, left = right - column + 10;
    d.ink.fill({left - 4, top - 2, column - 2, line * static_cast<float>(count) + 4},
               faded(d.ink.theme.panel, 0.8f), 3);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [key, weight] = (*keys)[i];
      const float y = top + line * static_cast<float>(i);
      const std::string amount = number(weight), label = d.scene.model.sequence->label(key);
      const std::string index = std::to_string(key);
      const std::string name = label == index ? index : index + " " + d.ink.fonts.readable(label);
      const float room = right - left - d.ink.width(Face::small, amount) - 6;
      d.ink.write(Face::small, {left, y}, colour, d.ink.elided(Face::small, name, room));
      d.ink.write_right(Face::small, {right, y}, d.ink.theme.text, amount);
    }
    right -= column;
  }
}

}  // namespace

void draw_body(const BodyDrawing& d, const RowCurve& row) {
  const Rect plot{d.where.x, d.where.y + head + 10, d.where.width, d.where.height - head - 11};
  const float top = 1.04f * shared_top(d, row, [](const RowCurve& r) {
                      return std::max(greatest(r.exact), greatest(r.approximate));
                    });
  const TokenAxis keys = d.scene.keys(d.where);
  if (top > 0) {
    const Upright scale{plot, top * static_cast<float>(row.log_floor), top};
    draw_grid_lines(d, scale);
    draw_filled(d, scale, keys, {row.exact, row.keys});
    if (row.approximate != row.exact) draw_dots(d, scale, keys, {row.approximate, row.keys});
    write_grid_numbers(d, scale);
    list_top_keys(d, row);
  }
  const std::string label = "query " + std::to_string(row.query);
  const std::string token = d.scene.model.sequence->label(row.query);
  const bool named = token != std::to_string(row.query);
  std::vector<std::pair<std::string, ImU32>> entries{{"exact", d.ink.theme.queries}};
  if (!row.approximate.empty() && row.approximate != row.exact)
    entries.push_back({"approximate", d.ink.theme.keys});
  entries.push_back({named ? label + " " + d.ink.fonts.readable(token) : label, 0});
  draw_key(d, entries);
}

void draw_body(const BodyDrawing& d, const Strip& strip) {
  const float top = shared_top(d, strip, [](const Strip& other) { return greatest(other.values); });
  if (strip.values.empty() || !(top > 0))
    return draw_body(
        d, Message{strip.values.empty() ? "no values" : strip.quantity + " is 0 for every token"});
  const TokenAxis queries = d.scene.queries(d.where);
  const float room = d.where.width - 8;
  const float unit = room / (1.04f * top);
  for (const double v : round_numbers(0, top, 3)) {
    const float x = std::round(d.where.x + unit * static_cast<float>(v));
    if (v > 0) d.ink.line({x, d.where.y}, {x, d.where.bottom()}, d.ink.theme.faint);
  }
  const float step = queries.cell() >= 2 ? static_cast<float>(queries.cell()) : 1.0f;
  const float begin = step > 1 ? queries.pixel(std::floor(queries.begin)) : d.where.y;
  for (float y = begin; y < d.where.bottom(); y += step) {
    const float v = on_pixel(strip.values, queries.token(y) + 1e-3, queries.token(y + step) - 1e-3);
    if (!(v > 0)) continue;
    const float thick = step >= 4 ? step - 1 : step;
    d.ink.fill({d.where.x, y, std::max(1.0f, unit * v), thick}, faded(d.ink.theme.queries, 0.85f));
  }
  // Numbers on a ground of their own: bars may be long.
  for (const double v : round_numbers(0, top, 3)) {
    const std::string text = number(v);
    const float w = d.ink.width(Face::small, text);
    const float x = std::round(d.where.x + unit * static_cast<float>(v));
    if (v <= 0 || x + w / 2 + 3 > d.where.right()) continue;
    d.ink.fill({x - w / 2 - 3, d.where.y + 2, w + 6, 14}, faded(d.ink.theme.panel, 0.85f), 3);
    d.ink.write(Face::small, {x - w / 2, d.where.y + 3}, d.ink.theme.muted, text);
  }
}

}  // namespace fovea::canvas
