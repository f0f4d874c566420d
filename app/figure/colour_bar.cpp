#include <QImage>
#include <algorithm>
#include <cmath>

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

std::vector<Tick> bar_ticks(const ColourScale& scale, const Lettering& letters, double width) {
  for (int most = 5; most > 1; --most) {
    std::vector<Tick> ticks = scale.norm == Norm::log ? log_ticks(scale.bottom(), scale.high, most)
                                                      : linear_ticks(scale.low, scale.high, most);
    double room = width;
    for (const Tick& tick : ticks) room -= letters.width(tick.label) + 4;
    if (room >= 0) return ticks;
  }
  return {{scale.bottom(), number_text(scale.bottom(), 1)},
          {scale.high, number_text(scale.high, 1)}};
}

}  // namespace

ColourBar::ColourBar(const ColourScale& scale, const Lettering& letters, double width, bool wide)
    : scale_(scale) {
  std::vector<Item> items;
  if (scale.palette == Palette::categories) {
    if (wide) items.push_back({scale.label, {}, {}});
    for (std::size_t c = 0; c < scale.categories.size(); ++c)
      items.push_back(
          {QString::fromStdString(scale.categories[c]), category_colour(static_cast<int>(c)), {}});
    if (!wide) {
      label_lines_ = letters.wrapped(scale.label, width, 2);
      height_ = letters.line() * static_cast<double>(label_lines_.size());
      label_ = {0, 0, width, height_};
    }
  } else {
    lay_out_gradient(letters, width, wide);
  }
  if (scale.under && scale.norm == Norm::log)
    items.push_back({QStringLiteral("below"), scale.map->under, {}});
  if (scale.masked) items.push_back({QStringLiteral("masked"), scale.map->masked, {}});
  if (scale.not_a_number) items.push_back({QStringLiteral("NaN"), scale.map->not_a_number, {}});
  // Beside a wide bar there is room under the label; elsewhere the items have lines of their own.
  const bool beside = !bar_.isEmpty() && bar_.left() > 0;
  const double bottom = height_;
  if (beside) height_ = label_.bottom();
  lay_out_items(letters, std::move(items), 0, beside ? bar_.left() - 8 : width);
  height_ = std::max(height_, bottom);
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

void ColourBar::lay_out_items(const Lettering& letters, std::vector<Item> items, double left,
                              double width) {
  if (items.empty()) return;
  const double line = letters.line(), box = 0.8 * letters.size();
  double x = left, y = height_;
  for (Item& item : items) {
    const double indent = item.swatch ? box + 2.5 : 0;
    item.text = letters.elided(item.text, width - indent);
    const double taken = indent + letters.width(item.text);
    if (x > left && x + taken > left + width + 0.01) {
      x = left;
      y += line;
    }
    item.at = {x, y + line / 2};
    x += taken + 7;
  }
  height_ = y + line;
  items_ = std::move(items);
}

void ColourBar::draw(Ink& ink, QPointF top_left) const {
  ink.painter.save();
  ink.painter.translate(top_left);
  if (!bar_.isEmpty()) draw_gradient(ink);
  ink.write_lines(label_, label_lines_, Align::left, ink.text);
  const double box = 0.8 * ink.letters.size();
  for (const Item& item : items_) {
    double x = item.at.x();
    if (item.swatch) {
      const QRectF swatch(x, item.at.y() - box / 2, box, box);
      ink.fill(swatch, qcolor(*item.swatch));
      ink.outline(swatch, ink.frame, 0.3);
      x += box + 2.5;
    }
    ink.write({x, item.at.y() - 5, 0, 10}, item.text, Align::left,
              item.swatch || bar_.isEmpty() ? ink.text : ink.faint);
  }
  ink.painter.restore();
}

void ColourBar::draw_gradient(Ink& ink) const {
  const QRectF bar = bar_.adjusted(scale_.under ? kPoint : 0, 0, scale_.over ? -kPoint : 0, 0);
  QImage gradient(256, 1, QImage::Format_RGB32);
  for (int i = 0; i < 256; ++i)
    gradient.setPixelColor(i, 0, qcolor(scale_.map->steps[static_cast<std::size_t>(i)]));
  ink.painter.drawImage(bar, gradient);
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
  const double floor = scale_.log_floor;
  for (const Tick& tick : bar_ticks(scale_, ink.letters, bar.width())) {
    const double t =
        std::clamp(normalised(tick.at, scale_.low, scale_.high, scale_.norm, floor), 0.0, 1.0);
    const double x = bar.left() + t * bar.width();
    ink.line({x, bar.bottom()}, {x, bar.bottom() + 1.8}, ink.frame, 0.4);
    const double width = ink.letters.width(tick.label);
    const double left = std::clamp(x - width / 2, bar_.left(), bar_.right() - width);
    ink.write({left, bar.bottom() + 1.5, width, ink.letters.line()}, tick.label, Align::left,
              ink.text);
  }
}

}  // namespace fovea
