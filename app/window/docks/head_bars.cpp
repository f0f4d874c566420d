#include "window/docks/head_bars.h"

#include <algorithm>
#include <cmath>

#include "window/widgets/text.h"

namespace fovea {

void HeadBars::choose(std::optional<std::size_t> measure) {
  measure_ = measure;
  want();
  refresh();
}

void HeadBars::show(bool on) {
  shown_ = on;
  want();
}

void HeadBars::want() {
  const bool on = shown_ && measure_;
  if (on && !measuring_) measuring_ = study_.measure_heads();
  if (!on) measuring_.reset();
}

// Shares are parts of 1, other measures of the largest one.
void HeadBars::refresh() {
  top_ = 1;
  const auto source = study_.source();
  if (!source || !measure_ || head_measures()[*measure_].is_share) return;
  double largest = 0;
  for (Index l = 0; l < std::ssize(source->layers); ++l)
    for (Index h = 0; h < source->layers[l].heads(); ++h)
      if (const HeadValue* of = value({l, h}); of && of->estimate.value > largest)
        largest = of->estimate.value;
  if (largest > 0) top_ = largest;
}

const HeadValue* HeadBars::value(const Head& head) {
  last_read_ = measure_ ? study_.measured_head(head.first, head.second) : nullptr;
  return last_read_ ? &last_read_->values[*measure_] : nullptr;
}

void HeadBars::draw(QPainter& painter, const QRect& cell, const Head& head) {
  const HeadValue* of = value(head);
  if (!of || std::isnan(of->estimate.value)) return;
  const int height = std::clamp(cell.height() / 8, 2, 7);
  const double share = std::clamp(of->estimate.value / top_, 0.0, 1.0);
  QRectF bar(cell.left(), cell.top(), cell.width(), height);
  painter.fillRect(bar, QColor(0, 0, 0, 190));
  bar.setWidth(share * bar.width());
  painter.fillRect(bar, QColor("#ff8c42"));  // unlike the colours of the pictures, on dark
}

QString HeadBars::text(const Head& head) {
  const HeadValue* of = value(head);
  if (!of) return {};
  const HeadMeasure& measure = head_measures()[*measure_];
  return to_qt(of->missing.empty() ? measure.label + " " + to_text(measure, of->estimate)
                                   : measure.label + ": " + of->missing);
}

}  // namespace fovea
