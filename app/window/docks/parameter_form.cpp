#include "window/docks/parameter_form.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>

#include "study/session_editor.h"
#include "study/study.h"
#include "variants/described_variant.h"
#include "window/widgets/field_editor.h"
#include "window/widgets/form.h"

namespace fovea {

ParameterForm::ParameterForm(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {
  auto* column = make_inner<QVBoxLayout>(this);
  fields_ = new QWidget;
  field_layout_ = make_inner<QVBoxLayout>(fields_);
  field_layout_->setSpacing(rhythm / 2);
  column->addWidget(gates_ = make_note("The gates of the head take the place of parameters."));
  gates_->setObjectName("parameters_of_head");
  gates_->setWordWrap(true);
  gates_->hide();
  column->addWidget(fields_);
  column->addWidget(seed_row_ = make_seed_row());
  reset_ = new QPushButton("Reset parameters");
  reset_->setToolTip(
      "The paper's values, or smaller ones where those would make a short text exact");
  connect(reset_, &QPushButton::clicked, this, [this] { editor_.reset_column(); });
  column->addWidget(reset_, 0, Qt::AlignLeft);
}

QWidget* ParameterForm::make_seed_row() {
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
    show_column(shown_column_);  // a number beyond 64 bits is replaced
  });
  return row;
}

void ParameterForm::change(const std::function<void(Column&)>& edit) {
  editor_.change("column " + std::to_string(shown_column_), [&](Session& session) {
    if (shown_column_ < session.columns.size()) edit(session.columns[shown_column_]);
  });
}

void ParameterForm::show_column(std::size_t index) {
  if (index >= study_.session().columns.size()) return;
  const Column& column = study_.session().columns[index];
  const Index n = study_.problem() ? study_.problem()->keys() : 0;
  const bool other =
      std::exchange(shown_column_, index) != index || column.variant != shown_variant_;
  if (other || (n != shown_n_ && n > 0)) {
    shown_n_ = n;
    rebuild(column);
  }
  const Schema& schema = find_variant(column.variant).schema;
  const std::size_t first = first_parameter(find_variant(column.variant), recurrence());
  for (std::size_t f = 0; f < editors_.size(); ++f) {
    editors_[f]->set_value(column.values[f]);
    editors_[f]->setVisible(f >= first && is_used(schema[f], schema, column.values));
  }
  gates_->setVisible(first > 0);
  reset_->setVisible(first < editors_.size());
  const QString seed = QString::number(column.seed);
  // What is being typed stays, and so does the cursor in what is shown already.
  if (other || (!seed_->isModified() && seed_->text() != seed)) seed_->setText(seed);
}

const Recurrence* ParameterForm::recurrence() const {
  if (shown_column_ >= study_.columns().size()) return nullptr;
  const auto& head = study_.head_of(study_.columns()[shown_column_]).problem;
  return head ? head->recurrence.get() : nullptr;
}

void ParameterForm::start_editing() {
  for (QWidget* field : editors_.empty() ? QList<QWidget*>() : fields_->findChildren<QWidget*>())
    if (field->focusPolicy() != Qt::NoFocus && field->isVisibleTo(this)) {
      field->setFocus(Qt::TabFocusReason);
      return;
    }
}

void ParameterForm::rebuild(const Column& column) {
  shown_variant_ = column.variant;
  const Variant& variant = find_variant(column.variant);
  qDeleteAll(editors_);
  editors_.clear();
  for (std::size_t f = 0; f < variant.schema.size(); ++f) {
    auto* editor = new FieldEditor(variant.schema[f], shown_n_, fields_);
    field_layout_->addWidget(editor);
    connect(editor, &FieldEditor::changed, this,
            [this, f](const Value& value) { change([&](Column& c) { c.values[f] = value; }); });
    connect(editor, &FieldEditor::reset_requested, this, [this, f] {
      change([&](Column& c) {
        c.values[f] = values_for_length(find_variant(c.variant), study_.length())[f];
      });
    });
    editors_.push_back(editor);
  }
  for (QWidget* part : std::initializer_list<QWidget*>{fields_, reset_, seed_row_})
    part->setVisible(!editors_.empty());
}

}  // namespace fovea

#include "moc_parameter_form.cpp"
