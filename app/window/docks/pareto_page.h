// A ParetoPage plots the settings that were tried. Beside the plot are the choice of error and
// cost, the words for the chosen setting and what is not shown.
#pragma once

#include <QWidget>
#include <vector>

#include "sweep/pareto.h"
#include "window/docks/pareto_plot.h"

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
  /// The budget, as a share of exact attention's cost.
  void show_budget(double at_most);
  /// A note below the others, with a tool tip.
  void show_note(const QString& note, const QString& tip);
  /// The words for the chosen setting.
  QString reading() const;

 signals:
  void quantities_chosen();

 private:
  QWidget* make_side();
  void offer_errors(bool of_outputs);
  void show_line();
  void read_setting();

  QComboBox *x_, *y_;
  ParetoPlot* plot_;
  QLabel *reading_, *caption_, *note_;
  double at_most_ = 0;
};

}  // namespace fovea
