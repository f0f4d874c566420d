#include "window/dialogs/explore_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHideEvent>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>
#include <map>

#include "figure/figure.h"
#include "io/atomic_file.h"
#include "report/head_table_files.h"
#include "report/settings_csv.h"
#include "study/background.h"
#include "sweep/sweep.h"
#include "window/dialogs/export_dialog.h"
#include "window/dialogs/heads_page.h"
#include "window/dialogs/measures_page.h"
#include "window/dialogs/measuring_footer.h"
#include "window/dialogs/pareto_page.h"
#include "window/dialogs/questions.h"
#include "window/main_window.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

const QString stop_trials = "&Stop", resume_trials = "&Go on", start_trials = "&Try again";
constexpr std::size_t most_columns = 8;  // that a rectangle may add at a time

}  // namespace

ExploreDialog::ExploreDialog(MainWindow& window)
    : QDialog(&window), window_(window), study_(window.study()), run_(window.study()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->setSpacing(rhythm);
  column->addWidget(controls_ = make_controls());
  column->addWidget(pages_ = new QTabWidget, 1);
  pages_->addTab(pareto_ = new ParetoPage, "&Error against cost");
  pages_->addTab(heads_ = new HeadsPage, "&Heads × variants");
  pages_->addTab(measures_ = new MeasuresPage(study_), "&What heads do");
  column->addWidget(not_tried_ = make_note());
  not_tried_->setObjectName("explore_not_tried");
  column->addWidget(
      footer_ = new MeasuringFooter(
          *this, "explore_state",
          {"&Copy as CSV", "Copies the points, or the table of heads", [this] { copy(); }},
          {"E&xport…",
           "The plot as PDF, SVG or PNG; the table of heads as JSON or CSV, which "
           "another program can read",
           [this] { export_by_dialog(); }},
          "Stops and keeps what was tried"));
  connect(&run_, &ExplorationRun::changed, this, &ExploreDialog::refresh);
  connect(pages_, &QTabWidget::currentChanged, this, &ExploreDialog::turn_page);
  // Times are only there if they were measured.
  connect(pareto_, &ParetoPage::quantities_chosen, this, [this] {
    if (isVisible() && run_.total() > 0 && !run_.stale() && !is_tried()) start();
    refresh();
  });
  connect(&pareto_->plot(), &ParetoPlot::settings_picked, this, &ExploreDialog::show_settings);
  connect(heads_, &HeadsPage::budget_chosen, this, &ExploreDialog::refresh_page);
  connect(heads_, &HeadsPage::trial_chosen, this, &ExploreDialog::show_trial);
  connect(measures_, &MeasuresPage::changed, this, &ExploreDialog::refresh_measures);
  connect(measures_, &MeasuresPage::head_chosen, this,
          [this](const auto& head) { window_.editor().choose_head(head.first, head.second); });
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (!isVisible()) return;
      refresh_state();
      if (!is_of_this_source()) refresh();
    });
  resize(1240, 720);
  restoreGeometry(QSettings().value("explore/geometry").toByteArray());
}

ParetoPlot& ExploreDialog::plot() {
  return pareto_->plot();
}

QTableView& ExploreDialog::heads() {
  return heads_->table();
}

ExploreDialog::~ExploreDialog() {
  run_.disconnect(this);  // ending it must not refresh this dialog
}

QWidget* ExploreDialog::make_controls() {
  auto* controls = new QWidget;
  auto* row = make_inner<QHBoxLayout>(controls);
  add_field(*row, "&Of", scope_ = new QComboBox);
  scope_->addItem("this head", int(HeadScope::head));
  scope_->addItem("all heads of this layer", int(HeadScope::layer));
  scope_->addItem("all heads of all layers", int(HeadScope::source));
  scope_->setObjectName("explore_scope");
  row->addSpacing(2 * rhythm);
  add_field(*row, "S&ettings of each variant", settings_ = new QComboBox);
  settings_->setObjectName("explore_settings");
  for (const int most : {6, 12, 40}) settings_->addItem(QString("at most %1").arg(most), most);
  settings_->setToolTip(
      "Its standard setting first, then others of its parameters, from coarse to fine");
  row->addSpacing(2 * rhythm);
  add_field(*row, "&Learned trees", learned_ = new QComboBox);
  learned_->setObjectName("explore_learned");
  learned_->addItem("none", 0);
  for (const int steps : {100, 300, 1000}) learned_->addItem(QString("%1 steps").arg(steps), steps);
  learned_->setToolTip(
      "Each setting of Treeformer also with a tree that is learned for the head, which takes "
      "seconds each. Learned trees on the canvas are always tried.");
  row->addStretch(1);
  row->addWidget(start_ = new QPushButton(start_trials));
  start_->setObjectName("explore_start");
  start_->setAutoDefault(false);
  for (QComboBox* choice : {scope_, settings_, learned_})
    connect(choice, &QComboBox::activated, this, [this] {
      if (!is_tried()) start();
    });
  connect(start_, &QPushButton::clicked, this, [this] {
    if (run_.running())
      run_.stop();
    else if (is_tried() && run_.can_resume())
      run_.resume();
    else
      start();
  });
  return controls;
}

ExploreDialog::Page ExploreDialog::page() const {
  return Page(pages_->currentIndex());
}

// Trials and measures are only wanted while their pages are seen; trials go on until they are done.
void ExploreDialog::turn_page() {
  const bool shows_measures = page() == Page::measures;
  setWindowTitle(shows_measures ? "What heads do" : "Which attention");
  controls_->setVisible(!shows_measures);
  footer_->set_outcome({});
  if (isVisible() && !shows_measures && run_.total() == 0) start();
  refresh();
  measures_->measure(isVisible() && shows_measures);
}

void ExploreDialog::open_dialog(Page page) {
  if (page == Page::heads && scope() == HeadScope::head)  // a table of one head says little
    scope_->setCurrentIndex(scope_->findData(int(HeadScope::source)));
  pages_->setCurrentIndex(int(page));
  show();
  raise();
  activateWindow();
  if (page == Page::plot)
    pareto_->plot().setFocus();
  else
    (page == Page::heads ? heads_->table() : measures_->table()).setFocus();
  if (page != Page::measures) {
    if (!is_tried())
      start();
    else
      run_.try_new_columns();
  }
  turn_page();
}

void ExploreDialog::hideEvent(QHideEvent* event) {
  if (!event->spontaneous()) {  // not only minimised by the desktop
    run_.stop();
    measures_->measure(false);
  }
  QSettings().setValue("explore/geometry", saveGeometry());
  QDialog::hideEvent(event);
}

HeadScope ExploreDialog::scope() const {
  return HeadScope(scope_->currentData().toInt());
}

ExploreOptions ExploreDialog::options() const {
  return {.most_settings = settings_->currentData().value<std::size_t>(),
          .learned_steps = learned_->currentData().toInt(),
          .timed = pareto_->x().is_timed()};
}

// Whether the trials, complete or not, are those of the present choices and source.
bool ExploreDialog::is_tried() const {
  const ExploreOptions wanted = options(), &tried = run_.options();
  return run_.total() > 0 && !run_.stale() && run_.scope() == scope() &&
         tried.most_settings == wanted.most_settings &&
         tried.learned_steps == wanted.learned_steps && (tried.timed || !wanted.timed);
}

void ExploreDialog::start() {
  pareto_->plot().choose(std::nullopt);
  footer_->set_outcome({});
  const Backend& backend = study_.backend();
  run_.start(scope(), options(), to_qt(backend.device() + ", " + backend.precision()));
  refresh();
}

QString ExploreDialog::message() const {
  if (!study_.source()) return "Nothing is open: open a head to try settings on it";
  if (study_.shows_matrix())
    return "This source holds only an attention matrix: without Q, K and V there is nothing to try";
  if (run_.waiting()) return "Waiting until the window has computed what it shows";
  if (run_.done() > 0 && run_.trials()->empty())
    return "Settings are compared as soon as the first head has tried all of the first round";
  return run_.running() ? "Trying settings…" : "No setting has both numbers";
}

QString ExploreDialog::state() const {
  if (run_.running()) {
    if (run_.waiting()) return "Waiting while the window computes";
    QString text = QString("%1 of %2 trials").arg(run_.done()).arg(run_.total());
    if (run_.stale())
      text += to_qt(" of " + to_text(run_.heads(), *run_.source())) + ", which is no longer shown";
    if (run_.seconds_left() > 1) text += QString(", %1 s left").arg(run_.seconds_left(), 0, 'f', 0);
    return text;
  }
  if (run_.total() == 0) return {};
  if (!is_of_this_source()) return "Another file was opened since";
  if (run_.stale()) return "Another head, mask, scale or back end was chosen since: try again";
  if (!run_.complete())
    return QString("Stopped after %1 of %2 trials").arg(run_.done()).arg(run_.total());
  return provenance();
}

/// "816 of 1776 trials": the trials in plot and table.
QString ExploreDialog::extent() const {
  return QString("%1 of %2 trials").arg(run_.trials()->size()).arg(run_.total());
}

/// What was refused or not tried.
QString ExploreDialog::not_tried() const {
  if (run_.trials()->empty() || !is_of_this_source()) return {};
  std::map<const Variant*, bool> refused;  // all trials of a variant were refused
  for (const Trial& trial : *run_.trials())
    refused.try_emplace(trial.variant, true).first->second &= !trial.refused.empty();
  QStringList parts, refused_everywhere;
  for (const Variant& variant : variants())
    if (const auto its = refused.find(&variant); its != refused.end() && its->second)
      refused_everywhere << to_qt(variant.label);
  if (!refused_everywhere.isEmpty()) parts << "Refused: " + refused_everywhere.join(", ");
  if (run_.options().learned_steps == 0) {
    const bool on_canvas = std::ranges::any_of(
        run_.options().own, [](const OwnSetting& own) { return own.only.has_value(); });
    parts << (on_canvas ? "Not tried: learned trees other than those on the canvas"
                        : "Not tried: learned trees");
  }
  if (run_.waits_for_trees()) parts << "Not tried: a tree of the canvas that is being learned";
  if (!run_.complete() && !run_.running())
    parts << QString("Not compared yet: %1 trials, of which %2 are done")
                 .arg(run_.total() - run_.trials()->size())
                 .arg(run_.done() - run_.trials()->size());
  return parts.join(". ");
}

QString ExploreDialog::provenance(bool names_source) const {
  const Source& source = *run_.source();
  QString text = names_source ? to_qt(source.name + ", ") : "";
  text += to_qt(to_text(run_.heads(), source)) + "; " + run_.provenance();
  if (!run_.complete()) text += "; " + extent();
  return text;
}

void ExploreDialog::refresh() {
  refresh_page();
  refresh_state();
}

// Shows nothing of another source, whose settings would become columns of this one.
void ExploreDialog::refresh_page() {
  const bool ours = is_of_this_source();
  if (page() == Page::plot || !ours) pareto_->show_trials(run_, ours, message());
  if (page() == Page::heads || !ours) heads_->show_trials(run_, ours, message());
}

void ExploreDialog::refresh_measures() {
  if (page() == Page::measures) refresh_state();
}

void ExploreDialog::refresh_state() {
  if (page() == Page::measures) {
    not_tried_->hide();
    return footer_->show_state(measures_->state());
  }
  start_->setText(run_.running()                    ? stop_trials
                  : is_tried() && run_.can_resume() ? resume_trials
                                                    : start_trials);
  start_->setEnabled(run_.running() || study_.problem());
  const double tried = double(run_.done()) / double(std::max<std::size_t>(1, run_.total()));
  const QString left_out = not_tried();
  not_tried_->setText(left_out);
  not_tried_->setVisible(!left_out.isEmpty());
  footer_->show_state({.text = state(),
                       .warns = !run_.running() && run_.stale(),
                       .progress = run_.running() ? std::optional(tried) : std::nullopt,
                       .can_export = !run_.trials()->empty() && is_of_this_source()});
}

QString ExploreDialog::message_text() const {
  return footer_->text() + "\n" + pareto_->reading();
}

void ExploreDialog::show_settings(const std::vector<std::size_t>& places) {
  if (!is_of_this_source()) return refresh();
  if (places.size() > most_columns) {
    return footer_->set_outcome(
        QString("The rectangle holds %1 settings, and at most %2 columns are added at a "
                "time: draw a smaller one")
            .arg(places.size())
            .arg(most_columns));
  }
  std::vector<Column> columns;
  for (const std::size_t place : places) {
    const SettingSpread& setting = pareto_->plot().settings()[place];
    const Column column{
        .variant = setting.variant->id, .values = setting.values, .seed = setting.seed};
    columns.push_back(column);
    if (setting.n != study_.length())
      columns.back().values = fitted_values(column, setting.n, study_.length()).values;
  }
  window_.editor().add_columns(columns);
  footer_->set_outcome(columns.size() == 1
                           ? "Shown as a column: " + to_qt(find_variant(columns[0].variant).label)
                           : QString("Shown as columns: %1 settings").arg(columns.size()));
}

void ExploreDialog::show_trial(const Trial& trial) {
  if (!is_of_this_source()) return;
  window_.editor().choose_head(trial.layer, trial.head);
  window_.editor().add_columns(
      {{.variant = trial.variant->id, .values = trial.values, .seed = trial.seed}});
}

void ExploreDialog::copy() {
  const ParetoPlot& plot = pareto_->plot();
  QApplication::clipboard()->setText(to_qt(page() == Page::plot
                                               ? to_csv(plot.settings(), plot.x(), plot.y())
                                           : page() == Page::heads ? to_csv(heads_->head_table())
                                                                   : measures_->csv()));
}

void ExploreDialog::export_by_dialog() {
  const QString part = run_.complete() ? "" : " (" + extent() + ")";
  if (page() == Page::plot) {
    const auto figure = [this](const FigureStyle& style, bool carries_session) {
      return plot_figure(style, carries_session);
    };
    if (const auto wanted =
            ask_export(*this, {"Export the plot" + part, in_export_directory("front.pdf"), figure}))
      export_plot(wanted->path, wanted->style, wanted->carries_session);
    return;
  }
  const QString path =
      page() == Page::measures
          ? ask_new_file(*this, "Export what each head does", in_export_directory("measures.json"),
                         {"JSON (*.json)", "CSV (*.csv)"})
          : ask_new_file(*this, "Export the best choice for each head" + part,
                         in_export_directory("heads.json"), {"JSON (*.json)", "CSV (*.csv)"});
  if (!path.isEmpty()) export_heads(path);
}

Figure ExploreDialog::plot_figure(const FigureStyle& style, bool carries_session) const {
  Figure figure = pareto_->plot().figure_for(style);
  figure.footer = provenance(carries_session).toStdString();
  return figure;
}

void ExploreDialog::export_plot(const QString& path, const FigureStyle& style,
                                bool carries_session) {
  remember_export(path);
  Figure figure = plot_figure(style, carries_session);
  if (carries_session) figure.recipe.session = window_.files().session_text();
  footer_->write(window_.background(), path,
                 [path = path.toStdString(), figure] { write_figure(path, figure); });
}

void ExploreDialog::export_heads(const QString& path) {
  remember_export(path);
  std::string text;
  if (page() == Page::measures) {
    text = path.endsWith(".csv") ? measures_->csv() : measures_->json();
  } else {
    Document document{{"source", run_.source()->path},
                      {"computed_on", run_.provenance().toStdString()},
                      {"trials", run_.trials()->size()},
                      {"complete", run_.complete()},
                      {"left_out", not_tried().toStdString()}};
    document.update(to_json(heads_->head_table(), *run_.source()));
    text = path.endsWith(".csv") ? to_csv(heads_->head_table()) : text_of(document, 2) + "\n";
  }
  footer_->write(window_.background(), path, [path = path.toStdString(), text] {
    write_atomically(path, [&](std::ostream& out) { out << text; });
  });
}

}  // namespace fovea

#include "moc_explore_dialog.cpp"
