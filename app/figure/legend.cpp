#include "figure/legend.h"

namespace fovea {
namespace {

constexpr double kGap = 2.5;  // between swatch and name
constexpr double kApart = 7;  // between items
double box_of(const Lettering& letters) {
  return 0.75 * letters.size();
}

}  // namespace

Legend::Legend(std::vector<LegendItem> items, const Lettering& letters, double width) {
  const double line = letters.line();
  double x = 0, y = 0;
  for (LegendItem& item : items) {
    const double indent = item.swatch ? box_of(letters) + kGap : 0;
    item.text = letters.elided(item.text, width - indent);
    const double taken = indent + letters.width(item.text);
    if (x > 0 && x + taken > width + 0.01) {
      x = 0;
      y += line;
    }
    placed_.push_back({std::move(item), {x, y + line / 2}});
    x += taken + kApart;
  }
  if (!placed_.empty()) height_ = y + line;
}

void Legend::draw(Ink& ink, QPointF top_left) const {
  const double box = box_of(ink.letters), line = ink.letters.line();
  for (const auto& [item, at] : placed_) {
    const QPointF here = top_left + at;
    double x = here.x();
    if (item.swatch && item.dot) {
      ink.painter.setPen(Qt::NoPen);
      ink.painter.setBrush(*item.swatch);
      ink.painter.drawEllipse(QPointF(x + box / 2, here.y()), 1.2, 1.2);
    } else if (item.swatch) {
      const QRectF swatch(x, here.y() - box / 2, box, box);
      ink.fill(swatch, *item.swatch);
      ink.outline(swatch, ink.frame, 0.3);
    }
    if (item.swatch) x += box + kGap;
    ink.write({x, here.y() - line / 2, 0, line}, item.text, Align::left, ink.text);
  }
}

}  // namespace fovea
