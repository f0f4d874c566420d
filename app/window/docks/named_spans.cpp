#include "window/docks/named_spans.h"

#include <QHeaderView>
#include <QInputDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <algorithm>

#include "window/docks/span_table.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

enum SpanField { name_field, tokens_field, span_fields };

const char* const malformed_tokens = "Tokens are written as first–last, such as 0–23";

/// "12-40", "12–40" or "12".
std::optional<IndexRange> tokens_from(const QString& text) {
  static const QRegularExpression form(R"(^\s*(\d{1,12})\s*(?:[-–]\s*(\d{1,12})\s*)?$)");
  const auto match = form.match(text);
  if (!match.hasMatch()) return {};
  const Index first = match.captured(1).toLongLong();
  return IndexRange{first, (match.hasCaptured(2) ? match.captured(2).toLongLong() : first) + 1};
}

/// Names the line that a cell is edited in.
class SpanDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override {
    QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
    editor->setAccessibleName(index.column() == name_field ? "Name of the span"
                                                           : "Tokens of the span");
    return editor;
  }
};

}  // namespace

NamedSpans::NamedSpans(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {
  auto* column = make_inner<QVBoxLayout>(this);
  column->setSpacing(rhythm / 2);
  column->setContentsMargins(0, 0, 12, rhythm / 2);
  column->addWidget(list_ = new QTableWidget(0, span_fields), 1);
  list_->setObjectName("named_spans");
  list_->setAccessibleName("Named spans");
  list_->setItemDelegate(new SpanDelegate(list_));
  list_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                         QAbstractItemView::SelectedClicked);
  list_->setSelectionBehavior(QAbstractItemView::SelectRows);
  list_->setSelectionMode(QAbstractItemView::SingleSelection);
  list_->setTabKeyNavigation(false);  // Tab goes on to the next widget
  list_->setShowGrid(false);
  list_->setFrameShape(QFrame::NoFrame);
  list_->verticalHeader()->hide();
  list_->verticalHeader()->setMinimumSectionSize(1);
  list_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  list_->horizontalHeader()->hide();
  list_->horizontalHeader()->setSectionResizeMode(name_field, QHeaderView::Stretch);
  list_->horizontalHeader()->setSectionResizeMode(tokens_field, QHeaderView::ResizeToContents);
  list_->setMinimumHeight(fontMetrics().height() + 6);
  column->addWidget(make_line());
  column->addWidget(fault_ = make_note());
  fault_->setObjectName("span_fault");
  fault_->setProperty("style", "warning");
  fault_->hide();
  connect(list_, &QTableWidget::itemChanged, this,
          [this](const QTableWidgetItem* item) { change(*item); });
  connect(list_, &QTableWidget::currentCellChanged, this,
          [this](int row) { remove_->setEnabled(row >= 0); });
}

QWidget* NamedSpans::make_line() {
  auto* widget = new QWidget;
  auto* line = make_inner<QHBoxLayout>(widget);
  add_field(*line, "&Name", name_ = new QLineEdit, 0, 1);
  name_->setObjectName("span_name");
  name_->setMaxLength(80);
  add_field(*line, "&Tokens", tokens_ = new QLineEdit);
  tokens_->setObjectName("span_tokens");
  tokens_->setPlaceholderText("0–23");
  tokens_->setFixedWidth(fontMetrics().horizontalAdvance("131070–131071") + rhythm);
  auto* add_button = new QPushButton("Add");
  add_button->setObjectName("add_span");
  add_button->setToolTip("Name these tokens");
  line->addWidget(add_button);
  line->addWidget(remove_ = new QPushButton("Remove"));
  remove_->setObjectName("remove_span");
  remove_->setToolTip("Remove the selected name from the list");
  remove_->setEnabled(false);
  connect(add_button, &QPushButton::clicked, this, &NamedSpans::add);
  connect(remove_, &QPushButton::clicked, this, &NamedSpans::remove);
  for (QLineEdit* field : {name_, tokens_})
    connect(field, &QLineEdit::returnPressed, this, &NamedSpans::add);
  return widget;
}

void NamedSpans::propose(IndexRange tokens) {
  say({});
  tokens_->setText(tokens_text(tokens));
  name_->setFocus();
  name_->selectAll();
}

void NamedSpans::refresh() {
  if (study_.session().spans == shown_) return;
  shown_ = study_.session().spans;
  say({});
  fill();
}

void NamedSpans::fill() {
  const QSignalBlocker quiet(list_);
  const int row = list_->currentRow();
  list_->setRowCount(int(shown_.size()));
  for (int r = 0; r < list_->rowCount(); ++r) {
    const Span& span = shown_[r];
    for (const auto& [field, text] :
         {std::pair{name_field, to_qt(span.name)}, {tokens_field, tokens_text(span.tokens)}}) {
      list_->setItem(r, field, new QTableWidgetItem(text));
      list_->item(r, field)->setToolTip(plain_tip(text + "\nDouble-click or F2 changes it"));
    }
  }
  list_->setCurrentCell(std::min(row, list_->rowCount() - 1), name_field);
  remove_->setEnabled(list_->currentRow() >= 0);
}

void NamedSpans::add() {
  const auto tokens = tokens_from(tokens_->text());
  if (!tokens) {
    say(malformed_tokens);
    return tokens_->setFocus();
  }
  const Span span{name_->text().trimmed().toStdString(), *tokens};
  if (!say(editor_.name_span(span))) return;
  refresh();
  select_row(span);
  name_->clear();
  tokens_->clear();
  name_->setFocus();
}

void NamedSpans::add_frames() {
  const int n = int(study_.length());
  bool chosen = false;
  const int tokens = QInputDialog::getInt(
      this, "Frames", "Tokens of a frame:", std::clamp(n / 4, 1, 131072), 1, 131072, 1, &chosen);
  if (!chosen) return;
  const std::string fault = editor_.name_frames(tokens);
  if (!fault.empty()) editor_.choose_spans(SpanChoice::named);  // where the line says why
  refresh();
  say(fault);
}

void NamedSpans::change(const QTableWidgetItem& item) {
  const auto row = std::size_t(item.row());
  if (row >= shown_.size()) return;
  Span span = shown_[row];
  std::string fault;
  if (item.column() == name_field)
    span.name = item.text().trimmed().toStdString();
  else if (const auto tokens = tokens_from(item.text()))
    span.tokens = *tokens;
  else
    fault = malformed_tokens;
  if (fault.empty()) fault = editor_.change_span(row, span);
  refresh();
  fill();  // also what was refused, or is written otherwise
  if (say(fault)) select_row(span);
}

void NamedSpans::remove() {
  const int row = list_->currentRow();
  if (row >= 0) editor_.remove_span(row);
  refresh();
}

bool NamedSpans::say(const std::string& fault) {
  fault_->setText(fault.empty() ? QString() : to_qt(fault) + ".");
  fault_->setVisible(!fault.empty());
  return fault.empty();
}

void NamedSpans::select_row(const Span& span) {
  const auto it = std::ranges::find(shown_, span);
  if (it != shown_.end()) list_->setCurrentCell(int(it - shown_.begin()), name_field);
}

}  // namespace fovea

#include "moc_named_spans.cpp"
