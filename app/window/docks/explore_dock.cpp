#include "window/docks/explore_dock.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>
#include <functional>
#include <utility>

#include "figure/figure.h"
#include "io/atomic_file.h"
#include "report/head_table_files.h"
#include "report/settings_csv.h"
#include "study/background.h"
#include "sweep/sweep.h"
#include "window/dialogs/export_dialog.h"
#include "window/dialogs/questions.h"
#include "window/docks/exploration_words.h"
#include "window/docks/heads_page.h"
#include "window/docks/measures_page.h"
#include "window/docks/pareto_page.h"
#include "window/docks/triage_page.h"
#include "window/docks/variant_choice.h"
#include "window/widgets/form.h"
#include "window/widgets/measuring_footer.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

const QString stop_trials = "&Stop", resume_trials = "&Continue", start_trials = "&Measure again";
constexpr std::size_t most_columns = 8;  // that a rectangle may add at a time
const QString cost_setting = "explore/cost";

}  // namespace

ExploreDock::ExploreDock(Workspace& workspace)
    : workspace_(workspace),
      study_(workspace.study),
      run_(workspace.study),
      answer_{.error = Quantity("output_rel_fro", "")} {
  auto* column = make_page(*this);
  setAttribute(Qt::WA_StyledBackground);
  column->setContentsMargins(12, 4, 12, 4);
  column->setSpacing(4);
  column->addWidget(pages_ = new QTabWidget, 1);
  pages_->setDocumentMode(true);
  trials_ = new QWidget;
  auto* of_trials = make_inner<QVBoxLayout>(trials_);
  of_trials->setSpacing(4);
  of_trials->addWidget(make_controls());
  of_trials->addLayout(make_answer());
  const auto add_page = [this](QWidget* page, const char* name) {
    auto* whole = new QWidget;
    auto* below = make_inner<QVBoxLayout>(whole);
    below->setContentsMargins(0, 4, 0, 0);
    below->setSpacing(4);
    below->addWidget(page, 1);
    pages_->addTab(whole, name);
  };
  add_page(pareto_ = new ParetoPage, "&Error against cost");
  add_page(heads_ = new HeadsPage, "&Heads × variants");
  put_trials();
  pages_->addTab(measures_ = new MeasuresPage(study_), "&What heads do");
  pages_->addTab(triage_ = new TriagePage(study_), "&Triage");
  column->addWidget(
      footer_ = new MeasuringFooter(
          "explore_state",
          {"&Copy as CSV", "Copies the points, or the table of heads", [this] { copy(); }},
          {"E&xport…",
           "The plot as PDF, SVG or PNG; the table of heads as JSON or CSV, which "
           "another program can read",
           [this] { export_by_dialog(); }}));
  connect(&run_, &ExplorationRun::changed, this, &ExploreDock::refresh);
  connect(pages_, &QTabWidget::currentChanged, this, &ExploreDock::turn_page);
  connect(pareto_, &ParetoPage::quantities_chosen, this, [this] {
    if (seen_ && run_.total() > 0 && !run_.stale() && !is_tried()) start();
    refresh();
  });
  connect(&pareto_->plot(), &ParetoPlot::settings_picked, this, &ExploreDock::show_settings);
  connect(&pareto_->plot(), &ParetoPlot::budget_moved, this, &ExploreDock::set_cost);
  connect(heads_, &HeadsPage::budget_chosen, this, &ExploreDock::refresh_page);
  connect(heads_, &HeadsPage::trial_chosen, this, &ExploreDock::show_trial);
  for (MeasuringPage* its : measuring_pages()) {
    connect(its, &MeasuringPage::changed, this, &ExploreDock::refresh_state);
    connect(its, &MeasuringPage::head_chosen, this,
            [this](const auto& head) { workspace_.editor.choose_head(head.first, head.second); });
  }
  connect(triage_, &TriagePage::pattern_chosen, this, &ExploreDock::show_pattern);
  connect(triage_, &TriagePage::config_wanted, this, [this] {
    const QString path = ask_new_file(*this, "Export for MInference",
                                      in_export_directory("minference.json"), {"JSON (*.json)"});
    if (!path.isEmpty()) export_config(path);
  });
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, &ExploreDock::follow_study);
  show_budget();
}

ExploreDock::~ExploreDock() {
  run_.disconnect(this);  // ending it must not refresh this dock
  study_.disconnect(this);
}

QWidget* ExploreDock::make_controls() {
  auto* controls = new QWidget;
  auto* row = make_inner<QHBoxLayout>(controls);
  add_field(*row, "&Of", scope_ = new QComboBox);
  scope_->addItem("this head", int(HeadScope::head));
  scope_->addItem("all heads of this layer", int(HeadScope::layer));
  scope_->addItem("all heads of all layers", int(HeadScope::source));
  scope_->setObjectName("explore_scope");
  scope_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  scope_->setMinimumContentsLength(18);
  row->addWidget(variants_ = new VariantChoice);
  add_field(*row, "S&ettings", settings_ = new QComboBox);
  settings_->setObjectName("explore_settings");
  for (const int most : {6, 12, 40}) settings_->addItem(QString("at most %1").arg(most), most);
  settings_->setToolTip(
      "How many settings of each variant are tried: its standard setting first, then others of its "
      "parameters, from coarse to fine");
  add_field(*row, "Cost at &most", cost_ = new QDoubleSpinBox);
  cost_->setObjectName("explore_cost");
  cost_->setToolTip(
      "The budget of the answer, the dashed line and the table: multiply-adds as a share of those "
      "of exact attention");
  cost_->setDecimals(5);
  cost_->setRange(0, 10);
  cost_->setSingleStep(0.01);
  cost_->setValue(QSettings().value(cost_setting, standard_cost).toDouble());
  row->addStretch(1);
  connect(scope_, &QComboBox::activated, this, &ExploreDock::try_as_chosen);
  connect(settings_, &QComboBox::activated, this, &ExploreDock::try_as_chosen);
  connect(variants_, &VariantChoice::changed, this, &ExploreDock::try_as_chosen);
  connect(cost_, &QDoubleSpinBox::valueChanged, this, &ExploreDock::show_budget);
  return controls;
}

QLayout* ExploreDock::make_answer() {
  auto* row = make_inner<QHBoxLayout>();
  row->addWidget(answer_text_ = new QLabel, 1);
  answer_text_->setObjectName("explore_answer");
  answer_text_->setAccessibleName("Which attention");
  answer_text_->setWordWrap(true);
  make_selectable(*answer_text_);
  row->addWidget(start_ = new QPushButton(start_trials), 0, Qt::AlignTop);
  start_->setObjectName("explore_start");
  start_->setAutoDefault(false);
  connect(start_, &QPushButton::clicked, this, [this] {
    if (run_.running())
      run_.stop();
    else if (is_tried() && run_.can_resume())
      run_.resume();
    else
      start();
  });
  return row;
}

ExploreDock::Page ExploreDock::page() const {
  return Page(pages_->currentIndex());
}

std::array<MeasuringPage*, 2> ExploreDock::measuring_pages() const {
  return {measures_, triage_};
}

MeasuringPage* ExploreDock::measuring_page() const {
  return qobject_cast<MeasuringPage*>(pages_->currentWidget());
}

// The page that is seen goes first. Heads are measured only while their page is seen, and trials
// pause behind such a page.
void ExploreDock::turn_page() {
  MeasuringPage* measuring = measuring_page();
  if (measuring) {
    trials_paused_ |= run_.running();
    run_.stop();
  } else {
    put_trials();
    if (seen_ && std::exchange(trials_paused_, false) && run_.can_resume()) run_.resume();
  }
  footer_->set_outcome({});
  start_if_new();
  refresh();
  for (MeasuringPage* its : measuring_pages()) its->measure(seen_ && its == measuring);
}

// Below the tabs, which stay in place while one turns pages.
void ExploreDock::put_trials() {
  static_cast<QBoxLayout*>(pages_->currentWidget()->layout())->insertWidget(0, trials_);
}

void ExploreDock::set_seen(bool seen) {
  seen_ = seen;
  turn_page();
}

void ExploreDock::choose(Page page) {
  if (page == Page::heads && scope() == HeadScope::head)  // a table of one head says little
    scope_->setCurrentIndex(scope_->findData(int(HeadScope::source)));
  pages_->setCurrentIndex(int(page));
}

void ExploreDock::open() {
  switch (page()) {
    case Page::plot:
      pareto_->plot().setFocus();
      return try_as_chosen();
    case Page::heads:
      heads_->table().setFocus();
      return try_as_chosen();
    case Page::measures:
    case Page::triage:
      measuring_page()->table().setFocus();
  }
}

void ExploreDock::try_as_chosen() {
  if (!is_tried())
    start();
  else
    run_.try_new_columns();
}

void ExploreDock::stop() {
  run_.stop();
  trials_paused_ = false;
  for (MeasuringPage* its : measuring_pages()) its->measure(false);
}

// A dock that is open from the beginning tries settings as soon as there is a head.
void ExploreDock::start_if_new() {
  if (seen_ && !measuring_page() && run_.total() == 0 && study_.problem()) start();
}

void ExploreDock::follow_study() {
  if (!seen_) return;
  start_if_new();
  if (!measuring_page() && is_tried()) run_.try_new_columns();
  refresh_state();
  if (std::exchange(columns_, study_.session().columns) != columns_ || !is_of_this_source())
    refresh();
}

HeadScope ExploreDock::scope() const {
  return HeadScope(scope_->currentData().toInt());
}

ExploreOptions ExploreDock::options() const {
  return {.most_settings = settings_->currentData().value<std::size_t>(),
          .seeds = standard_seeds,
          .learned_steps = variants_->learned_steps(),
          .timed = pareto_->x().is_timed()};
}

// Whether the trials, complete or not, are those of the present choices and source.
bool ExploreDock::is_tried() const {
  const ExploreOptions wanted = options(), &tried = run_.options();
  return run_.total() > 0 && !run_.stale() && run_.scope() == scope() &&
         run_.left_out() == variants_->left_out() && tried.most_settings == wanted.most_settings &&
         tried.learned_steps == wanted.learned_steps && (tried.timed || !wanted.timed);
}

void ExploreDock::start() {
  pareto_->plot().choose(std::nullopt);
  footer_->set_outcome({});
  const std::string on = study_.backend().device() + ", " + study_.backend().precision();
  run_.start(scope(), options(), to_qt(on), variants_->left_out());
  refresh();
}

void ExploreDock::set_cost(double at_most) {
  cost_->setValue(at_most);
}

ParetoPlot& ExploreDock::plot() {
  return pareto_->plot();
}

QTableView& ExploreDock::heads() {
  return heads_->table();
}

double ExploreDock::cost() const {
  return cost_->value();
}

void ExploreDock::show_budget() {
  QSettings().setValue(cost_setting, cost());
  pareto_->show_budget(cost());
  heads_->set_cost(cost());
  if (!seen_) return;
  refresh_answer();
  if (page() == Page::heads) refresh_page();
}

QString ExploreDock::message() const {
  if (!study_.source()) return "Nothing is open: open a head to try settings on it";
  if (study_.shows_matrix())
    return "This source holds only an attention matrix: without Q, K and V there is nothing to try";
  if (run_.waiting()) return run_.waiting_text();
  const bool nothing_yet = run_.trials()->empty();
  if (run_.running())
    return run_.done() > 0 && nothing_yet
               ? "Settings are compared as soon as the first head has tried all of the first round"
               : "Trying settings…";
  if (!nothing_yet) return "No setting has both numbers";
  return run_.can_resume() ? "Stopped before settings could be compared: press Continue"
                           : "Nothing was tried: choose variants, and press Measure again";
}

void ExploreDock::refresh() {
  if (!seen_ && is_of_this_source()) return;  // it refreshes when it is shown
  refresh_page();
  refresh_answer();
  refresh_state();
}

// Shows nothing of another source, whose settings would become columns of this one.
void ExploreDock::refresh_page() {
  const bool ours = is_of_this_source();
  if (page() == Page::plot || !ours) pareto_->show_trials(run_, ours, message());
  if (page() == Page::heads || !ours) heads_->show_trials(run_, ours, message());
}

void ExploreDock::refresh_answer() {
  const auto trials = is_of_this_source() ? run_.trials() : nullptr;
  static const std::vector<Trial> none;
  answer_ = recommend(trials ? *trials : none, pareto_->y(), cost());
  for (auto* setting : {&answer_.best, &answer_.next, &answer_.near})
    if (*setting) (*setting)->own = run_.is_on_canvas(**setting);
  QString text = to_qt(to_text(answer_));
  if (!text.isEmpty() && !run_.complete()) text = "So far: " + text;
  answer_text_->setText(text.isEmpty() ? message() : text);
}

void ExploreDock::refresh_state() {
  if (const auto* its = measuring_page()) return footer_->show_state(its->state());
  start_->setText(run_.running()                    ? stop_trials
                  : is_tried() && run_.can_resume() ? resume_trials
                                                    : start_trials);
  start_->setEnabled(run_.running() || study_.problem());
  const double tried = double(run_.done()) / double(std::max<std::size_t>(1, run_.total()));
  const bool ours = is_of_this_source();
  pareto_->show_note(ours ? left_out_text(run_, plot().settings()) : QString(),
                     why_refused_text(run_));
  footer_->show_state({.text = state_text(run_, ours),
                       .warns = !run_.running() && run_.stale(),
                       .progress = run_.running() ? std::optional(tried) : std::nullopt,
                       .can_export = !run_.trials()->empty() && ours});
}

QString ExploreDock::message_text() const {
  return footer_->text() + "\n" + pareto_->reading();
}

void ExploreDock::show_settings(const std::vector<std::size_t>& places) {
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
  workspace_.editor.add_columns(columns);
  emit columns_shown();
  footer_->set_outcome(columns.size() == 1
                           ? "Shown as a column: " + to_qt(find_variant(columns[0].variant).label)
                           : QString("Shown as columns: %1 settings").arg(columns.size()));
}

void ExploreDock::show_trial(const Trial& trial) {
  if (!is_of_this_source()) return;
  workspace_.editor.choose_head(trial.layer, trial.head);
  workspace_.editor.add_columns(
      {{.variant = trial.variant->id, .values = trial.values, .seed = trial.seed}});
}

void ExploreDock::show_pattern(const std::pair<Index, Index>& head, const OwnSetting& setting) {
  workspace_.editor.choose_head(head.first, head.second);
  const Column column{.variant = setting.variant->id, .values = setting.values};
  workspace_.editor.add_columns({column});
  const auto& columns = study_.session().columns;
  const bool shown = std::ranges::find(columns, column) != columns.end();
  if (shown) emit columns_shown();
  footer_->set_outcome(shown ? "Shown as a column: " + to_qt(setting.variant->label)
                             : "There is no room for another column: remove one first");
}

void ExploreDock::copy() {
  const ParetoPlot& plot = pareto_->plot();
  QApplication::clipboard()->setText(to_qt(page() == Page::plot
                                               ? to_csv(plot.settings(), plot.x(), plot.y())
                                           : page() == Page::heads ? to_csv(heads_->head_table())
                                                                   : measuring_page()->csv()));
}

void ExploreDock::export_by_dialog() {
  const QString part = run_.complete() ? "" : " (" + extent_text(run_) + ")";
  if (page() == Page::plot) {
    const auto figure = std::bind_front(&ExploreDock::plot_figure, this);
    if (const auto wanted = ask_export(
            *this, {"Export the plot" + part, in_export_directory("front.pdf"), figure, false}))
      export_plot(wanted->path, wanted->style, wanted->carries_session);
    return;
  }
  const auto* its = measuring_page();
  const auto [title, file] =
      its ? its->words_of_export()
          : std::pair{"Export the best choice for each head" + part, QString("heads.json")};
  const QString path =
      ask_new_file(*this, title, in_export_directory(file), {"JSON (*.json)", "CSV (*.csv)"});
  if (!path.isEmpty()) export_heads(path);
}

Figure ExploreDock::plot_figure(const FigureStyle& style, bool carries_session) const {
  Figure figure = pareto_->plot().figure_for(style);
  figure.footer = provenance_text(run_, carries_session).toStdString();
  return figure;
}

void ExploreDock::export_plot(const QString& path, const FigureStyle& style, bool carries_session) {
  remember_export(path);
  Figure figure = plot_figure(style, carries_session);
  if (carries_session) figure.recipe.session = workspace_.session_text();
  footer_->write(*workspace_.background, path,
                 [path = path.toStdString(), figure] { write_figure(path, figure); });
}

void ExploreDock::export_heads(const QString& path) {
  remember_export(path);
  std::string text;
  if (const auto* its = measuring_page()) {
    text = path.endsWith(".csv") ? its->csv() : its->json();
  } else {
    Document document{{"source", run_.source()->path},
                      {"computed_on", run_.provenance().toStdString()},
                      {"trials", run_.trials()->size()},
                      {"complete", run_.complete()},
                      {"left_out", left_out_text(run_, plot().settings()).toStdString()}};
    document.update(to_json(heads_->head_table(), *run_.source()));
    text = path.endsWith(".csv") ? to_csv(heads_->head_table()) : text_of(document, 2) + "\n";
  }
  write_text(path, text);
}

void ExploreDock::export_config(const QString& path) {
  remember_export(path);
  write_text(path, triage_->config());
}

void ExploreDock::write_text(const QString& path, const std::string& text) {
  footer_->write(*workspace_.background, path, [path = path.toStdString(), text] {
    write_atomically(path, [&](std::ostream& out) { out << text; });
  });
}

}  // namespace fovea

#include "moc_explore_dock.cpp"
