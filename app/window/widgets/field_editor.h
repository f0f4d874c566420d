// A FieldEditor edits one parameter of a schema: a slider with a number, a choice, or a list.
#pragma once

#include <QWidget>
#include <functional>

#include "data/matrix.h"
#include "variants/schema.h"

class QHBoxLayout;

namespace fovea {

class Slider;

class FieldEditor : public QWidget {
  Q_OBJECT

 public:
  /// Sliders of sizes in tokens end at the first power of two that is not below `n`.
  FieldEditor(const Field& field, Index n, QWidget* parent = nullptr);

  /// Shows a value without a signal.
  void set_value(const Value& value) { show_(value); }
  const Field& field() const { return field_; }

 signals:
  void changed(fovea::Value value);
  /// The user wants the standard value for the head's length.
  void reset_requested();

 private:
  void make_choice(QHBoxLayout* top);
  void make_number(QHBoxLayout* top, Index n);
  void make_list(QHBoxLayout* top);
  void lay_out_slider(Index n);
  void emit_number(double number);
  bool is_integer() const { return std::holds_alternative<std::int64_t>(field_.standard); }

  Field field_;
  Slider* slider_ = nullptr;
  std::function<double(int position)> number_of_;
  std::function<int(double number)> position_of_;
  std::function<void(const Value&)> show_;
};

}  // namespace fovea
