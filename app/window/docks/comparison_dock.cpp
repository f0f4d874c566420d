#include "window/docks/comparison_dock.h"

#include <QComboBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>
#include <utility>

#include "study/study.h"
#include "window/widgets/copying.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

ComparisonTable in_order(const ComparisonTable& table, const std::vector<std::size_t>& order) {
  ComparisonTable out;
  for (const std::size_t c : order) out.titles.push_back(table.titles[c]);
  for (const auto& row : table.rows) {
    auto& cells = out.rows.emplace_back(ComparisonTable::Row{row.measure, {}}).cells;
    for (const std::size_t c : order) cells.push_back(row.cells[c]);
  }
  return out;
}

/// Where items change, the columns get their widths once for all of them, not for each.
class WidthsAfterwards {
 public:
  explicit WidthsAfterwards(QHeaderView& header) : header_(header) {}
  ~WidthsAfterwards() {
    if (changed_) header_.setSectionResizeMode(QHeaderView::ResizeToContents);
  }
  WidthsAfterwards(const WidthsAfterwards&) = delete;
  WidthsAfterwards& operator=(const WidthsAfterwards&) = delete;

  /// Before an item changes.
  void change() {
    if (!std::exchange(changed_, true)) header_.setSectionResizeMode(QHeaderView::Fixed);
  }

 private:
  QHeaderView& header_;
  bool changed_ = false;
};

/// Each change of an item paints the dock.
template <class Put>
void set_text(QTableWidgetItem* item, const std::string& text, WidthsAfterwards& widths, Put put) {
  const QString now = to_qt(text);
  if (item && item->text() == now) return;
  widths.change();
  if (!item) put(item = new QTableWidgetItem);
  item->setText(now);
}

}  // namespace

ComparisonDock::ComparisonDock(Study& study) : study_(study) {
  setObjectName("dock_page");
  auto* column = make_inner<QVBoxLayout>(this);
  column->setSpacing(rhythm / 2);
  auto* line = make_inner<QHBoxLayout>();
  line->setContentsMargins(12, 0, 12, 0);
  column->addLayout(line);
  line->addWidget(note_ = make_note(), 1);
  add_field(*line, "Sor&t by", sort_ = new QComboBox);
  sort_->setObjectName("comparison_order");
  sort_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  sort_->setMinimumContentsLength(12);
  sort_->setToolTip("The measure by which the columns are sorted, the best first");
  sort_->addItem("order of the canvas", QString());
  for (const Measure& measure : measures()) {
    sort_->addItem(to_qt(measure.label), to_qt(measure.id));
    sort_->setItemData(sort_->count() - 1, to_qt(measure.definition), Qt::ToolTipRole);
  }
  connect(sort_, &QComboBox::activated, this,
          [this] { sort_by(sort_->currentData().toString().toStdString()); });
  line->addWidget(make_copy_button([this](TableFormat format) { return to_text(table_, format); }));
  column->addWidget(make_table(), 1);
  connect(&study, &Study::columns_changed, this, &ComparisonDock::refresh);
}

QWidget* ComparisonDock::make_table() {
  view_ = new QTableWidget;
  view_->setObjectName("comparison");
  view_->setAccessibleName("Comparison of the columns");
  view_->setAccessibleDescription(
      "Enter sorts the columns by the measure of the current cell, Space selects its column");
  view_->setToolTip(
      "A click on a measure, or Enter, sorts the columns by it; Space selects a column");
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setSelectionMode(QAbstractItemView::ContiguousSelection);
  view_->setShowGrid(false);
  view_->setFrameShape(QFrame::NoFrame);
  view_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  view_->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
  view_->verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  view_->verticalHeader()->setSectionsClickable(true);
  view_->setTabKeyNavigation(false);  // Tab goes on to the next widget
  view_->verticalHeader()->setMinimumSectionSize(1);
  view_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  view_->installEventFilter(this);
  new TableCopying(
      *view_, [this](TableFormat format) { return to_text(table_, format); },
      [this](QMenu& menu, const QModelIndex& cell) { add_to_menu(menu, cell); });
  connect(view_->verticalHeader(), &QHeaderView::sectionClicked, this,
          &ComparisonDock::sort_by_row);
  connect(view_->horizontalHeader(), &QHeaderView::sectionClicked, this,
          &ComparisonDock::select_column);
  return view_;
}

void ComparisonDock::sort_by(const std::string& id) {
  sorted_by_ = id;
  sort_->setCurrentIndex(std::max(0, sort_->findData(to_qt(id))));
  refresh();
}

/// The same measure again: the order of the canvas.
void ComparisonDock::sort_by_row(int row) {
  const std::string& id = table_.rows[row].measure->id;
  sort_by(sorted_by_ == id ? "" : id);
}

void ComparisonDock::select_column(int place) {
  study_.select_column(int(order_[place]));
}

void ComparisonDock::add_to_menu(QMenu& menu, const QModelIndex& cell) {
  const int row = cell.row(), column = cell.column();
  menu.addSeparator();
  const bool sorted = table_.rows[row].measure->id == sorted_by_;
  menu.addAction(sorted ? "&Order of the canvas" : "&Sort by this measure", this,
                 [this, row] { sort_by_row(row); });
  menu.addAction("S&elect this column", this, [this, column] { select_column(column); });
}

bool ComparisonDock::eventFilter(QObject* watched, QEvent* event) {
  if (watched == view_ && event->type() == QEvent::KeyPress && view_->currentIndex().isValid()) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const bool sorts = key == Qt::Key_Return || key == Qt::Key_Enter;
    if (sorts) sort_by_row(view_->currentRow());
    if (key == Qt::Key_Space) select_column(view_->currentColumn());
    if (sorts || key == Qt::Key_Space) return true;
  }
  return QWidget::eventFilter(watched, event);
}

void ComparisonDock::refresh() {
  if (!isVisible()) return;
  std::vector<std::string> titles;
  std::vector<Evaluation> evaluations;
  for (int c = 0; c < std::ssize(study_.columns()); ++c) {
    const ColumnState& state = study_.columns()[c];
    const bool reference = is_reference(state.column.variant);
    titles.push_back(study_.title_of(c) + (state.stale ? " (stale)" : ""));
    evaluations.push_back({.cost = state.computation ? &state.computation->cost : nullptr,
                           .metrics = reference ? nullptr : state.metrics.get(),
                           .time = state.time.get(),
                           .sections = sections_of(state),
                           .head = state.head});
  }
  ComparisonTable table = comparison_table(titles, evaluations);
  order_.resize(titles.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (table.rows[r].measure->id == sorted_by_) order_ = order_by(table, r);
  table_ = in_order(table, order_);
  const bool several_heads = std::ranges::any_of(
      evaluations, [&](const Evaluation& one) { return one.head != evaluations.front().head; });
  note_->setText(!study_.source()        ? "Nothing is open."
                 : study_.shows_matrix() ? "This source holds only an attention matrix: there "
                                           "is nothing to compare it with."
                 : table_.rows.empty()   ? "Nothing is computed yet."
                 : several_heads         ? "Bold: the best of a row, among the columns of a head."
                                         : "Bold: the best of a row.");
  fill();
}

void ComparisonDock::fill() {
  WidthsAfterwards widths(*view_->horizontalHeader());
  view_->setColumnCount(int(table_.titles.size()));
  view_->setRowCount(int(table_.rows.size()));
  for (int c = 0; c < view_->columnCount(); ++c)
    set_text(view_->horizontalHeaderItem(c), table_.titles[c], widths,
             [&](auto* item) { view_->setHorizontalHeaderItem(c, item); });
  for (int r = 0; r < view_->rowCount(); ++r) {
    const ComparisonTable::Row& row = table_.rows[r];
    const std::string mark = row.measure->id == sorted_by_ ? "▸ " : "";
    set_text(view_->verticalHeaderItem(r), mark + row.measure->label, widths,
             [&](auto* item) { view_->setVerticalHeaderItem(r, item); });
    view_->verticalHeaderItem(r)->setToolTip(to_qt(row.measure->definition));
    for (int c = 0; c < view_->columnCount(); ++c) {
      set_text(view_->item(r, c), row.cells[c].text, widths,
               [&](auto* item) { view_->setItem(r, c, item); });
      QTableWidgetItem* cell = view_->item(r, c);
      QFont font = view_->font();
      font.setBold(row.cells[c].best);
      if (cell->font() != font) {
        widths.change();
        cell->setFont(font);
      }
      cell->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      const std::string& basis = row.cells[c].basis;
      cell->setToolTip(to_qt(row.measure->definition + (basis.empty() ? "" : "\n" + basis)));
    }
  }
}

}  // namespace fovea

#include "moc_comparison_dock.cpp"
