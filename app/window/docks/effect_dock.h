// The EffectDock shows what the selected column's variant does to the opened model's own output:
// the grid of heads, the numbers, curves over layers, and the text shaded by what each token loses.
#pragma once

#include <QWidget>

#include "study/effect_run.h"
#include "study/session_editor.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTimer;

namespace fovea {

class EffectGrid;
class EffectPlot;
class Readings;
class SequenceView;

class EffectDock : public QWidget {
  Q_OBJECT

 public:
  EffectDock(Study& study, SessionEditor& editor, EffectRun& run);

  /// What was measured, as a figure, or as a policy if the name ends in .json. Returns why it
  /// cannot be written; empty if it was.
  QString write_to(const QString& path) const;
  /// Measures the policy of a file. Returns why not; empty if it does.
  QString open_policy(const QString& path);

  QSize sizeHint() const override { return {900, 240}; }
  QSize minimumSizeHint() const override { return {480, 120}; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_controls();
  QWidget* make_grid();
  QWidget* make_plot();
  QWidget* make_text();
  void refresh();
  void show_numbers();
  void show_text();
  void propose_budget();
  void say_token(Index token);
  void follow();
  bool wants_measuring() const;
  void enter_heads();
  void find_policy();
  void export_by_dialog();
  void open_by_dialog();

  Study& study_;
  SessionEditor& editor_;
  EffectRun& run_;
  QLineEdit* heads_;
  QPushButton *measure_, *alone_, *policy_, *open_, *export_;
  QComboBox *budget_of_, *units_, *colours_, *shown_;
  QDoubleSpinBox* budget_;
  bool own_budget_ = false;  // a person has chosen it
  double proposed_change_ = 0.02;
  QLabel *state_, *token_, *scale_;
  EffectGrid* grid_;
  Readings* numbers_;
  EffectPlot* plot_;
  SequenceView* text_;
  QTimer* soon_;  // until the effect of what has changed is measured
  /// A part and the address of a model.
  using Tried = std::pair<std::optional<ReplacedPart>, std::string>;
  Tried tried_;  // what was measured last by itself
};

}  // namespace fovea
