#include <QCheckBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>

#include "analysis/measures.h"
#include "evaluate/not_finite.h"
#include "session/held_head.h"
#include "study/session_editor.h"
#include "window/docks/docks.h"
#include "window/docks/learning_box.h"
#include "window/widgets/field_editor.h"
#include "window/widgets/form.h"
#include "window/widgets/readings.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString mask_note(const Variant& variant, bool causal) {
  if (variant.mask == Mask::causal_in_paper && !causal)
    return "The paper has a causal mask; here there is none.";
  if (variant.mask == Mask::bidirectional_in_paper && causal)
    return "The paper has no causal mask; here there is one.";
  return {};
}

class VariantDock : public QWidget {
 public:
  VariantDock(Study& study, SessionEditor& editor, LearningRun& learning)
      : study_(study), editor_(editor) {
    QVBoxLayout* page = make_page(*this);
    page->addWidget(nothing_ = make_note("Nothing is open."));
    contents_ = new QWidget;
    contents_->hide();  // until there is something to show
    page->addWidget(contents_);
    page->addStretch(1);
    auto* column = make_inner<QVBoxLayout>(contents_);
    column->addWidget(name_ = make_heading());
    column->addWidget(summary_ = make_note());
    form_ = new QWidget;
    form_layout_ = make_inner<QVBoxLayout>(form_);
    form_layout_->setSpacing(rhythm / 2);
    column->addWidget(form_);
    column->addWidget(seed_row_ = make_seed_row());
    column->addWidget(learning_ = new LearningBox(study, learning));
    reset_ = new QPushButton("Reset parameters");
    reset_->setToolTip(
        "The paper's values, or smaller ones where those would make a short text exact");
    connect(reset_, &QPushButton::clicked, this, [this] { editor_.reset_column(); });
    column->addWidget(reset_, 0, Qt::AlignLeft);
    hold_ = new QCheckBox("Keep this head");
    hold_->setToolTip(
        "The column stays with this head while others, also of other files with as many tokens, "
        "are opened beside it");
    connect(hold_, &QCheckBox::clicked, this, [this](bool on) { editor_.hold_head(on); });
    column->addWidget(hold_);

    column->addWidget(formula_ = make_note());
    formula_->setProperty("style", "formula");
    column->addWidget(paper_ = make_note());
    column->addWidget(notes_ = make_note());
    notes_->setProperty("style", "warning");
    column->addSpacing(rhythm);
    column->addWidget(comparison_heading_ = make_heading("Against exact"));
    column->addWidget(comparison_note_ = make_note());
    column->addWidget(comparison_ = new Readings("Against exact"));
    for (QLabel* text : {name_, summary_, formula_, paper_, notes_, comparison_note_})
      make_selectable(*text);
    connect(&study, &Study::opened, this, [this] {
      nothing_->hide();
      contents_->show();
    });
    connect(&study, &Study::session_changed, this, &VariantDock::refresh);
    connect(&study, &Study::columns_changed, this, &VariantDock::refresh);
  }

 private:
  QWidget* make_seed_row() {
    auto* row = new QWidget;
    seed_ = new QLineEdit;
    seed_->setToolTip("The seed of every random choice of this column (64 bits)");
    seed_->setFixedWidth(136);
    seed_->setAlignment(Qt::AlignRight);
    seed_->setValidator(new QRegularExpressionValidator(QRegularExpression("[0-9]{1,20}"), seed_));
    add_field(*make_inner<QHBoxLayout>(row), "&Seed", seed_, 1);
    connect(seed_, &QLineEdit::editingFinished, this, [this] {
      bool fits = false;
      const std::uint64_t seed = seed_->text().toULongLong(&fits);
      seed_->setModified(false);  // typed to its end
      if (fits) change([&](Column& c) { c.seed = seed; });
      refresh();  // a number beyond 64 bits is replaced
    });
    return row;
  }

  void change(const std::function<void(Column&)>& edit) {
    editor_.change("column " + std::to_string(shown_column_), [&](Session& session) {
      if (shown_column_ < session.columns.size()) edit(session.columns[shown_column_]);
    });
  }

  void refresh() {
    const std::size_t index = study_.selected_column();
    if (index >= study_.columns().size()) return;
    const ColumnState& state = study_.columns()[index];
    const Column& column = study_.session().columns[index];
    const Index n = study_.problem() ? study_.problem()->keys() : 0;
    const bool other_form =
        std::exchange(shown_column_, index) != index || column.variant != shown_variant_;
    if (other_form || (n != shown_n_ && n > 0)) {
      shown_n_ = n;
      rebuild(column);
    }
    name_->setText(to_qt(study_.title_of(int(index))));
    const Schema& schema = find_variant(column.variant).schema;
    for (std::size_t f = 0; f < editors_.size(); ++f) {
      editors_[f]->set_value(column.values[f]);
      editors_[f]->setVisible(is_used(schema[f], schema, column.values));
    }
    const QString seed = QString::number(column.seed);
    // What is being typed stays, and so does the cursor in what is shown already.
    if (other_form || (!seed_->isModified() && seed_->text() != seed)) seed_->setText(seed);
    show_held(column, study_.head_of(state));
    learning_->refresh();
    show_notes(state);
    show_comparison(state);
    for (QWidget* part :
         std::initializer_list<QWidget*>{hold_, formula_, paper_, comparison_heading_})
      part->setVisible(!study_.shows_matrix());
    if (study_.shows_matrix()) show_matrix();
  }

  // An attention matrix by itself is not a variant.
  void show_matrix() {
    comparison_note_->hide();
    summary_->setText("Shown as it was given. Variants need Q, K and V.");
    shown_variant_.clear();  // the next source rebuilds the form
  }

  void rebuild(const Column& column) {
    shown_variant_ = column.variant;
    const Variant& variant = find_variant(column.variant);
    qDeleteAll(editors_);
    editors_.clear();
    for (std::size_t f = 0; f < variant.schema.size(); ++f) {
      auto* editor = new FieldEditor(variant.schema[f], shown_n_, form_);
      form_layout_->addWidget(editor);
      connect(editor, &FieldEditor::changed, this,
              [this, f](const Value& value) { change([&](Column& c) { c.values[f] = value; }); });
      connect(editor, &FieldEditor::reset_requested, this, [this, f] {
        change([&](Column& c) {
          c.values[f] = values_for_length(find_variant(c.variant), study_.length())[f];
        });
      });
      editors_.push_back(editor);
    }
    for (QWidget* part : std::initializer_list<QWidget*>{form_, reset_, seed_row_})
      part->setVisible(!editors_.empty());
    summary_->setText(to_qt(variant.summary));
    formula_->setText(to_qt(variant.formula));
    paper_->setText(to_qt(variant.paper));
  }

  void show_held(const Column& column, const HeadState& head) {
    hold_->setChecked(column.held.has_value());
    hold_->setText(column.held ? "Keeps " + to_qt(label_of(*column.held, head.source.get()))
                               : "Keep this head");
  }

  void show_notes(const ColumnState& state) {
    QStringList notes;
    const HeadState& head = study_.head_of(state);
    const Variant& variant = find_variant(state.column.variant);
    if (head.problem) notes << mask_note(variant, head.problem->causal);
    if (!variant.rows_sum_to_one) notes << "Rows of P need not sum to 1.";
    if (variant.signed_entries) notes << "Entries of P may be negative.";
    if (head.source && head.source != study_.source() &&
        sequence_of(*head.source, head.key.choice.layer).tokens != study_.sequence().tokens)
      notes << "This head has other tokens: the axes show those of the opened source.";
    if (state.computation) {
      const Plan& plan = state.computation->op->plan();
      for (const auto& note : plan.notes) notes << to_qt(note);
      notes << to_qt(note_of_numbers(*state.computation));
      if (plan.fitted_to_all_tokens)
        notes << (plan.causal ? "Fitted to all tokens at once: later tokens decide who attends to "
                                "whom, in spite of the causal mask."
                              : "Fitted to all tokens at once, as it would be with a causal mask.");
    }
    notes << to_qt(state.error);
    notes.removeAll({});
    notes.removeDuplicates();
    notes_->setText(notes.join("\n"));
    notes_->setVisible(!notes.isEmpty());
  }

  void show_comparison(const ColumnState& state) {
    std::vector<Reading> rows;
    const bool reference = is_reference(state.column.variant);
    const Evaluation known{.cost = state.computation ? &state.computation->cost : nullptr,
                           .metrics = reference ? nullptr : state.metrics.get()};
    for (const Measure& measure : measures())
      if (const auto measured = measure.of(known))
        rows.push_back(
            {to_qt(measure.label), to_qt(to_text(measure, *measured)), to_qt(measure.definition)});
    if (state.diagnostics)
      for (const Diagnostic& d : *state.diagnostics)
        rows.push_back({to_qt(d.label), to_qt(to_text(d)), to_qt(d.meaning)});
    comparison_->set_rows(rows);
    const bool sampled = state.metrics && state.metrics->sampled();
    QString note;
    if (reference)
      note = "This is the reference.";
    else if (state.stale)
      note = "These are of the previous parameters, until the new ones are computed.";
    else if (!state.metrics)
      note = "Not compared yet.";
    else if (sampled)
      note = QString("What concerns P is estimated from %1 of %2 rows, ± standard error.")
                 .arg(state.metrics->rows)
                 .arg(state.metrics->queries);
    comparison_note_->setText(note);
    comparison_note_->setVisible(!note.isEmpty());
  }

  Study& study_;
  SessionEditor& editor_;
  std::size_t shown_column_ = 0;  // the form changes this one
  std::string shown_variant_;
  Index shown_n_ = 0;
  QLabel *nothing_, *name_, *summary_, *formula_, *paper_, *notes_, *comparison_note_,
      *comparison_heading_;
  QWidget *contents_, *form_, *seed_row_;
  QVBoxLayout* form_layout_;
  QLineEdit* seed_;
  QCheckBox* hold_;
  LearningBox* learning_;
  QPushButton* reset_;
  std::vector<FieldEditor*> editors_;
  Readings* comparison_;
};

}  // namespace

QWidget* make_variant_dock(Study& study, SessionEditor& editor, LearningRun& learning) {
  return new VariantDock(study, editor, learning);
}

}  // namespace fovea
