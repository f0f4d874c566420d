#include "window/docks/variant_dock.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QVBoxLayout>

#include "window/widgets/field_editor.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

QString mask_note(const Variant& variant, bool causal) {
  if (variant.mask == Mask::causal_in_paper && !causal) return "Bidirectional: not in the paper.";
  if (variant.mask == Mask::bidirectional_in_paper && causal) return "Causal: not in the paper.";
  return {};
}

QString estimate_text(const Estimate& estimate) {
  const QString value = number_text(estimate.value);
  return estimate.standard_error > 0
             ? value + " ± " + QString::number(estimate.standard_error, 'g', 2)
             : value;
}

std::vector<Reading> metric_rows(const Metrics& m) {
  std::vector<Reading> rows{{"output error ‖Z̃−Z‖/‖Z‖", number_text(m.output_rel_fro),
                             "Frobenius norm, relative to the exact output"},
                            {"worst token", number_text(m.row_rel_error_max),
                             QString("‖z̃ᵢ−zᵢ‖/‖zᵢ‖: median %1, 90 %% %2")
                                 .arg(m.row_rel_error_p50)
                                 .arg(m.row_rel_error_p90)},
                            {"attention error ‖P̃−P‖/‖P‖", estimate_text(m.attention_rel_fro),
                             "Frobenius norm, relative to exact P"}};
  if (m.attention_kl)
    rows.push_back({"KL(P ‖ P̃)", estimate_text(*m.attention_kl) + " nats",
                    "mean over the rows where it is defined"});
  rows.push_back({"mass kept", estimate_text(m.mass_kept),
                  "exact attention mass on the pairs the variant looks at, mean over rows"});
  rows.push_back({"density", number_text(m.density), "non-zero entries of P̃ / n²"});
  return rows;
}

}  // namespace

VariantDock::VariantDock(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
  setObjectName("dock_page");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, rhythm, 12, 12);
  column->setSpacing(rhythm);
  column->addWidget(name_ = make_heading({}));
  column->addWidget(summary_ = make_note({}));
  form_ = new QWidget(this);
  form_layout_ = new QVBoxLayout(form_);
  form_layout_->setContentsMargins(0, 0, 0, 0);
  form_layout_->setSpacing(rhythm / 2);
  column->addWidget(form_);

  seed_row_ = new QWidget(this);
  auto* row = new QHBoxLayout(seed_row_);
  row->setContentsMargins(0, 0, 0, 0);
  auto* label = new QLabel("&Seed", this);
  seed_ = new QLineEdit(this);
  seed_->setAccessibleName("Seed");
  seed_->setToolTip("Of every random choice of this column (64 bits)");
  seed_->setFixedWidth(136);
  seed_->setAlignment(Qt::AlignRight);
  seed_->setValidator(new QRegularExpressionValidator(QRegularExpression("[0-9]{1,19}"), seed_));
  label->setBuddy(seed_);
  row->addWidget(label, 1);
  row->addWidget(seed_);
  column->addWidget(seed_row_);
  connect(seed_, &QLineEdit::editingFinished, this,
          [this] { request_change([this](Column& c) { c.seed = seed_->text().toULongLong(); }); });
  reset_ = new QPushButton("Reset parameters", this);
  reset_->setToolTip(
      "The paper's values, or smaller ones where a short text would make them exact (R)");
  connect(reset_, &QPushButton::clicked, this, [this] {
    request_change(
        [this](Column& c) { c.values = values_for_length(find_variant(c.variant), shown_n_); });
  });
  column->addWidget(reset_, 0, Qt::AlignLeft);

  column->addWidget(formula_ = new QLabel(this));
  formula_->setProperty("style", "formula");
  formula_->setWordWrap(true);
  formula_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(paper_ = make_note({}));
  column->addWidget(notes_ = make_note({}));
  notes_->setProperty("style", "warning");
  column->addSpacing(rhythm);
  column->addWidget(comparison_heading_ = make_heading("Against exact"));
  column->addWidget(comparison_note_ = make_note({}));
  column->addWidget(comparison_ = new Readings("Against exact", this));
  column->addStretch(1);
}

void VariantDock::request_change(std::function<void(Column&)> change) {
  const int index = study_.selected_column();
  const auto& columns = study_.session().columns;
  if (index < 0 || index >= static_cast<int>(columns.size())) return;
  Column column = columns[static_cast<std::size_t>(index)];
  change(column);
  emit column_requested(index, column);
}

void VariantDock::refresh() {
  const auto& columns = study_.columns();
  const auto index = static_cast<std::size_t>(study_.selected_column());
  if (index >= columns.size()) return;
  const ColumnState& state = columns[index];
  const Column& column = study_.session().columns[index];
  const Index n = study_.problem() ? study_.problem()->n() : 0;
  if (column.variant != shown_variant_ || (n != shown_n_ && n > 0)) {
    shown_n_ = n;
    rebuild(column);
  }
  for (std::size_t f = 0; f < editors_.size(); ++f) editors_[f]->set_value(column.values[f]);
  if (!seed_->hasFocus()) seed_->setText(QString::number(column.seed));
  refresh_notes(state);
  refresh_comparison(state);
  show_matrix(study_.shows_matrix());
}

// An attention matrix alone is no variant.
void VariantDock::show_matrix(bool alone) {
  for (QWidget* part : std::initializer_list<QWidget*>{formula_, paper_, comparison_heading_})
    part->setVisible(!alone);
  if (!alone) return;
  comparison_note_->hide();
  name_->setText("Attention matrix");
  summary_->setText("Given as it is. Variants would need Q, K and V.");
  shown_variant_.clear();  // the next source rebuilds the form
}

void VariantDock::rebuild(const Column& column) {
  shown_variant_ = column.variant;
  const Variant& variant = find_variant(column.variant);
  qDeleteAll(editors_);
  editors_.clear();
  for (std::size_t f = 0; f < variant.schema.size(); ++f) {
    auto* editor = new FieldEditor(variant.schema[f], shown_n_, form_);
    form_layout_->addWidget(editor);
    connect(editor, &FieldEditor::changed, this, [this, f](const Value& value) {
      request_change([&](Column& c) { c.values[f] = value; });
    });
    editors_.push_back(editor);
  }
  form_->setVisible(!editors_.empty());
  reset_->setVisible(!editors_.empty());
  seed_row_->setVisible(!editors_.empty());
  name_->setText(QString::fromStdString(variant.label));
  summary_->setText(QString::fromStdString(variant.summary));
  formula_->setText(QString::fromStdString(variant.formula));
  paper_->setText(QString::fromStdString(variant.paper));
}

void VariantDock::refresh_notes(const ColumnState& state) {
  QStringList notes;
  const Variant& variant = find_variant(state.column.variant);
  if (study_.problem()) notes << mask_note(variant, study_.problem()->causal);
  if (state.computation)
    for (const auto& note : state.computation->op->plan().notes)
      notes << QString::fromStdString(note);
  if (state.computation && state.computation->op->plan().fitted_to_all_tokens)
    notes << (state.computation->op->plan().causal
                  ? "Fitted to all tokens at once: later ones decide who attends whom, in spite of "
                    "the causal mask."
                  : "Fitted to all tokens at once, as it would be with a causal mask too.");
  if (!state.error.empty()) notes << QString::fromStdString(state.error);
  notes.removeAll({});
  notes.removeDuplicates();
  notes_->setText(notes.join("\n"));
  notes_->setVisible(!notes.isEmpty());
}

void VariantDock::refresh_comparison(const ColumnState& state) {
  std::vector<Reading> rows;
  const bool reference = is_reference(state.column.variant);
  if (state.metrics && !reference) rows = metric_rows(*state.metrics);
  if (state.diagnostics)
    for (const Diagnostic& d : *state.diagnostics)
      rows.push_back({QString::fromStdString(d.label),
                      number_text(d.value) + (d.sampled ? " (sampled)" : ""),
                      QString::fromStdString(d.meaning)});
  if (state.computation) {
    const Cost& cost = state.computation->cost;
    rows.push_back(
        {"multiply-adds",
         count_text(cost.multiply_adds) + QString(" (%1×)").arg(cost.ratio_to_exact(), 0, 'g', 3),
         "counted from the structure really used; in brackets: against exact"});
    rows.push_back({"memory", bytes_text(cost.bytes), "resident beside Q, K, V and Z"});
  }
  comparison_->set_rows(rows);
  const bool sampled = state.metrics && state.metrics->sampled_rows > 0;
  QString note;
  if (reference)
    note = "This is the reference.";
  else if (state.stale)
    note = "Of the previous parameters, until the new ones are computed.";
  else if (!state.metrics)
    note = "Not compared yet.";
  else if (sampled)
    note = QString("Estimates from %1 rows, ± standard error.").arg(state.metrics->sampled_rows);
  comparison_note_->setText(note);
  comparison_note_->setVisible(!note.isEmpty());
}

}  // namespace fovea
