#include "window/widgets/readings.h"

#include <cmath>

#include "window/widgets/theme.h"

namespace fovea {

Readings::Readings(const QString& name, QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout(this)) {
  setAccessibleName(name);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(rhythm);
  grid_->setVerticalSpacing(rhythm / 2);
  grid_->setColumnStretch(1, 1);
}

void Readings::set_rows(const std::vector<Reading>& rows) {
  while (labels_.size() < rows.size()) {
    const int at = static_cast<int>(labels_.size());
    auto* label = make_note({}, this);
    auto* value = new QLabel(this);
    label->setWordWrap(false);
    value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    value->setWordWrap(true);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid_->addWidget(label, at, 0, Qt::AlignTop);
    grid_->addWidget(value, at, 1);
    labels_.emplace_back(label, value);
  }
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto& [label, value] = labels_[i];
    const bool used = i < rows.size();
    label->setVisible(used);
    value->setVisible(used);
    if (!used) continue;
    if (label->text() != rows[i].label) label->setText(rows[i].label);
    if (value->text() != rows[i].value) value->setText(rows[i].value);
    label->setToolTip(rows[i].tip);
    value->setToolTip(rows[i].tip);
    value->setAccessibleName(rows[i].label);
  }
}

QString number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "infinite" : "−infinite";
  if (std::isnan(value)) return "not a number";
  return QString::number(value, 'g', 4);
}

QString time_text(double milliseconds) {
  if (milliseconds < 1) return QString::number(milliseconds * 1000, 'f', 0) + " µs";
  if (milliseconds < 1000) return QString::number(milliseconds, 'g', 3) + " ms";
  return QString::number(milliseconds / 1000, 'f', milliseconds < 1e4 ? 2 : 1) + " s";
}

QString count_text(double count) {
  for (const auto& [size, name] : {std::pair{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (count >= size) return QString::number(count / size, 'g', 3) + name;
  return QString::number(count, 'g', 3);
}

QString bytes_text(double bytes) {
  for (const auto& [size, unit] :
       {std::pair{1073741824.0, " GiB"}, {1048576.0, " MiB"}, {1024.0, " KiB"}})
    if (const double count = bytes / size; count >= 1)
      return QString::number(count, count < 999.5 ? 'g' : 'f', count < 999.5 ? 3 : 0) + unit;
  return QString::number(bytes, 'f', 0) + " B";
}

}  // namespace fovea
