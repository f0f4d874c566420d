// The VariantDock is a form made from the selected column's schema, with its paper, its notes and
// how far it is from exact attention.
#pragma once

#include <QWidget>
#include <vector>

#include "study/study.h"
#include "window/widgets/readings.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace fovea {

class FieldEditor;

class VariantDock : public QWidget {
  Q_OBJECT

 public:
  explicit VariantDock(Study& study, QWidget* parent = nullptr);
  void refresh();

 signals:
  void column_requested(int index, fovea::Column column);

 private:
  void show_matrix(bool alone);
  void rebuild(const Column& column);
  void request_change(std::function<void(Column&)> change);
  void refresh_notes(const ColumnState& state);
  void refresh_comparison(const ColumnState& state);

  Study& study_;
  std::string shown_variant_;
  Index shown_n_ = 0;
  QLabel *name_, *summary_, *formula_, *paper_, *notes_, *comparison_note_, *comparison_heading_;
  QWidget *form_, *seed_row_;
  QVBoxLayout* form_layout_;
  QLineEdit* seed_;
  QPushButton* reset_;
  std::vector<FieldEditor*> editors_;
  Readings* comparison_;
};

}  // namespace fovea
