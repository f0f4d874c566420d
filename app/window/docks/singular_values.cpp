#include "window/docks/singular_values.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "window/widgets/readings.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr double decades = 7;  // what single precision tells apart
constexpr int label_height = 16;

}  // namespace

SingularValues::SingularValues(QWidget* parent) : QWidget(parent) {
  setFixedHeight(112);
  setAccessibleName("Singular values");
  setToolTip("Singular values, largest first, over seven decades; filled: within the rank at ε");
}

void SingularValues::show_values(const std::vector<float>& values, int rank) {
  if (values == values_ && rank == rank_) return;
  values_ = values;
  rank_ = rank;
  QStringList said;
  for (std::size_t i = 0; i < std::min<std::size_t>(values_.size(), 8); ++i)
    said << number_text(double(values_[i]));
  setAccessibleDescription("largest: " + said.join(", "));
  update();
}

void SingularValues::paintEvent(QPaintEvent*) {
  if (values_.empty() || values_.front() <= 0) return;
  QPainter painter(this);
  const Theme& theme = Theme::current();
  const double bottom = height() - label_height, step = width() / double(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double below = std::log10(std::max(1e-30, double(values_[i] / values_.front())));
    const double length = std::max(1.0, bottom * (1 + below / decades));
    const QRectF bar(double(i) * step, bottom - length, std::max(1.0, step - (step > 3 ? 1 : 0)),
                     length);
    painter.fillRect(bar, int(i) < rank_ ? theme.accent : theme.line);
  }
  painter.setPen(theme.muted);
  const QRectF labels(0, bottom, width(), label_height);
  painter.drawText(labels, Qt::AlignLeft | Qt::AlignBottom, "σ₁");
  painter.drawText(labels, Qt::AlignRight | Qt::AlignBottom, QString("σ%1").arg(values_.size()));
}

}  // namespace fovea
