// A ParameterForm edits the parameters and the seed of one column, made from its variant's schema.
#pragma once

#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "session/session.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace fovea {

class FieldEditor;
class SessionEditor;
class Study;
struct Recurrence;

class ParameterForm : public QWidget {
  Q_OBJECT

 public:
  ParameterForm(Study& study, SessionEditor& editor);

  /// Shows a column of the session, which the form changes from now on.
  void show_column(std::size_t index);
  /// Makes new fields for the next column, even if it has the same variant.
  void forget_variant() { shown_variant_.clear(); }
  /// Puts the cursor into the first field.
  void start_editing();

 private:
  QWidget* make_seed_row();
  void rebuild(const Column& column);
  /// The recurrence of the column's head; null if the head is softmax attention.
  const Recurrence* recurrence() const;
  void change(const std::function<void(Column&)>& edit);

  Study& study_;
  SessionEditor& editor_;
  std::size_t shown_column_ = 0;
  std::string shown_variant_;
  Index shown_n_ = 0;
  QLabel* gates_;  // says that gates of the head take the place of parameters
  QWidget *fields_, *seed_row_;
  QVBoxLayout* field_layout_;
  QLineEdit* seed_;
  QPushButton* reset_;
  std::vector<FieldEditor*> editors_;
};

}  // namespace fovea
