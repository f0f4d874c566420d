#include <QImage>
#include <algorithm>
#include <cmath>

#include "figure/bodies.h"
#include "figure/colour_scale.h"
#include "figure/ticks.h"

namespace fovea {
namespace {

constexpr double kBar = 4.5;      // height of the bar
constexpr double kPoint = 4;      // length of the arrow heads for values outside the range
constexpr double kLongest = 150;  // a longer bar reads no better
constexpr double kShortest = 70;

QColor qcolor(const Rgb& c) {
  return {c[0], c[1], c[2]};
}

}  // namespace

ColourBar::ColourBar(const ColourScale& scale, const Lettering& letters, double width, bool wide)
    : scale_(scale) {
  if (scale.palette == Palette::categories) {
    if (!wide) {
      label_lines_ = letters.wrapped(scale.label, width, 2);
      height_ = letters.line() * static_cast<double>(label_lines_.size());
      label_ = {0, 0, width, height_};
    }
  } else {
    lay_out_gradient(letters, width, wide);
  }
  lay_out_legend(letters, width, wide);
}

/// Names of categories and of values that have no place on the bar.
void ColourBar::lay_out_legend(const Lettering& letters, double width, bool wide) {
  std::vector<LegendItem> items;
  if (scale_.palette == Palette::categories) {
    if (wide) items.push_back({scale_.label, {}});
    for (std::size_t c = 0; c < scale_.categories.size(); ++c)
      items.push_back({QString::fromStdString(scale_.categories[c]),
                       qcolor(category_colour(static_cast<int>(c)))});
  }
  if (scale_.masked) items.push_back({QStringLiteral("masked"), qcolor(scale_.map->masked)});
  if (scale_.not_a_number)
    items.push_back({QStringLiteral("NaN"), qcolor(scale_.map->not_a_number)});
  // Left of a wide bar there is room under the label; elsewhere the names have lines of their own.
  const bool beside = bar_.left() > 0;
  legend_ = Legend(std::move(items), letters, beside ? bar_.left() - 8 : width);
  legend_at_ = {0, beside ? label_.bottom() : height_};
  height_ = std::max(height_, legend_at_.y() + legend_.height());
}

void ColourBar::lay_out_gradient(const Lettering& letters, double width, bool wide) {
  const double line = letters.line(), label_width = letters.width(scale_.label);
  const double room = width - label_width - 10;
  if (wide && room >= kShortest) {
    const double length = std::min(kLongest, room);
    label_ = {0, 0, label_width, line};
    label_lines_ = {scale_.label};
    bar_ = {label_width + 10, (line - kBar) / 2, length, kBar};
    height_ = line * 1.9;
    return;
  }
  bar_ = {0, 0, std::min(width, wide ? kLongest : width), kBar};
  label_lines_ = letters.wrapped(scale_.label, width, 3);
  label_ = {0, kBar + 1.5 + line, width, line * static_cast<double>(label_lines_.size())};
  height_ = label_.bottom();
}

void ColourBar::draw(Ink& ink, QPointF top_left) const {
  ink.painter.save();
  ink.painter.translate(top_left);
  if (!bar_.isEmpty()) draw_gradient(ink);
  ink.write_lines(label_, label_lines_, Align::left, ink.text);
  legend_.draw(ink, legend_at_);
  ink.painter.restore();
}

/// Ticks whose numbers, kept between the ends of the bar, do not touch.
std::vector<ColourBar::Number> ColourBar::numbers(const Lettering& letters,
                                                  const QRectF& bar) const {
  const int count = scale_.steps();
  for (int most = 5;; --most) {
    std::vector<Tick> ticks =
        scale_.signed_log()
            ? signed_log_ticks(scale_.high, 3 * signed_log_unit(scale_.high, scale_.log_floor),
                               most)
        : scale_.norm == Norm::log ? log_ticks(scale_.bottom(), scale_.high, most)
        : count > 0                ? whole_ticks(scale_.low, scale_.high, most)
                                   : linear_ticks(scale_.low, scale_.high, most);
    if (most == 1 && scale_.palette != Palette::diverging)
      ticks = {{scale_.bottom(), number_text(scale_.bottom(), 1)},
               {scale_.high, number_text(scale_.high, 1)}};
    std::vector<Number> placed;
    bool touch = false;
    for (const Tick& tick : ticks) {
      double t = normalised(tick.at, scale_.low, scale_.high, scale_.norm, scale_.log_floor);
      t = std::clamp(t, 0.0, 1.0);
      // A step's number stands under its middle.
      if (count > 0) t = (t * (count - 1) + 0.5) / count;
      const double x = bar.left() + t * bar.width(), width = letters.width(tick.label);
      const double left = std::max(bar_.left(), std::min(x - width / 2, bar_.right() - width));
      touch |= !placed.empty() && left < placed.back().box.right() + 3;
      placed.push_back({tick.label, x, {left, bar.bottom() + 1.5, width, letters.line()}});
    }
    if (!touch || most == 1) return placed;
  }
}

void ColourBar::draw_gradient(Ink& ink) const {
  const QRectF bar = bar_.adjusted(scale_.under ? kPoint : 0, 0, scale_.over ? -kPoint : 0, 0);
  const int steps = scale_.steps();
  QImage gradient(steps > 0 ? steps : 256, 1, QImage::Format_RGB32);
  const int last = gradient.width() - 1;
  for (int i = 0; i <= last; ++i)
    gradient.setPixelColor(
        i, 0, qcolor(scale_.map->steps[static_cast<std::size_t>(last > 0 ? 255 * i / last : 0)]));
  if (steps > 0) {
    draw_cells(ink, bar, gradient);
  } else {
    ink.painter.drawImage(bar, gradient);
  }
  QPolygonF outline;
  outline << bar.topLeft();
  if (scale_.under) outline << QPointF(bar.left() - kPoint, bar.center().y());
  outline << bar.bottomLeft() << bar.bottomRight();
  if (scale_.over) outline << QPointF(bar.right() + kPoint, bar.center().y());
  outline << bar.topRight();
  ink.painter.setPen(Qt::NoPen);
  if (scale_.under) {
    ink.painter.setBrush(qcolor(scale_.map->under));
    ink.painter.drawPolygon(QPolygonF() << bar.topLeft() << outline[1] << bar.bottomLeft());
  }
  if (scale_.over) {
    ink.painter.setBrush(qcolor(scale_.map->over));
    ink.painter.drawPolygon(QPolygonF()
                            << bar.topRight() << outline[outline.size() - 2] << bar.bottomRight());
  }
  ink.painter.setBrush(Qt::NoBrush);
  ink.painter.setPen(QPen(ink.frame, 0.4, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  ink.painter.drawPolygon(outline);
  for (const Number& number : numbers(ink.letters, bar)) {
    ink.line({number.x, bar.bottom()}, {number.x, bar.bottom() + 1.8}, ink.frame, 0.4);
    ink.write(number.box, number.text, Align::left, ink.text);
  }
}

}  // namespace fovea
