// The ColumnDock is all about the selected column, in folds: the answer, the selected
// rectangle if there is one, where it fails, its parameters, what is under the pointer, and all
// measures.
#pragma once

#include <QWidget>

class QCheckBox;
class QLabel;

namespace fovea {

class AnswerBox;
class FailureBox;
class Fold;
class PointerBox;
class LearningBox;
class LearningRun;
class ParameterForm;
class Readings;
class SessionEditor;
class Study;
struct Column;
struct ColumnState;
struct HeadState;

class ColumnDock : public QWidget {
  Q_OBJECT

 public:
  ColumnDock(Study& study, SessionEditor& editor, LearningRun& learning);

  FailureBox& failure() { return *failure_; }
  /// Whether spans that lost attention are in view.
  bool shows_failure() const;

 signals:
  /// shows_failure() may have changed.
  void failure_visibility_changed();

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* make_parameters(LearningRun& learning);
  QWidget* make_measures();
  void refresh();
  void show_held(const Column& column, const HeadState& head);
  void show_measures(const ColumnState& state);

  Study& study_;
  SessionEditor& editor_;
  QLabel *nothing_, *name_, *summary_, *formula_, *paper_;
  QWidget* contents_;
  AnswerBox* answer_;
  FailureBox* failure_;
  PointerBox* pointer_;
  ParameterForm* form_;
  LearningBox* learning_;
  QCheckBox* hold_;
  Readings* measures_;
  Fold *failure_fold_, *parameters_fold_, *measures_fold_;
};

}  // namespace fovea
