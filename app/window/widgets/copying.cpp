#include "window/widgets/copying.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QTableWidget>
#include <QToolButton>

#include "views/views.h"
#include "window/widgets/text.h"

namespace fovea {

namespace {

void add_copy_entries(QMenu& menu, const QString& before,
                      std::function<std::string(TableFormat)> whole) {
  for (const auto& [name, format] : {std::pair{"&text", TableFormat::text},
                                     {"&Markdown", TableFormat::markdown},
                                     {"&LaTeX", TableFormat::latex}})
    menu.addAction(before + name, &menu, [whole, format = format] {
      QApplication::clipboard()->setText(to_qt(whole(format)));
    });
}

}  // namespace

QToolButton* make_copy_button(std::function<std::string(TableFormat)> table) {
  auto* button = new QToolButton;
  button->setText("Copy");
  button->setToolTip("Copy the table");
  button->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(button);
  add_copy_entries(*menu, "As ", std::move(table));
  button->setMenu(menu);
  return button;
}

QMenu* make_copy_menu(QWidget& parent, const QString& part,
                      std::function<std::string(TableFormat)> whole) {
  auto* menu = new QMenu(&parent);
  menu->setObjectName("copy_menu");
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction("&Copy", menu, [part] { QApplication::clipboard()->setText(part); })
      ->setEnabled(!part.isEmpty());
  menu->addSeparator();
  add_copy_entries(*menu, "Copy table as ", std::move(whole));
  return menu;
}

TableCopying::TableCopying(QTableWidget& view, std::function<std::string(TableFormat)> whole,
                           More more)
    : QObject(&view), view_(view), whole_(std::move(whole)), more_(std::move(more)) {
  view.installEventFilter(this);
  view.viewport()->installEventFilter(this);
}

// Rows of selected cells, or the current cell if nothing is selected.
QString TableCopying::selected_text() const {
  const auto ranges = view_.selectedRanges();
  const auto text_at = [this](int row, int column) {
    const QTableWidgetItem* item = view_.item(row, column);
    return item ? item->text() : QString();
  };
  if (ranges.isEmpty()) return text_at(view_.currentRow(), view_.currentColumn());
  QStringList lines;
  for (const QTableWidgetSelectionRange& range : ranges)
    for (int row = range.topRow(); row <= range.bottomRow(); ++row) {
      QStringList cells;
      for (int column = range.leftColumn(); column <= range.rightColumn(); ++column)
        cells << text_at(row, column);
      lines << cells.join('\t');
    }
  return lines.join('\n');
}

bool TableCopying::eventFilter(QObject* watched, QEvent* event) {
  const auto is_copy = [&] { return static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy); };
  if (event->type() == QEvent::ShortcutOverride && is_copy()) {
    event->accept();  // otherwise the window would copy a panel
    return true;
  }
  if (event->type() == QEvent::KeyPress && watched == &view_ && is_copy()) {
    if (const QString text = selected_text(); !text.isEmpty())
      QApplication::clipboard()->setText(text);
    return true;
  }
  if (event->type() == QEvent::ContextMenu) {
    const auto& asked = static_cast<QContextMenuEvent&>(*event);
    const bool by_key = asked.reason() == QContextMenuEvent::Keyboard;
    const QModelIndex cell =
        by_key ? view_.currentIndex()
               : view_.indexAt(view_.viewport()->mapFromGlobal(asked.globalPos()));
    if (cell.isValid() && !view_.selectionModel()->isSelected(cell)) view_.setCurrentIndex(cell);
    QMenu* menu = make_copy_menu(view_, selected_text(), whole_);
    if (more_ && cell.isValid()) more_(*menu, cell);
    menu->popup(by_key ? view_.viewport()->mapToGlobal(view_.visualRect(cell).center())
                       : asked.globalPos());
    return true;
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace fovea
