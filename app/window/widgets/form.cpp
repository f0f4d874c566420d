#include "window/widgets/form.h"

#include <QAbstractSpinBox>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyle>

namespace fovea {
namespace {

QLabel* make_label(const QString& text, const char* style) {
  auto* label = new QLabel(text);
  label->setTextFormat(Qt::PlainText);  // it may name files and tokens
  label->setProperty("style", style);
  label->setWordWrap(true);
  return label;
}

}  // namespace

QVBoxLayout* make_page(QWidget& page) {
  page.setObjectName("dock_page");
  auto* column = new QVBoxLayout(&page);
  column->setContentsMargins(12, rhythm, 12, 12);
  column->setSpacing(rhythm);
  return column;
}

QScrollArea* scrolled(QWidget* page, int least) {
  auto* scroll = new QScrollArea;
  scroll->setObjectName("dock_scroll");
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // The height of a page follows from its width. A scroll bar that appears would change the width,
  // and so on without end: its room is always kept, and it is invisible while it is not needed.
  scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  QScrollBar* bar = scroll->verticalScrollBar();
  QObject::connect(bar, &QScrollBar::rangeChanged, bar,
                   [bar](int low, int high) { bar->setEnabled(high > low); });
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(page);
  scroll->setMinimumWidth(least);
  return scroll;
}

QLabel* make_heading(const QString& text) {
  return make_label(text, "heading");
}

QLabel* make_subheading(const QString& text) {
  return make_label(text, "subheading");
}

QLabel* make_note(const QString& text) {
  return make_label(text, "note");
}

void make_selectable(QLabel& label) {
  label.setTextInteractionFlags(Qt::TextSelectableByMouse);
}

void add_field(QBoxLayout& row, const QString& label, QWidget* field, int label_stretch,
               int field_stretch) {
  auto* name = new QLabel(label);
  name->setBuddy(field);
  field->setAccessibleName(QString(label).remove('&'));
  row.addWidget(name, label_stretch);
  row.addWidget(field, field_stretch);
  // An entered text is no longer being typed.
  if (QLineEdit* line = line_of(field)) {
    const auto entered = [line] { line->setModified(false); };
    if (auto* box = qobject_cast<QAbstractSpinBox*>(field))
      QObject::connect(box, &QAbstractSpinBox::editingFinished, line, entered);
    else
      QObject::connect(line, &QLineEdit::editingFinished, line, entered);
  }
}

QLineEdit* line_of(QWidget* field) {
  if (qobject_cast<QAbstractSpinBox*>(field)) return field->findChild<QLineEdit*>();
  return qobject_cast<QLineEdit*>(field);
}

bool is_being_typed(const QLineEdit& line) {
  return line.hasFocus() && line.isModified();
}

QToolButton* make_sign_button(const QString& sign, const QString& name, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(sign);
  button->setAccessibleName(name);
  button->setToolTip(tip);
  return button;
}

void set_style(QWidget& widget, const char* style) {
  if (widget.property("style").toString() == style) return;
  widget.setProperty("style", style);
  widget.style()->unpolish(&widget);  // the style sheet reads the property again
  widget.style()->polish(&widget);
}

}  // namespace fovea
