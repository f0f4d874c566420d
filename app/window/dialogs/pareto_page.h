// A ParetoPage plots the settings that were tried, with the choice of error and cost above and the
// words for the chosen setting below.
#pragma once

#include <QWidget>
#include <vector>

#include "sweep/pareto.h"
#include "window/dialogs/pareto_plot.h"

class QComboBox;
class QLabel;

namespace fovea {

class ExplorationRun;

class ParetoPage : public QWidget {
  Q_OBJECT

 public:
  ParetoPage();

  /// The chosen cost; the chosen error.
  Quantity x() const;
  Quantity y() const;
  ParetoPlot& plot() { return *plot_; }
  /// `message` says why there is nothing to plot.
  void show_trials(const ExplorationRun& run, bool of_this_source, const QString& message);
  /// The words for the chosen setting.
  QString reading() const;

 signals:
  void quantities_chosen();

 private:
  void offer_errors(bool of_outputs);
  void read_setting();

  QComboBox *x_, *y_;
  ParetoPlot* plot_;
  QLabel* reading_;
};

}  // namespace fovea
