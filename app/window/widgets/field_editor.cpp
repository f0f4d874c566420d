#include "window/widgets/field_editor.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <algorithm>
#include <bit>
#include <cmath>

#include "data/error.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr int slider_steps = 400;  // of a real number

bool is_integer(const Field& field) {
  return std::holds_alternative<std::int64_t>(field.standard);
}

QString tip_of(const Field& field) {
  QString tip = QString::fromStdString(field.meaning);
  if (field.choices.empty() && field.max > field.min)
    tip += QString("\n%1 to %2%3")
               .arg(field.min)
               .arg(field.max)
               .arg(field.must_be_even ? ", even" : "");
  return tip + "\nPaper's default: " + QString::fromStdString(to_text(field.standard));
}

}  // namespace

FieldEditor::FieldEditor(const Field& field, Index n, QWidget* parent)
    : QWidget(parent), field_(field), slider_low_(field.min), slider_high_(field.max) {
  const bool of_tokens = field.unit == "tokens" || field.unit == "keys";
  if (of_tokens && n > 1)
    slider_high_ = std::clamp(double(std::bit_ceil(std::uint64_t(n))), field.min + 1, field.max);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, rhythm / 2);
  column->setSpacing(rhythm / 2);
  auto* top = new QHBoxLayout;
  label_ = new QLabel(QString::fromStdString(field.label), this);
  top->addWidget(label_, 1);
  column->addLayout(top);
  setToolTip(tip_of(field));
  if (!field.choices.empty())
    make_choice(top);
  else if (std::holds_alternative<std::vector<double>>(field.standard) ||
           std::holds_alternative<std::string>(field.standard))
    make_list(top);
  else
    make_number(top);
  if (slider_) column->addWidget(slider_);
}

void FieldEditor::set_value(const Value& value) {
  show_(value);
}

void FieldEditor::make_choice(QHBoxLayout* top) {
  auto* box = new QComboBox(this);
  for (const auto& choice : field_.choices) box->addItem(QString::fromStdString(choice));
  box->setAccessibleName(label_->text());
  label_->setBuddy(box);
  top->addWidget(box);
  connect(box, &QComboBox::activated, this,
          [this](int index) { emit changed(field_.choices[static_cast<std::size_t>(index)]); });
  show_ = [box](const Value& value) {
    box->setCurrentText(QString::fromStdString(std::get<std::string>(value)));
  };
}

void FieldEditor::make_number(QHBoxLayout* top) {
  auto* box = new QDoubleSpinBox(this);
  const bool integer = is_integer(field_);
  box->setDecimals(integer ? 0 : 4);
  box->setRange(field_.min, field_.max);
  box->setSingleStep(integer ? (field_.must_be_even ? 2 : 1)
                             : std::max(1e-4, (field_.max - field_.min) / 100));
  box->setSuffix(field_.unit.empty() ? "" : " " + QString::fromStdString(field_.unit));
  box->setAlignment(Qt::AlignRight);
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setKeyboardTracking(false);
  box->setFixedWidth(136);
  box->setAccessibleName(label_->text());
  label_->setBuddy(box);
  top->addWidget(box);
  slider_ = new QSlider(Qt::Horizontal, this);
  slider_->setAccessibleName(label_->text() + " slider");
  const bool octaves = field_.axis == Axis::log2 && integer;
  slider_->setRange(0, octaves ? slider_of(slider_high_)
                       : (integer && slider_high_ - slider_low_ < 4000)
                           ? int(slider_high_ - slider_low_)
                           : slider_steps);
  slider_->setPageStep(octaves ? 1 : std::max(1, slider_->maximum() / 10));
  connect(slider_, &QSlider::valueChanged, this,
          [this](int position) { emit_number(number_of(position)); });
  connect(box, &QDoubleSpinBox::valueChanged, this, &FieldEditor::emit_number);
  show_ = [this, box, integer](const Value& value) {
    const double number = integer ? double(std::get<std::int64_t>(value)) : std::get<double>(value);
    const QSignalBlocker quiet_box(box), quiet_slider(slider_);
    if (box->value() != number) box->setValue(number);  // the same would be drawn again
    if (!slider_->isSliderDown()) slider_->setValue(slider_of(number));
  };
}

void FieldEditor::make_list(QHBoxLayout* top) {
  auto* line = new QLineEdit(this);
  line->setAccessibleName(label_->text());
  line->setFixedWidth(136);
  line->setPlaceholderText(
      std::holds_alternative<std::string>(field_.standard) ? "none" : "none; as 4, 4, 2");
  label_->setBuddy(line);
  top->addWidget(line);
  connect(line, &QLineEdit::editingFinished, this, [this, line] {
    Values values{field_.standard};
    try {
      if (!line->text().trimmed().isEmpty())
        fovea::set_value({field_}, values, field_.id, line->text().remove(' ').toStdString());
    } catch (const UsageError& error) {
      line->setToolTip(error.what());
      line->setStyleSheet("border-color: " + Theme::current().error.name());
      return;
    }
    line->setStyleSheet({});
    line->setToolTip({});
    emit changed(values.front());
  });
  show_ = [line](const Value& value) {
    if (!line->hasFocus()) line->setText(QString::fromStdString(to_text(value)));
  };
}

void FieldEditor::emit_number(double number) {
  number = std::clamp(number, field_.min, field_.max);
  if (!is_integer(field_)) {
    show_(number);
    emit changed(number);
    return;
  }
  auto whole = static_cast<std::int64_t>(std::llround(number));
  if (field_.must_be_even && whole % 2 != 0) whole += whole < field_.max ? 1 : -1;
  show_(whole);
  emit changed(whole);
}

int FieldEditor::slider_of(double number) const {
  if (field_.axis == Axis::log2) {
    const double low = std::log2(std::max(slider_low_, is_integer(field_) ? 1.0 : 1e-6));
    const double at = std::log2(std::max(number, 1e-6)) - low;
    if (is_integer(field_)) return static_cast<int>(std::lround(at));
    return static_cast<int>(std::lround(at / (std::log2(slider_high_) - low) * slider_steps));
  }
  if (is_integer(field_) && slider_high_ - slider_low_ < 4000)
    return int(std::lround(number - slider_low_));
  return int(std::lround((number - slider_low_) / (slider_high_ - slider_low_) * slider_steps));
}

double FieldEditor::number_of(int position) const {
  if (field_.axis == Axis::log2) {
    const double low = std::log2(std::max(slider_low_, is_integer(field_) ? 1.0 : 1e-6));
    if (is_integer(field_)) return std::exp2(low + position);
    return std::exp2(low + position * (std::log2(slider_high_) - low) / slider_steps);
  }
  if (is_integer(field_) && slider_high_ - slider_low_ < 4000) return slider_low_ + position;
  return slider_low_ + position * (slider_high_ - slider_low_) / slider_steps;
}

}  // namespace fovea
