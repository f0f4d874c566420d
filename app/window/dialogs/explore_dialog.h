// The ExploreDialog tries settings of all variants and shows which to use: error against cost as a
// plot, and the best choice for each head as a table. Beside them it shows what each head does.
#pragma once

#include <QDialog>

#include "study/exploration_run.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;
class QTabWidget;

namespace fovea {

class HeadsPage;
class MainWindow;
class MeasuresPage;
class MeasuringFooter;
class ParetoPage;
class ParetoPlot;
struct Figure;
struct FigureStyle;

class ExploreDialog : public QDialog {
  Q_OBJECT

 public:
  enum class Page { plot, heads, measures };

  explicit ExploreDialog(MainWindow& window);
  ~ExploreDialog() override;

  /// Tries settings, unless all were tried on the present heads; or measures what heads do.
  void open_dialog(Page page);
  /// Writes the plot in the background; the dialog then says how it ended.
  void export_plot(const QString& path, const FigureStyle& style, bool carries_session = true);
  /// The table of heads that is shown, .json or .csv.
  void export_heads(const QString& path);
  void copy();
  ExplorationRun& run() { return run_; }
  ParetoPlot& plot();
  QTableView& heads();
  MeasuresPage& measures() { return *measures_; }
  /// The text below plot and table.
  QString message_text() const;

 protected:
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* make_controls();
  Page page() const;
  void turn_page();
  ExploreOptions options() const;
  HeadScope scope() const;
  bool is_tried() const;
  bool is_of_this_source() const { return run_.source() == study_.source(); }
  void start();
  void refresh();
  void refresh_page();
  void refresh_state();
  QString message() const;
  QString state() const;
  void refresh_measures();
  QString extent() const;
  QString not_tried() const;
  QString provenance(bool names_source = true) const;
  void show_settings(const std::vector<std::size_t>& places);
  void show_trial(const Trial& trial);
  void export_by_dialog();
  Figure plot_figure(const FigureStyle& style, bool carries_session) const;

  MainWindow& window_;
  Study& study_;
  ExplorationRun run_;
  QTabWidget* pages_;
  QWidget* controls_;  // of trials
  QComboBox *scope_, *settings_, *learned_;
  QLabel* not_tried_;
  QPushButton* start_;
  ParetoPage* pareto_;
  HeadsPage* heads_;
  MeasuresPage* measures_;
  MeasuringFooter* footer_;
};

}  // namespace fovea
