// Parts of forms: a dock's page, texts in their styles, fields with their labels, small buttons.
#pragma once

#include <QBoxLayout>
#include <QLabel>
#include <QToolButton>

class QLineEdit;
class QScrollArea;

namespace fovea {

/// The unit of all margins and gaps.
constexpr int rhythm = 8;

/// The column of a dock's page.
QVBoxLayout* make_page(QWidget& page);
/// A box without margins inside another one.
template <class Box>
Box* make_inner(QWidget* parent = nullptr) {
  auto* box = new Box(parent);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(rhythm);
  return box;
}

/// Makes the page of a dock scroll. Words of a page that is narrower than `least` would be cut.
QScrollArea* scrolled(QWidget* page, int least);

QLabel* make_heading(const QString& text = {});
/// Heads a part of what a heading is above.
QLabel* make_subheading(const QString& text = {});
QLabel* make_note(const QString& text = {});
/// Makes the text selectable, so that it can be copied.
void make_selectable(QLabel& label);

/// Adds a field behind its label, which names the field; the letter after "&" goes to the field.
void add_field(QBoxLayout& row, const QString& label, QWidget* field, int label_stretch = 0,
               int field_stretch = 0);

/// The line in which a field's text is typed; null if there is none.
QLineEdit* line_of(QWidget* field);
/// Whether something was typed in the line that is not entered yet.
bool is_being_typed(const QLineEdit& line);

/// A button with a sign on it, and what it does in words.
QToolButton* make_sign_button(const QString& sign, const QString& name, const QString& tip);

/// Gives a widget another style of the style sheet.
void set_style(QWidget& widget, const char* style);

}  // namespace fovea
