#include "window/docks/effect_dock.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "data/error.h"
#include "effect/effect_figure.h"
#include "effect/effect_json.h"
#include "io/atomic_file.h"
#include "window/dialogs/questions.h"
#include "window/docks/effect_grid.h"
#include "window/docks/effect_plot.h"
#include "window/docks/effect_readings.h"
#include "window/docks/sequence_view.h"
#include "window/files.h"
#include "window/widgets/breaking_row.h"
#include "window/widgets/form.h"
#include "window/widgets/readings.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

constexpr int soon_ms = 400;  // after the last change, until it is measured

/// By how much the loss after each token grows; for a model without a loss, how far the last hidden
/// state of the token moves.
std::vector<float> harm_of(const ModelEffect& effect) {
  std::vector<float> harm(effect.tokens);
  for (std::size_t i = 0; i < std::min(effect.loss.size(), harm.size()); ++i)
    harm[i] = float(std::max(0.0, effect.loss[i] - effect.exact_loss[i]));
  if (effect.loss.empty())
    for (std::size_t i = 0; i < std::min(effect.token_drift.size(), harm.size()); ++i)
      harm[i] = float(effect.token_drift[i]);
  return harm;
}

/// The ground of the dock behind what scrolls.
void show_ground(QScrollArea& scroll) {
  scroll.viewport()->setAutoFillBackground(false);
  scroll.widget()->setAutoFillBackground(false);
}

QString likely_words(const std::vector<LikelyToken>& tokens) {
  QStringList words;
  for (const LikelyToken& token : tokens)
    words << to_qt(token.label) + " " + to_qt(format_percent(token.chance));
  return words.join(", ");
}

}  // namespace

EffectDock::EffectDock(Study& study, SessionEditor& editor, EffectRun& run)
    : study_(study), editor_(editor), run_(run), soon_(new QTimer(this)) {
  setObjectName("dock_page");
  setAttribute(Qt::WA_StyledBackground);
  soon_->setSingleShot(true);
  soon_->setInterval(soon_ms);
  connect(soon_, &QTimer::timeout, this, [this] {
    if (!wants_measuring()) return;
    tried_ = {run_.part(), run_.address()};
    run_.measure();
  });
  auto* page = new QVBoxLayout(this);
  page->setContentsMargins(rhythm, rhythm / 2, rhythm, rhythm / 2);
  page->setSpacing(rhythm / 2);
  page->addWidget(make_controls());
  page->addWidget(state_ = make_note());
  state_->setObjectName("effect_state");
  auto* parts = new QSplitter(Qt::Horizontal);
  parts->addWidget(make_grid());
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* table = new QWidget;
  auto* column = make_inner<QVBoxLayout>(table);
  column->addWidget(numbers_ = new Readings("Effect in the model"));
  column->addStretch();
  scroll->setWidget(table);
  show_ground(*scroll);
  constexpr int least = 256;  // of names, numbers with intervals, and those of exact attention
  scroll->setMinimumWidth(least);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  parts->addWidget(scroll);
  parts->addWidget(make_plot());
  parts->addWidget(make_text());
  parts->setSizes({220, 300, 280, 360});
  page->addWidget(parts, 1);
  connect(&run, &EffectRun::changed, this, &EffectDock::refresh);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study, signal, this, &EffectDock::follow);
  refresh();
}

QWidget* EffectDock::make_controls() {
  auto* controls = new BreakingRow;
  auto* row = controls->add_group();
  const auto button = [&](const QString& text, const char* name, const QString& tip) {
    auto* made = new QPushButton(text);
    made->setObjectName(name);
    made->setToolTip(tip);
    row->addWidget(made);
    return made;
  };
  add_field(*row, "&Replaced heads", heads_ = new QLineEdit);
  heads_->setObjectName("effect_heads");
  heads_->setMinimumWidth(130);
  heads_->setToolTip(
      "Layers such as 25-29, heads such as 3.1,4.*, or all; or paint the cells of the grid");
  connect(heads_, &QLineEdit::editingFinished, this, &EffectDock::enter_heads);
  measure_ = button("Measure", "effect_measure",
                    "Measure the selected column in these heads; while this dock is shown, each "
                    "change is measured by itself");
  connect(measure_, &QPushButton::clicked, this,
          [this] { run_.running() ? run_.stop() : run_.measure(); });
  row->addSpacing(rhythm);
  row->addWidget(units_ = new QComboBox);
  units_->setObjectName("effect_units");
  units_->addItems({"layer by layer", "head by head"});
  units_->setAccessibleName("What is replaced alone");
  alone_ = button("Which matter", "effect_alone",
                  "Replace each of these layers or heads alone, and colour the grid by the change");
  connect(alone_, &QPushButton::clicked, this, [this] {
    colours_->setCurrentIndex(int(EffectGrid::Colours::change));
    run_.measure_alone(units_->currentIndex() == 0 ? UnitKind::layer : UnitKind::head);
  });
  row = controls->add_group();
  row->addWidget(budget_of_ = new QComboBox);
  budget_of_->setObjectName("effect_budget_of");
  budget_of_->addItems({"change at most", "cost at most"});
  budget_of_->setAccessibleName("What the budget is of");
  row->addWidget(budget_ = new QDoubleSpinBox);
  budget_->setObjectName("effect_budget");
  budget_->setAccessibleName("Budget");
  budget_->setDecimals(3);
  budget_->setRange(0.001, 100);
  budget_->setSingleStep(0.01);
  budget_->setToolTip(
      "By how much the loss per token may grow, or how far the last hidden states may move: at "
      "first a quarter of what the selected column changes in the chosen heads. Or which share of "
      "exact attention's multiply-adds may remain.");
  connect(budget_, &QDoubleSpinBox::valueChanged, this, [this] { own_budget_ = true; });
  connect(budget_of_, &QComboBox::activated, this, [this] {
    own_budget_ = false;
    propose_budget();
  });
  propose_budget();
  policy_ = button("Find a policy", "effect_policy",
                   "Choose a column of the canvas, or exact attention, for each of these layers or "
                   "heads, within the budget; checked by whole forward passes");
  connect(policy_, &QPushButton::clicked, this, &EffectDock::find_policy);
  open_ = button("Open…", "effect_open", "Measure the policy of a file");
  connect(open_, &QPushButton::clicked, this, &EffectDock::open_by_dialog);
  export_ = button("Export…", "effect_export",
                   "Write the figure, or the policy as JSON, which fovea effect --policy and "
                   "fovea.replace of Python read");
  connect(export_, &QPushButton::clicked, this, &EffectDock::export_by_dialog);
  row->addStretch();
  return controls;
}

QWidget* EffectDock::make_grid() {
  auto* side = new QWidget;
  auto* column = make_inner<QVBoxLayout>(side);
  column->setSpacing(2);
  column->addWidget(colours_ = new QComboBox);
  colours_->setObjectName("effect_colours");
  colours_->setAccessibleName("Colours of the grid");
  colours_->addItems({"Replaced heads", "Change of each alone", "Policy"});
  column->addWidget(grid_ = new EffectGrid(run_), 1);
  column->addWidget(scale_ = make_note());
  scale_->setObjectName("effect_scale");
  scale_->setTextFormat(Qt::RichText);
  connect(colours_, &QComboBox::currentIndexChanged, grid_, [this](int index) {
    grid_->set_colours(EffectGrid::Colours(index));
    scale_->setText(grid_->scale());
  });
  return side;
}

QWidget* EffectDock::make_plot() {
  auto* side = new QWidget;
  auto* column = make_inner<QVBoxLayout>(side);
  column->setSpacing(2);
  column->addWidget(shown_ = new QComboBox);
  shown_->setObjectName("effect_shown");
  shown_->setAccessibleName("Curve");
  shown_->addItems({"Drift over layers", "Replaced layers", "Policies"});
  column->addWidget(plot_ = new EffectPlot(run_), 1);
  connect(shown_, &QComboBox::currentIndexChanged, plot_,
          [this](int index) { plot_->show_curve(EffectPlot::Shown(index)); });
  return side;
}

QWidget* EffectDock::make_text() {
  auto* side = new QWidget;
  auto* column = make_inner<QVBoxLayout>(side);
  column->setSpacing(2);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(text_ = new SequenceView(study_, editor_, SequenceView::Side::queries));
  show_ground(*scroll);
  text_->setObjectName("effect_tokens");
  column->addWidget(scroll, 1);
  column->addWidget(token_ = make_note());
  token_->setObjectName("effect_token");
  connect(text_, &SequenceView::query_hovered, this, &EffectDock::say_token);
  return side;
}

void EffectDock::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  follow();
  refresh();
}

/// What is chosen is measured once by itself, and stops nothing that was asked for. After a stop or
/// an error it is not tried again until something else is chosen.
bool EffectDock::wants_measuring() const {
  if (!isVisible() || study_.paused() || !run_.obstacle().isEmpty()) return false;
  if (run_.running() && run_.task() != EffectRun::Task::column) return false;
  if (tried_ == Tried{run_.part(), run_.address()}) return false;
  return run_.stale() || !run_.found().effect;
}

void EffectDock::follow() {
  if (!isVisible()) return;
  if (wants_measuring()) soon_->start();
  refresh();
}

void EffectDock::refresh() {
  const QString obstacle = run_.obstacle();
  const auto& chosen = run_.chosen();
  const EffectRun::Found& found = run_.found();
  if (!heads_->isModified()) {
    const QSignalBlocker quiet(heads_);
    heads_->setText(chosen ? to_qt(chosen->text()) : QString());
  }
  for (QWidget* widget : std::initializer_list<QWidget*>{heads_, units_, budget_of_, budget_,
                                                         policy_, open_, colours_, grid_})
    widget->setEnabled(chosen.has_value());
  measure_->setText(run_.running() ? "Stop" : "Measure");
  measure_->setEnabled(run_.running() || obstacle.isEmpty());
  alone_->setEnabled(obstacle.isEmpty());
  export_->setEnabled(found.effect.has_value());
  QString state = obstacle;
  if (run_.running())
    state = run_.doing();
  else if (run_.task() == EffectRun::Task::policy && found.search && found.search->complete() &&
           !found.search->best())
    state = "No policy of these columns stays within the budget: raise it, or add columns";
  else if (found.effect && !run_.stale())
    state = to_qt(found.title + ": " + name_of_change(*found.effect)) + " " +
            (found.effect->loss_per_token ? "grows by " : "move by ") +
            number_text(found.effect->change());
  else if (found.effect && obstacle.isEmpty())
    state = "The column or the heads have changed since";
  state_->setText(state);
  propose_budget();
  if (!isVisible()) return;
  show_numbers();
  show_text();
  if (wants_measuring() && !soon_->isActive()) soon_->start();
}

void EffectDock::show_numbers() {
  const auto& effect = run_.found().effect;
  scale_->setText(grid_->scale());
  numbers_->set_rows(effect ? readings_of(*effect, run_.found().is_policy ? "policy" : "replaced")
                            : std::vector<Reading>());
}

/// Until a person chooses a budget it suits what was measured: what is far below the change of any
/// layer alone finds nothing.
void EffectDock::propose_budget() {
  if (own_budget_) return;
  constexpr double share = 0.25, least_change = 0.02, usual_cost = 0.25;
  const EffectRun::Found& found = run_.found();
  if (found.effect && !found.is_policy && !run_.stale())
    if (const double change = share * found.effect->change(); std::isfinite(change))
      proposed_change_ = std::max(least_change, change);
  const QSignalBlocker quiet(budget_);
  budget_->setValue(budget_of_->currentIndex() == 0 ? proposed_change_ : usual_cost);
}

void EffectDock::show_text() {
  const auto source = study_.source();
  const auto& effect = run_.found().effect;
  const bool is_model = source && run_.chosen();
  text_->setVisible(is_model && effect);
  if (!is_model || !effect) return token_->clear();
  text_->set_source(source);
  text_->set_layer(study_.session().layer);
  text_->set_numbers(harm_of(*effect));
  if (token_->text().isEmpty())
    token_->setText(effect->loss.empty()
                        ? "Shaded: how far the last hidden state of each token moves"
                        : "Shaded: how much worse the next token is predicted after it");
}

void EffectDock::say_token(Index token) {
  const auto& effect = run_.found().effect;
  if (!effect) return;
  const auto i = static_cast<std::size_t>(token);
  QString text;
  if (token >= 0 && i < effect->loss.size()) {
    text = QString("Next token: loss %1, exact %2")
               .arg(number_text(effect->loss[i]), number_text(effect->exact_loss[i]));
    if (i < effect->likeliest.size() && i < effect->exact_likeliest.size())
      text += "\nreplaced: " + likely_words(effect->likeliest[i]) +
              "\nexact: " + likely_words(effect->exact_likeliest[i]);
  } else if (token >= 0 && i < effect->token_drift.size()) {
    text = "Its last hidden state moves by " + number_text(effect->token_drift[i]);
  }
  token_->setText(text);
  if (text.isEmpty()) show_text();
}

void EffectDock::enter_heads() {
  const auto& chosen = run_.chosen();
  if (!chosen || heads_->text().toStdString() == chosen->text()) return;
  try {
    run_.choose(
        ChosenHeads(heads_->text().trimmed().toStdString(), chosen->layers(), chosen->heads()));
  } catch (const Error& error) {  // it stays, to be corrected
    emit study_.reported(error.what());
    heads_->setModified(true);
  }
  refresh();
}

void EffectDock::find_policy() {
  std::vector<ReplacedPart> candidates = run_.candidates();
  if (candidates.empty())
    return state_->setText("No column of the canvas can take the place of exact attention");
  colours_->setCurrentIndex(int(EffectGrid::Colours::policy));
  shown_->setCurrentIndex(int(EffectPlot::Shown::policies));
  const double limit = budget_->value();
  const PolicyBudget budget = budget_of_->currentIndex() == 0
                                  ? PolicyBudget{.change = limit, .cost = {}}
                                  : PolicyBudget{.change = {}, .cost = std::min(limit, 1.0)};
  run_.find_policy(std::move(candidates), budget,
                   units_->currentIndex() == 0 ? UnitKind::layer : UnitKind::head);
}

QString EffectDock::write_to(const QString& path) const {
  const EffectRun::Found& found = run_.found();
  if (!found.effect || !run_.chosen()) return "nothing is measured yet";
  const Index layers = run_.chosen()->layers(), heads = run_.chosen()->heads();
  try {
    if (path.endsWith(".json")) {
      const MeasuredPolicy* best = found.search ? found.search->best() : nullptr;
      const bool searched = found.is_policy && best && best->parts == found.parts;
      const PolicyBudget budget = searched ? found.search->budget() : PolicyBudget();
      const Document policy =
          policy_json({found.parts, *found.effect}, layers, heads, budget, run_.address());
      write_atomically(path.toStdString(), text_of(policy, 1) + "\n");
      return {};
    }
    const Figure figure = effect_figure({.effect = *found.effect,
                                         .parts = found.parts,
                                         .layers = layers,
                                         .heads = heads,
                                         .curve = &found.curve,
                                         .curve_title = found.title_of,
                                         .search = found.search ? &*found.search : nullptr,
                                         .alone = found.alone ? &*found.alone : nullptr});
    write_figure(path.toStdString(), figure);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void EffectDock::export_by_dialog() {
  const QString path =
      ask_new_file(*this, "Export the effect", in_export_directory("effect.pdf"),
                   {"PDF (*.pdf)", "SVG (*.svg)", "PNG (*.png)", "PGF (*.pgf)", "Policy (*.json)"});
  if (path.isEmpty()) return;
  remember_export(path);
  const QString why = write_to(path);
  if (!why.isEmpty()) emit study_.reported(why);
  state_->setText(why.isEmpty() ? "Wrote " + path : why);
}

void EffectDock::open_by_dialog() {
  const QString path = QFileDialog::getOpenFileName(this, "Open a policy", in_last_directory({}),
                                                    "Policies (*.json)");
  if (path.isEmpty()) return;
  if (const QString why = open_policy(path); !why.isEmpty()) emit study_.reported(why);
}

QString EffectDock::open_policy(const QString& path) {
  const auto& chosen = run_.chosen();
  if (!chosen) return "Open a model first: a policy says which attention its heads have";
  try {
    auto parts = read_policy(path.toStdString(), chosen->layers(), chosen->heads());
    colours_->setCurrentIndex(int(EffectGrid::Colours::policy));
    run_.measure_policy(std::move(parts), "the policy of " + path.toStdString());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace fovea

#include "moc_effect_dock.cpp"
