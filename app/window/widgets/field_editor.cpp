#include "window/widgets/field_editor.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>
#include <bit>
#include <cmath>

#include "data/error.h"
#include "figure/painter_ink.h"
#include "window/widgets/form.h"
#include "window/widgets/slider.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

QString tip_of(const Field& field) {
  QString tip = to_qt(field.meaning);
  if (field.choices.empty() && field.max > field.min)
    tip += QString("\n%1 to %2%3")
               .arg(field.min)
               .arg(field.max)
               .arg(field.must_be_even ? ", even" : "");
  return tip + "\nPaper's default: " + to_qt(to_text(field.standard));
}

}  // namespace

FieldEditor::FieldEditor(const Field& field, Index n, QWidget* parent)
    : QWidget(parent), field_(field) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, rhythm / 2);
  column->setSpacing(rhythm / 2);
  auto* top = new QHBoxLayout;
  column->addLayout(top);
  setToolTip(tip_of(field));
  if (!field.choices.empty())
    make_choice(top);
  else if (is_integer() || std::holds_alternative<double>(field.standard))
    make_number(top, n);
  else
    make_list(top);
  if (slider_) column->addWidget(slider_);
}

void FieldEditor::make_choice(QHBoxLayout* top) {
  auto* box = new QComboBox;
  for (const auto& choice : field_.choices) box->addItem(to_qt(choice));
  add_field(*top, to_qt(field_.label), box, 1);
  connect(box, &QComboBox::activated, this,
          [this](int index) { emit changed(field_.choices[index]); });
  show_ = [box](const Value& value) { box->setCurrentText(to_qt(std::get<std::string>(value))); };
}

void FieldEditor::make_number(QHBoxLayout* top, Index n) {
  const bool integer = is_integer();
  auto* box = new QDoubleSpinBox;
  box->setDecimals(integer ? 0 : 4);
  box->setRange(field_.min, field_.max);
  box->setSingleStep(integer ? (field_.must_be_even ? 2 : 1)
                             : std::max(1e-4, (field_.max - field_.min) / 100));
  box->setAlignment(Qt::AlignRight);
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setKeyboardTracking(false);
  box->setFixedWidth(136);
  add_field(*top, to_qt(field_.label), box, 1);
  const auto say_unit = [this, box] {
    QString unit = to_qt(field_.unit);
    if (box->value() == 1 && unit.endsWith('s')) unit.chop(1);
    box->setSuffix(unit.isEmpty() ? "" : " " + unit);
  };
  say_unit();
  connect(box, &QDoubleSpinBox::valueChanged, box, say_unit);
  lay_out_slider(n);
  connect(slider_, &QSlider::valueChanged, this,
          [this](int position) { emit_number(number_of_(position)); });
  connect(slider_, &Slider::reset_requested, this, &FieldEditor::reset_requested);
  connect(box, &QDoubleSpinBox::valueChanged, this, &FieldEditor::emit_number);
  show_ = [this, box, integer, say_unit](const Value& value) {
    const double number = integer ? double(std::get<std::int64_t>(value)) : std::get<double>(value);
    const QSignalBlocker quiet_box(box), quiet_slider(slider_);
    // Setting the same value would draw it again.
    if (box->value() != number) box->setValue(number);
    say_unit();
    if (!slider_->isSliderDown()) slider_->setValue(position_of_(number));
  };
}

// Each whole number has a step, or each power of two; other numbers have even steps.
void FieldEditor::lay_out_slider(Index n) {
  constexpr int even_steps = 400, most_steps = 4000;
  const bool log = field_.axis == Axis::log2;
  const double least = is_integer() ? 1 : 1e-6;  // of a logarithm
  const auto along = [log, least](double number) {
    return log ? std::log2(std::max(number, least)) : number;
  };
  double high = field_.max;
  if (field_.span && n > 1)  // a size in tokens
    high = std::clamp(double(std::bit_ceil(std::uint64_t(n))), field_.min + 1, field_.max);
  const double from = along(field_.min), length = along(high) - from;
  const bool whole = is_integer() && (log || length < most_steps);
  const double step = whole ? 1 : length / even_steps;
  number_of_ = [log, from, step](int position) {
    const double place = from + position * step;
    return log ? std::exp2(place) : place;
  };
  position_of_ = [along, from, step](double number) {
    return int(std::lround((along(number) - from) / step));
  };
  slider_ = new Slider;
  slider_->setAccessibleName(to_qt(field_.label) + " slider");
  slider_->setRange(0, position_of_(high));
  slider_->setPageStep(log && whole ? 1 : std::max(1, slider_->maximum() / 10));
}

void FieldEditor::make_list(QHBoxLayout* top) {
  auto* line = new QLineEdit;
  line->setFixedWidth(136);
  line->setPlaceholderText(std::holds_alternative<std::string>(field_.standard) ? "none"
                                                                                : "automatic");
  add_field(*top, to_qt(field_.label), line, 1);
  const auto show_error = [line](const QString& error) {
    line->setToolTip(plain_tip(error));
    line->setStyleSheet(error.isEmpty() ? ""
                                        : "border-color: " + qcolor(window_style().error).name());
  };
  connect(line, &QLineEdit::editingFinished, this, [this, line, show_error] {
    Values values{field_.standard};
    try {
      if (!line->text().trimmed().isEmpty())
        fovea::set_value({field_}, values, field_.id, line->text().remove(' ').toStdString());
    } catch (const UsageError& error) {
      line->setModified(true);  // the text stays, to be corrected
      return show_error(error.what());
    }
    show_error({});
    emit changed(values.front());
  });
  show_ = [line, show_error](const Value& value) {
    if (is_being_typed(*line)) return;
    show_error({});
    line->setText(to_qt(to_text(value)));
  };
}

void FieldEditor::emit_number(double number) {
  number = std::clamp(number, field_.min, field_.max);
  Value value = number;
  if (is_integer()) {
    auto whole = std::int64_t(std::llround(number));
    if (field_.must_be_even && whole % 2 != 0) whole += whole < field_.max ? 1 : -1;
    value = whole;
  }
  show_(value);
  emit changed(value);
}

}  // namespace fovea

#include "moc_field_editor.cpp"
