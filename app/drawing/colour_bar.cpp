#include "drawing/colour_bar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/number_text.h"

namespace fovea::drawing {
namespace {

// In letters.
constexpr double kBar = 0.64;      // thickness of a flat bar
constexpr double kUpright = 1;     // thickness of an upright bar
constexpr double kArrow = 0.8;     // length of a head
constexpr double kLongest = 21;    // a longer flat bar reads no better
constexpr double kShortest = 10;   // beside a label
constexpr double kLabelGap = 1.4;  // between label and bar
constexpr double kBarTick = 0.26;

}  // namespace

ColourBar::ColourBar(const ColourScale& scale, const Lettering& letters, const Request& request)
    : scale_(scale), form_(request.form), arrow_(kArrow * letters.size()) {
  const double width = request.width;
  if (form_ == Form::upright) {
    lay_out_upright(letters, request);
    return;
  }
  if (scale.is_named())
    lay_out_categories(letters, width);
  else
    lay_out_flat(letters, width);
  // If the label is beside the bar there is room for names under the label; otherwise the names
  // have lines of their own.
  const bool beside = bar_.x > 0;
  legend_ = make_legend(letters, beside ? bar_.x - letters.size() : width);
  legend_at_ = {0, beside ? label_.bottom() : height_};
  height_ = std::max(height_, legend_at_.y + legend_.height());
}

/// Names of categories and of values that have no place on the bar.
Legend ColourBar::make_legend(const Lettering& letters, double width) const {
  std::vector<LegendItem> items;
  if (scale_.is_named()) {
    if (form_ == Form::beside) items.push_back({scale_.title()});
    for (std::size_t c = 0; c < scale_.categories.size(); ++c)
      items.push_back({scale_.categories[c], opaque(scale_.colour_of_name(c)), false,
                       scale_.can_hide() ? scale_.categories[c] : "", scale_.hides(c)});
  }
  if (const std::string text = scale_.under_text(); !text.empty())
    items.push_back({text, opaque(scale_.map->under)});
  if (scale_.masked) items.push_back({"masked", opaque(scale_.map->masked)});
  if (scale_.not_a_number) items.push_back({"NaN", opaque(scale_.map->not_a_number)});
  return Legend(std::move(items), letters, width);
}

void ColourBar::lay_out_categories(const Lettering& letters, double width) {
  if (form_ == Form::beside) return;
  label_lines_ = letters.wrapped(scale_.title(), width, 2);
  height_ = height_of(label_lines_, letters);
  label_ = {0, 0, width, height_};
}

void ColourBar::lay_out_flat(const Lettering& letters, double width) {
  const double line = letters.line(), size = letters.size();
  const std::string title = scale_.title();
  const double label_width = letters.width(title);
  const double room = width - label_width - kLabelGap * size, thick = kBar * size;
  if (form_ == Form::beside && room >= kShortest * size) {
    label_ = {0, 0, label_width, line};
    label_lines_ = {title};
    bar_ = {label_width + kLabelGap * size, (line - thick) / 2, std::min(kLongest * size, room),
            thick};
    height_ = line * 1.9;
    return;
  }
  const double length = form_ == Form::beside ? std::min(width, kLongest * size) : width;
  bar_ = {0, 0, length, thick};
  label_lines_ = letters.wrapped(title, width, 3);
  label_ = {0, thick + 0.2 * size + line, width, height_of(label_lines_, letters)};
  height_ = label_.bottom();
}

void ColourBar::lay_out_upright(const Lettering& letters, const Request& request) {
  const double gap = 0.3 * letters.size();
  legend_ = make_legend(letters, request.width);
  height_ = request.length;
  if (scale_.is_named()) {
    label_lines_ = letters.wrapped(scale_.title(), request.width, 4);
    label_ = {0, 0, request.width, height_of(label_lines_, letters)};
    legend_at_ = {0, label_.bottom()};
    height_ = std::max(height_, legend_at_.y + legend_.height());
    return;
  }
  const double names = legend_.height() > 0 ? legend_.height() + gap : 0;
  const double length = request.length - names,
               bar = request.bar > 0 ? std::min(length, request.bar) : length;
  bar_ = {0, 0, kUpright * letters.size(), std::max(0.0, bar)};
  legend_at_ = {0, bar_.bottom() + gap};
  label_ = {request.width - letters.line(), 0, letters.line(), bar_.height};
  // Beside a short bar the words on pooling are left out before the quantity is cut, and a quantity
  // that is longer than the bar goes on below it.
  const std::string whole = scale_.title();
  if (letters.width(scale_.label) > bar_.height) label_.height = std::max(bar_.height, length);
  label_lines_ = {
      letters.width(whole) <= bar_.height ? whole : letters.elided(scale_.label, label_.height)};
}

Rect ColourBar::gradient() const {
  if (bar_.empty()) return {};
  const double under = scale_.under ? arrow_ : 0, over = scale_.over ? arrow_ : 0;
  return is_upright() ? bar_.without(0, over, 0, under) : bar_.without(under, 0, over, 0);
}

void ColourBar::draw(Ink& ink, Point top_left) const {
  if (!bar_.empty()) {
    draw_gradient(ink, top_left);
    draw_ends(ink, top_left);
    draw_numbers(ink, top_left);
  }
  const Rect label = label_.moved(top_left.x, top_left.y);
  if (is_upright() && !bar_.empty())
    ink.text_upwards(label.centre(), label_lines_.front(), ink.style.label);
  else
    ink.write_lines(label, label_lines_, Align::left, ink.style.label);
  legend_.draw(ink, {top_left.x + legend_at_.x, top_left.y + legend_at_.y});
}

std::vector<Tick> ColourBar::ticks(int most) const {
  if (most == 1 && scale_.palette != Palette::diverging)
    return {{scale_.bottom(), format_drawn(scale_.bottom(), 1)},
            {scale_.high, format_drawn(scale_.high, 1)}};
  if (scale_.signed_log())
    return signed_log_ticks(scale_.high, 3 * signed_log_unit(scale_.high, scale_.log_floor), most);
  if (scale_.norm == Norm::log) return log_ticks(scale_.bottom(), scale_.high, most);
  if (scale_.steps() > 0) return whole_ticks(scale_.low, scale_.high, most);
  return linear_ticks(scale_.low, scale_.high, most);
}

double ColourBar::share_of(double value) const {
  const double t = scale_.share_of(value);
  const int count = scale_.steps();
  // The number of a step stands at its middle.
  return count > 0 ? (std::clamp(t, 0.0, 1.0) * (count - 1) + 0.5) / count
                   : std::clamp(t, 0.0, 1.0);
}

/// Ticks whose numbers, kept between the ends of the bar, do not touch.
std::vector<ColourBar::Number> ColourBar::numbers(const Lettering& letters) const {
  const Rect bar = gradient();
  const double size = letters.size(), line = letters.line();
  for (int most = is_upright() ? 9 : 5;; --most) {
    std::vector<Number> placed;
    bool touch = false;
    for (const Tick& tick : ticks(most)) {
      const double t = share_of(tick.at), width = letters.width(tick.label);
      Number number{tick.label, 0, {}};
      if (is_upright()) {
        number.at = bar.bottom() - t * bar.height;
        const double middle = std::clamp(number.at, bar_.y + 0.4 * size,
                                         std::max(bar_.y, bar_.bottom() - 0.4 * size));
        number.box = {bar.right() + 0.5 * size, middle - line / 2, width, line};
        touch |= !placed.empty() && number.box.bottom() > placed.back().box.y - 0.2 * size;
      } else {
        number.at = bar.x + t * bar.width;
        const double left = std::max(bar_.x, std::min(number.at - width / 2, bar_.right() - width));
        number.box = {left, bar.bottom() + 0.2 * size, width, line};
        touch |= !placed.empty() && left < placed.back().box.right() + 0.4 * size;
      }
      placed.push_back(std::move(number));
    }
    if (touch && most == 1) placed.erase(placed.begin());  // no room for both ends
    if (!touch || most == 1) return placed;
  }
}

void ColourBar::draw_gradient(Ink& ink, Point top_left) const {
  const int count = scale_.steps() > 0 ? scale_.steps() : 256;
  std::vector<Rgba> colours;
  for (int i = 0; i < count; ++i) {
    const int step = count > 1 ? 255 * i / (count - 1) : 0;
    colours.push_back(opaque(scale_.map->steps[step]));
  }
  if (is_upright()) std::ranges::reverse(colours);
  ink.cells(gradient().moved(top_left.x, top_left.y), is_upright() ? count : 1,
            is_upright() ? 1 : count, colours);
}

/// Draws the ends in the colours of numbers below and above the range, and the outline of the whole
/// bar.
void ColourBar::draw_ends(Ink& ink, Point top_left) const {
  const Rect whole = bar_.moved(top_left.x, top_left.y),
             bar = gradient().moved(top_left.x, top_left.y);
  const Rgba under = opaque(scale_.map->under), over = opaque(scale_.map->over);
  const Point a{bar.x, bar.y}, b{bar.right(), bar.y}, c{bar.right(), bar.bottom()},
      d{bar.x, bar.bottom()};
  const Point low =
      is_upright() ? Point{bar.centre().x, whole.bottom()} : Point{whole.x, bar.centre().y};
  const Point high =
      is_upright() ? Point{bar.centre().x, whole.y} : Point{whole.right(), bar.centre().y};
  const auto [low_a, high_a, high_b, low_b] =
      is_upright() ? std::array{d, a, b, c} : std::array{a, b, c, d};
  if (scale_.under) ink.polygon(std::array{low_a, low, low_b}, under);
  if (scale_.over) ink.polygon(std::array{high_a, high, high_b}, over);
  // Without a head, the point of the head lies on the bar's end.
  ink.path(std::array{low_a, high_a, high, high_b, low_b, low, low_a}, {ink.style.frame});
}

void ColourBar::draw_numbers(Ink& ink, Point top_left) const {
  const Rect bar = gradient().moved(top_left.x, top_left.y);
  const double tick = kBarTick * ink.letters.size();
  for (const Number& number : numbers(ink.letters)) {
    const double x = top_left.x + number.at, y = top_left.y + number.at;
    if (is_upright())
      ink.line({bar.right(), y}, {bar.right() + tick, y}, {ink.style.frame});
    else
      ink.line({x, bar.bottom()}, {x, bar.bottom() + tick}, {ink.style.frame});
    ink.write(number.box.moved(top_left.x, top_left.y), number.text, Align::left, ink.style.label);
  }
}

}  // namespace fovea::drawing
