// Copies the content of a dock into the clipboard, by Ctrl+C, a context menu or a button.
#pragma once

#include <QObject>
#include <functional>
#include <string>

#include "data/marked_table.h"

class QMenu;
class QModelIndex;
class QTableWidget;
class QToolButton;
class QWidget;

namespace fovea {

/// A button with a menu that copies a table as text, Markdown or LaTeX. `table` is called when it
/// is copied.
QToolButton* make_copy_button(std::function<std::string(TableFormat)> table);

/// A menu with "Copy", which copies `part`, and entries for the whole table as text, Markdown and
/// LaTeX. It deletes itself when it is closed.
QMenu* make_copy_menu(QWidget& parent, const QString& part,
                      std::function<std::string(TableFormat)> whole);

/// Ctrl+C in a table of items copies the selected cells. The context menu does the same, and also
/// copies the whole table.
class TableCopying : public QObject {
 public:
  /// More entries for the context menu on a cell.
  using More = std::function<void(QMenu& menu, const QModelIndex& cell)>;
  TableCopying(QTableWidget& view, std::function<std::string(TableFormat)> whole, More more = {});

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QString selected_text() const;

  QTableWidget& view_;
  std::function<std::string(TableFormat)> whole_;
  More more_;
};

}  // namespace fovea
