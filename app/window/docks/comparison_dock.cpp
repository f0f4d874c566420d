#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

#include "analysis/comparison_table.h"
#include "study/study.h"
#include "window/docks/docks.h"
#include "window/widgets/copy_button.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

class ComparisonDock : public QWidget {
 public:
  explicit ComparisonDock(Study& study) : study_(study) {
    auto* column = make_inner<QVBoxLayout>(this);
    auto* line = make_inner<QHBoxLayout>();
    column->addLayout(line);
    line->addWidget(note_ = make_note(), 1);
    line->addWidget(
        make_copy_button([this](TableFormat format) { return to_text(table_, format); }));
    column->addWidget(view_ = new QTableWidget, 1);
    view_->setObjectName("comparison");
    view_->setAccessibleName("Comparison of the columns");
    view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view_->setSelectionMode(QAbstractItemView::ContiguousSelection);
    view_->setShowGrid(false);
    view_->setFrameShape(QFrame::NoFrame);
    view_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view_->verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view_->verticalHeader()->setSectionsClickable(true);
    view_->setTabKeyNavigation(false);  // Tab goes on to the next widget
    view_->verticalHeader()->setMinimumSectionSize(1);
    view_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    connect(view_->verticalHeader(), &QHeaderView::sectionClicked, this, &ComparisonDock::sort_by);
    connect(view_->horizontalHeader(), &QHeaderView::sectionClicked, this,
            [this](int place) { study_.select_column(int(order_[place])); });
    connect(&study, &Study::columns_changed, this, &ComparisonDock::refresh);
  }
  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {360, 96}; }

 protected:
  void showEvent(QShowEvent*) override { refresh(); }

 private:
  /// The same measure again: the order of the canvas.
  void sort_by(int row) {
    const std::string& id = table_.rows[std::size_t(row)].measure->id;
    sorted_by_ = sorted_by_ == id ? "" : id;
    refresh();
  }

  void refresh() {
    if (!isVisible()) return;
    std::vector<std::string> titles;
    std::vector<Evaluation> evaluations;
    for (int c = 0; c < std::ssize(study_.columns()); ++c) {
      const ColumnState& state = study_.columns()[std::size_t(c)];
      const bool reference = is_reference(state.column.variant);
      titles.push_back(study_.title_of(c) + (state.stale ? " (stale)" : ""));
      evaluations.push_back({.cost = state.computation ? &state.computation->cost : nullptr,
                             .metrics = reference ? nullptr : state.metrics.get(),
                             .time = state.time.get()});
    }
    ComparisonTable table = comparison_table(titles, evaluations);
    order_.resize(titles.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      if (table.rows[r].measure->id == sorted_by_) order_ = order_by(table, r);
    table_ = in_order(table, order_);
    note_->setText(!study_.source()        ? "Nothing is open."
                   : study_.shows_matrix() ? "This source holds only an attention matrix: there "
                                             "is nothing to compare it with."
                   : table_.rows.empty()
                       ? "Nothing is computed yet."
                       : "Bold: the best of a row.  Click a measure to sort the columns by it.");
    fill();
  }

  static ComparisonTable in_order(const ComparisonTable& table,
                                  const std::vector<std::size_t>& order) {
    ComparisonTable out;
    for (const std::size_t c : order) out.titles.push_back(table.titles[c]);
    for (const auto& row : table.rows) {
      auto& cells = out.rows.emplace_back(ComparisonTable::Row{row.measure, {}}).cells;
      for (const std::size_t c : order) cells.push_back(row.cells[c]);
    }
    return out;
  }

  void fill() {
    view_->setColumnCount(int(table_.titles.size()));
    view_->setRowCount(int(table_.rows.size()));
    for (int c = 0; c < view_->columnCount(); ++c)
      set_text(view_->horizontalHeaderItem(c), table_.titles[c],
               [&](auto* item) { view_->setHorizontalHeaderItem(c, item); });
    for (int r = 0; r < view_->rowCount(); ++r) {
      const ComparisonTable::Row& row = table_.rows[r];
      const std::string mark = row.measure->id == sorted_by_ ? "▸ " : "";
      set_text(view_->verticalHeaderItem(r), mark + row.measure->label,
               [&](auto* item) { view_->setVerticalHeaderItem(r, item); });
      view_->verticalHeaderItem(r)->setToolTip(to_qt(row.measure->definition));
      for (int c = 0; c < view_->columnCount(); ++c) {
        set_text(view_->item(r, c), row.cells[c].text,
                 [&](auto* item) { view_->setItem(r, c, item); });
        QTableWidgetItem* cell = view_->item(r, c);
        QFont font = view_->font();
        font.setBold(row.cells[c].best);
        if (cell->font() != font) cell->setFont(font);
        cell->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        cell->setToolTip(to_qt(row.measure->definition));
      }
    }
  }

  /// Each change of an item paints the dock.
  template <class Put>
  static void set_text(QTableWidgetItem* item, const std::string& text, Put put) {
    if (!item) put(item = new QTableWidgetItem);
    if (const QString now = to_qt(text); item->text() != now) item->setText(now);
  }

  Study& study_;
  QLabel* note_;
  QTableWidget* view_;
  ComparisonTable table_;           // as it is shown
  std::vector<std::size_t> order_;  // of the columns
  std::string sorted_by_;           // the id of a measure; empty: as on the canvas
};

}  // namespace

QWidget* make_comparison_dock(Study& study) {
  return new ComparisonDock(study);
}

}  // namespace fovea
