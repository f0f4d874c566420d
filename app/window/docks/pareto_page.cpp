#include "window/docks/pareto_page.h"

#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStandardItemModel>

#include "study/exploration_run.h"
#include "sweep/recommendation.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString value_text(const Quantity& quantity, double value) {
  return to_qt(to_text(quantity.measure(), Measured{.value = value}));
}

QString spread_text(const Quantity& quantity, const Spread& spread, bool several) {
  QString out = to_qt(quantity.measure().label) + " " + value_text(quantity, spread.median);
  if (several && spread.p10 < spread.p90)
    out += QString(" (%1 – %2)")
               .arg(value_text(quantity, spread.p10), value_text(quantity, spread.p90));
  return out;
}

/// How sure the error is.
QString sure_text(const SettingSpread& setting, const Quantity& y) {
  const QString over = to_qt(interval_text(setting, y));
  if (!setting.interval) return over;
  return QString("95 % interval over %1: %2 – %3")
      .arg(over, value_text(y, setting.interval->low), value_text(y, setting.interval->high));
}

/// The words for a point, a line each.
QString setting_reading(const SettingSpread& setting, const Quantity& x, const Quantity& y) {
  const bool several = setting.heads > 1;
  QStringList lines{to_qt(setting_name(setting)), spread_text(y, setting.y, several),
                    spread_text(x, setting.x, several), sure_text(setting, y)};
  if (several) lines << to_qt("medians of " + plural(setting.heads, "head") + " (p10 – p90)");
  if (setting.own) lines << "a column of the canvas";
  if (setting.on_front) lines << "on the Pareto front";
  if (!setting.on_all_heads && !x.is_parameter())
    lines << "measured on fewer or other heads, so not compared";
  if (setting.few_runs) lines << QString("a time of fewer than %1 runs").arg(enough_samples);
  if (setting.slow) lines << "measured on a slowed machine";
  for (const std::string& note : setting.notes) lines << to_qt(note);
  return lines.join("\n");
}

void add_measures(QComboBox& choice, const std::vector<const char*>& ids) {
  for (const char* id : ids) {
    const Measure& measure = Quantity(id, "").measure();
    choice.addItem(to_qt(measure.label), QString(id));
    choice.setItemData(choice.count() - 1, to_qt(measure.definition), Qt::ToolTipRole);
  }
}

Quantity chosen_quantity(const QComboBox& choice) {
  return {choice.currentData().toString().toStdString(), ""};
}

}  // namespace

ParetoPage::ParetoPage() {
  auto* row = make_inner<QHBoxLayout>(this);
  row->addWidget(plot_ = new ParetoPlot, 1);
  row->addWidget(make_side());
  for (QComboBox* choice : {x_, y_})
    connect(choice, &QComboBox::currentIndexChanged, this, &ParetoPage::quantities_chosen);
  connect(plot_, &ParetoPlot::setting_chosen, this, &ParetoPage::read_setting);
  connect(plot_, &ParetoPlot::zoomed, this, [this] { caption_->setText(plot_->caption()); });
}

QWidget* ParetoPage::make_side() {
  auto* side = new QWidget;
  auto* column = make_page(*side);
  column->setContentsMargins(0, 0, rhythm, 0);
  const auto add = [&](const QString& name, QComboBox*& choice) {
    auto* row = make_inner<QHBoxLayout>();
    add_field(*row, name, choice = new QComboBox, 0, 1);
    choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    column->addLayout(row);
  };
  add("E&rror", y_);
  add_measures(*y_, {"output_rel_fro", "row_rel_error_p90", "row_rel_error_max", "attention_tv",
                     "attention_kl", "attention_rel_fro", "mass_kept"});
  add("C&ost", x_);
  add_measures(*x_, {"ratio_to_exact", "multiply_adds", "bytes", "total_ms", "apply_ms"});
  column->addWidget(reading_ = new QLabel);
  reading_->setObjectName("explore_reading");
  reading_->setAccessibleName("Chosen setting");
  reading_->setWordWrap(true);
  make_selectable(*reading_);
  column->addWidget(caption_ = make_note());
  column->addWidget(note_ = make_note());
  note_->setObjectName("explore_not_tried");
  column->addStretch(1);
  constexpr int width = 300;
  QScrollArea* scroll = scrolled(side, width);
  scroll->setFixedWidth(width);
  return scroll;
}

Quantity ParetoPage::x() const {
  return chosen_quantity(*x_);
}

Quantity ParetoPage::y() const {
  return chosen_quantity(*y_);
}

void ParetoPage::show_trials(const ExplorationRun& run, bool of_this_source,
                             const QString& message) {
  offer_errors(!of_this_source || !lack_values(run.heads()));
  const auto& trials = of_this_source ? *run.trials() : std::vector<Trial>();
  auto settings = settings_over_heads(trials, x(), y());
  for (SettingSpread& setting : settings) setting.own = run.is_on_canvas(setting);
  plot_->show_settings(std::move(settings), x(), y(), message);
  show_line();
  read_setting();
}

void ParetoPage::show_budget(double at_most) {
  at_most_ = at_most;
  show_line();
}

void ParetoPage::show_line() {
  const bool of_cost = x().measure().id == "ratio_to_exact";
  plot_->show_budget(of_cost ? std::optional(at_most_) : std::nullopt);
  caption_->setText(plot_->caption());
}

void ParetoPage::show_note(const QString& note, const QString& tip) {
  note_->setText(note);
  note_->setToolTip(tip);
  note_->setVisible(!note.isEmpty());
}

/// Offers errors of outputs only if heads have values; otherwise another error is chosen.
void ParetoPage::offer_errors(bool of_outputs) {
  auto* items = qobject_cast<QStandardItemModel*>(y_->model());
  for (int place = 0; place < y_->count(); ++place) {
    const Measure& measure = Quantity(y_->itemData(place).toString().toStdString(), "").measure();
    const bool known = of_outputs || !measure.of_outputs;
    items->item(place)->setEnabled(known);
    items->item(place)->setToolTip(to_qt(
        known ? measure.definition : "Output errors are not known: " + std::string(no_values)));
  }
  if (of_outputs || !y().measure().of_outputs) return;
  const QSignalBlocker quiet(y_);
  y_->setCurrentIndex(y_->findData("attention_tv"));
}

QString ParetoPage::reading() const {
  return reading_->text();
}

void ParetoPage::read_setting() {
  const auto& chosen = plot_->chosen();
  QString text, hint;
  if (chosen) {
    text = setting_reading(plot_->settings()[*chosen], plot_->x(), plot_->y());
    if (plot_->is_beyond(*chosen)) text += "\nbeyond the axes: zoom out to see it in its place";
    hint = text + "\nA click shows it as a column.";
  } else if (!plot_->spots().empty()) {
    text =
        "Point at a setting, or choose one with ← and →. A click or Enter shows it as a column, a "
        "rectangle all within it. The wheel zooms, the right button moves, a double click or 0 "
        "shows all. Drag the dashed line, or press ↑ and ↓, for another budget.";
  }
  reading_->setText(text);
  plot_->setToolTip(plain_tip(hint));
}

}  // namespace fovea

#include "moc_pareto_page.cpp"
