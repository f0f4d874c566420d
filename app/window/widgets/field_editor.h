// A FieldEditor edits one parameter of a schema: a slider with a number, a choice, or a list.
#pragma once

#include <QWidget>
#include <functional>

#include "data/matrix.h"
#include "variants/schema.h"

class QHBoxLayout;
class QLabel;
class QSlider;

namespace fovea {

class FieldEditor : public QWidget {
  Q_OBJECT

 public:
  /// `n`: a slider over tokens needs go no further.
  FieldEditor(const Field& field, Index n, QWidget* parent = nullptr);

  /// Shows a value without a signal.
  void set_value(const Value& value);
  const Field& field() const { return field_; }

 signals:
  void changed(fovea::Value value);

 private:
  void make_choice(QHBoxLayout* top);
  void make_number(QHBoxLayout* top);
  void make_list(QHBoxLayout* top);
  void emit_number(double number);
  int slider_of(double number) const;
  double number_of(int position) const;

  Field field_;
  double slider_low_ = 0, slider_high_ = 1;
  QLabel* label_ = nullptr;
  QSlider* slider_ = nullptr;
  std::function<void(const Value&)> show_;
};

}  // namespace fovea
