#include <QEvent>
#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <algorithm>

#include "window/widgets/sorted_table.h"

namespace fovea {
namespace {

/// The table over another one, with the first columns of that.
class FrozenColumns : public QTableView {
 public:
  FrozenColumns(QTableView& below, int count) : QTableView(&below), below_(below), count_(count) {
    setModel(below.model());
    setSelectionModel(below.selectionModel());
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setSelectionBehavior(below.selectionBehavior());
    setSelectionMode(below.selectionMode());
    setWordWrap(false);
    setObjectName("frozen_columns");
    setAccessibleName(below.accessibleName());
    setVerticalScrollMode(below.verticalScrollMode());
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(below.verticalHeader()->defaultSectionSize());
    setSortingEnabled(false);
    horizontalHeader()->setSectionsClickable(true);
    horizontalHeader()->setSortIndicatorShown(true);
    horizontalHeader()->setSortIndicator(below.horizontalHeader()->sortIndicatorSection(),
                                         below.horizontalHeader()->sortIndicatorOrder());
    follow_columns();
    connect(below.horizontalHeader(), &QHeaderView::sectionResized, this,
            &FrozenColumns::follow_columns);
    connect(below.horizontalHeader(), &QHeaderView::geometriesChanged, this,
            &FrozenColumns::follow_columns);
    connect(below.horizontalHeader(), &QHeaderView::sortIndicatorChanged, horizontalHeader(),
            &QHeaderView::setSortIndicator);
    connect(horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int column) {
      const QHeaderView& header = *below_.horizontalHeader();
      const bool again = header.sortIndicatorSection() == column &&
                         header.sortIndicatorOrder() == Qt::AscendingOrder;
      below_.sortByColumn(column, again ? Qt::DescendingOrder : Qt::AscendingOrder);
    });
    connect(model(), &QAbstractItemModel::modelReset, this, &FrozenColumns::follow_columns);
    connect(this, &QTableView::activated, &below, &QTableView::activated);
    connect(below.verticalScrollBar(), &QScrollBar::valueChanged, verticalScrollBar(),
            &QScrollBar::setValue);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, below.verticalScrollBar(),
            &QScrollBar::setValue);
    below.installEventFilter(this);
    below.viewport()->installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show) place();
    return QTableView::eventFilter(watched, event);
  }

 private:
  void follow_columns() {
    for (int column = 0; column < model()->columnCount(); ++column) {
      setColumnHidden(column, column >= count_);
      if (column < count_) setColumnWidth(column, below_.columnWidth(column));
    }
    place();
  }

  void place() {
    int width = 0;
    for (int column = 0; column < std::min(count_, model()->columnCount()); ++column)
      width += below_.columnWidth(column);
    const QRect inside = below_.viewport()->geometry();
    const int header = below_.horizontalHeader()->height();
    horizontalHeader()->setFixedHeight(header);
    setGeometry(inside.x(), inside.y() - header, width, inside.height() + header);
    setVisible(width > 0);
    raise();
  }

  QTableView& below_;
  int count_;
};

}  // namespace

void freeze_columns(QTableView& view, int count) {
  new FrozenColumns(view, count);
}

}  // namespace fovea
