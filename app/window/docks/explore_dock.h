// The ExploreDock tries settings of all variants and answers which to use: in a sentence, as a plot
// of error against cost, and as a table with the best choice for each head. Beside them it shows
// what each head does.
#pragma once

#include <QWidget>
#include <array>

#include "study/exploration_run.h"
#include "sweep/recommendation.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;
class QTableView;
class QTabWidget;

namespace fovea {

class HeadsPage;
class MeasuresPage;
class MeasuringFooter;
class MeasuringPage;
class ParetoPage;
class ParetoPlot;
class TriagePage;
class VariantChoice;
struct Figure;
struct FigureStyle;
struct Workspace;

class ExploreDock : public QWidget {
  Q_OBJECT

 public:
  enum class Page { plot, heads, measures, triage };

  explicit ExploreDock(Workspace& workspace);
  ~ExploreDock() override;

  /// Turns to a page without trying anything.
  void choose(Page page);
  /// Tries settings, unless all were tried on the present heads; or measures all heads. The
  /// page is the chosen one, and the dock is shown already.
  void open();
  /// Whether a person sees it: it is not closed or behind another dock.
  void set_seen(bool seen);
  bool is_seen() const { return seen_; }
  /// Stops trying and measuring. What was tried is kept.
  void stop();
  /// Chooses a budget: a share of exact attention's cost.
  void set_cost(double at_most);
  double cost() const;
  const Recommendation& answer() const { return answer_; }
  /// Writes the plot in the background; the dock then says how it ended.
  void export_plot(const QString& path, const FigureStyle& style, bool carries_session = true);
  /// The table of heads that is shown, .json or .csv.
  void export_heads(const QString& path);
  /// The patterns of heads, as the configuration that MInference reads.
  void export_config(const QString& path);
  void copy();
  ExplorationRun& run() { return run_; }
  ParetoPlot& plot();
  QTableView& heads();
  MeasuresPage& measures() { return *measures_; }
  TriagePage& triage() const { return *triage_; }
  /// The text below plot and table.
  QString message_text() const;

 signals:
  /// Columns were added to what is shown.
  void columns_shown();

 private:
  QWidget* make_controls();
  QLayout* make_answer();
  Page page() const;
  /// The pages that measure all heads themselves.
  std::array<MeasuringPage*, 2> measuring_pages() const;
  /// The page that is turned to, if it is one of them.
  MeasuringPage* measuring_page() const;
  void turn_page();
  void put_trials();
  ExploreOptions options() const;
  HeadScope scope() const;
  bool is_tried() const;
  bool is_of_this_source() const { return run_.source() == study_.source(); }
  void start();
  void start_if_new();
  void try_as_chosen();
  void follow_study();
  void refresh();
  void refresh_page();
  void refresh_answer();
  void refresh_state();
  void show_budget();
  QString message() const;
  void show_settings(const std::vector<std::size_t>& places);
  void show_trial(const Trial& trial);
  void show_pattern(const std::pair<Index, Index>& head, const OwnSetting& setting);
  void write_text(const QString& path, const std::string& text);
  void export_by_dialog();
  Figure plot_figure(const FigureStyle& style, bool carries_session) const;

  Workspace& workspace_;
  Study& study_;
  ExplorationRun run_;
  bool seen_ = false;
  Recommendation answer_;
  std::vector<Column> columns_;  // of the canvas, as they were last
  QTabWidget* pages_;
  QWidget* trials_;             // their controls and their answer, on the page that shows them
  bool trials_paused_ = false;  // behind another page
  QComboBox *scope_, *settings_;
  VariantChoice* variants_;
  QDoubleSpinBox* cost_;
  QLabel* answer_text_;
  QPushButton* start_;
  ParetoPage* pareto_;
  HeadsPage* heads_;
  MeasuresPage* measures_;
  TriagePage* triage_;
  MeasuringFooter* footer_;
};

}  // namespace fovea
