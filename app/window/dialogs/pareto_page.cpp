#include "window/dialogs/pareto_page.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QStandardItemModel>

#include "session/settings.h"
#include "study/exploration_run.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString amount_text(const Quantity& quantity, const Spread& spread, bool several) {
  const auto text = [&](double value) {
    return to_qt(to_text(quantity.measure(), Measured{.value = value}));
  };
  QString out = to_qt(quantity.measure().label) + " " + text(spread.median);
  if (several) out += QString(" (%1 – %2)").arg(text(spread.p10), text(spread.p90));
  return out;
}

/// The words for a point.
QString setting_reading(const SettingSpread& setting, const Quantity& x, const Quantity& y) {
  const bool several = setting.heads > 1;
  QStringList parts{amount_text(y, setting.y, several), amount_text(x, setting.x, several)};
  if (several) parts << to_qt("medians of " + plural(setting.heads, "head") + " (p10 – p90)");
  if (setting.own) parts << "a column of the canvas";
  if (setting.on_front) parts << "on the Pareto front";
  if (!setting.on_all_heads && !x.is_parameter())
    parts << "measured on fewer or other heads, so not compared";
  if (setting.few_runs) parts << QString("a time of fewer than %1 runs").arg(enough_samples);
  if (setting.slow) parts << "measured on a slowed machine";
  return to_qt(setting.variant->label + ", " +
               setting_text(*setting.variant, setting.values, setting.n) +
               ", n = " + std::to_string(setting.n)) +
         ": " + parts.join("  ·  ");
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
  auto* column = new QVBoxLayout(this);
  column->setSpacing(rhythm);
  auto* row = make_inner<QHBoxLayout>();
  add_field(*row, "E&rror", y_ = new QComboBox);
  add_measures(*y_, {"output_rel_fro", "row_rel_error_p90", "row_rel_error_max", "attention_tv",
                     "attention_kl", "attention_rel_fro", "mass_kept"});
  row->addSpacing(2 * rhythm);
  add_field(*row, "C&ost", x_ = new QComboBox);
  add_measures(*x_, {"multiply_adds", "ratio_to_exact", "bytes", "total_ms", "apply_ms"});
  row->addStretch(1);
  column->addLayout(row);
  column->addWidget(plot_ = new ParetoPlot, 1);
  column->addWidget(reading_ = new QLabel);
  reading_->setObjectName("explore_reading");
  reading_->setAccessibleName("Chosen setting");
  reading_->setWordWrap(true);
  reading_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  reading_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  for (QComboBox* choice : {x_, y_})
    connect(choice, &QComboBox::currentIndexChanged, this, &ParetoPage::quantities_chosen);
  connect(plot_, &ParetoPlot::setting_chosen, this, &ParetoPage::read_setting);
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
  plot_->show_settings(settings_over_heads(trials, x(), y()), x(), y(), message);
  read_setting();
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
  reading_->setText(
      chosen ? setting_reading(plot_->settings()[*chosen], plot_->x(), plot_->y()) +
                   "\nA click shows it as a column."
      : plot_->spots().empty()
          ? ""
          : "Point at a setting, or choose one with the arrow keys. A click or Enter shows it as a "
            "column, a rectangle all within it.");
}

}  // namespace fovea

#include "moc_pareto_page.cpp"
