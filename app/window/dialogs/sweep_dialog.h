// The SweepDialog measures the columns against n and shows the growing sweep.
#pragma once

#include <QDialog>

#include "study/sweep_run.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace fovea {

class MeasuringFooter;
class SweepPlot;
struct FigureStyle;
struct SweepFigure;
struct SweepSpot;
struct Workspace;

class SweepDialog : public QDialog {
  Q_OBJECT

 public:
  explicit SweepDialog(Workspace& workspace);
  ~SweepDialog() override;

  /// Measures, unless the sweep is complete and of the present head and columns.
  void open_dialog();
  /// Writes the figure in the background; the dialog then says how it ended.
  void export_to(const QString& path, const FigureStyle& style, bool carries_session = true);
  void copy_table();
  SweepRun& run() { return run_; }
  SweepPlot& plot() { return *plot_; }
  /// The text below the plots.
  QString message_text() const;

 protected:
  void hideEvent(QHideEvent* event) override;

 private:
  QLayout* make_controls();
  SweepLimits limits() const;
  void measure();
  void refresh();
  void refresh_state();
  void refresh_lengths();
  bool any_point() const;
  QString message() const;
  QString state() const;
  void read(std::optional<SweepSpot> spot);
  void export_by_dialog();
  SweepFigure figure_for(const FigureStyle& style, bool carries_session) const;

  Workspace& workspace_;
  Study& study_;
  SweepRun run_;
  SweepLimits measured_;  // of the last sweep
  QString unnamed_;       // its provenance without the name of the source
  QComboBox *time_, *longest_, *allowed_;
  QPushButton* measure_;
  SweepPlot* plot_;
  QLabel* reading_;
  MeasuringFooter* footer_;
};

}  // namespace fovea
