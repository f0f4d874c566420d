#include "window/what_is_said.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSlider>
#include <QStatusBar>
#include <QTableView>
#include <QTextEdit>
#include <QTreeView>
#include <algorithm>

#include "kept_lines.h"
#include "painted_notes.h"

namespace fovea::test {
namespace {

constexpr int most_rows = 40;  // of a table

/// What a time has to say changes with each round.
bool is_of_rounds(const QString& tip) {
  return tip.contains("in the same round") || tip.contains("over rounds");
}

QString one_line(QString text) {
  text.replace("&nbsp;", " ").replace(FOVEA_TESTS, "#").replace(FOVEA_ASSETS, "#");
  static const QRegularExpression times(R"(\d[\d.,]*(e[+-]\d+)?\s?(ns|µs|ms|s|min)\b)"),
      folders(R"((/[\w.+-]+)+/(assets|fovea[\w.-]*|tmp)/)"), processors(R"(CPU [^,;\n]*)"),
      threads(R"(\d+ threads?)");
  text.replace(times, "# s")
      .replace(folders, "#/")
      .replace(processors, "CPU #")
      .replace(threads, "# threads");
  return text.replace('\n', "\\n");
}

void put(QStringList& parts, const char* name, const QString& text) {
  if (!text.isEmpty()) parts << QString(name) + " \"" + one_line(text) + "\"";
}

QString range_text(double value, double low, double high, double step, int decimals) {
  return QString("%1 in %2 to %3 by %4, %5 decimals")
      .arg(value)
      .arg(low)
      .arg(high)
      .arg(step)
      .arg(decimals);
}

/// What the control itself says, beside what every widget has.
void put_own(QStringList& parts, const QWidget* widget) {
  if (const auto* label = qobject_cast<const QLabel*>(widget)) {
    put(parts, "text", label->text());
  } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
    put(parts, "text", button->text());
    if (button->isCheckable()) parts << (button->isChecked() ? "checked" : "not checked");
    put(parts, "key", button->shortcut().toString());
  } else if (const auto* line = qobject_cast<const QLineEdit*>(widget)) {
    put(parts, "text", line->text());
    put(parts, "placeholder", line->placeholderText());
    if (line->isReadOnly()) parts << "read only";
  } else if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
    put(parts, "text", box->currentText());
    QStringList items;
    for (int i = 0; i < box->count(); ++i)
      items << box->itemText(i) +
                   (box->model()->flags(box->model()->index(i, 0)) & Qt::ItemIsEnabled ? ""
                                                                                       : " (off)");
    put(parts, "of", items.join(" | "));
  } else if (const auto* real = qobject_cast<const QDoubleSpinBox*>(widget)) {
    put(parts, "text", real->text());
    parts << range_text(real->value(), real->minimum(), real->maximum(), real->singleStep(),
                        real->decimals());
  } else if (const auto* whole = qobject_cast<const QSpinBox*>(widget)) {
    put(parts, "text", whole->text());
    parts << range_text(whole->value(), whole->minimum(), whole->maximum(), whole->singleStep(), 0);
  } else if (const auto* slider = qobject_cast<const QSlider*>(widget)) {
    parts << range_text(slider->value(), slider->minimum(), slider->maximum(), slider->singleStep(),
                        0)
          << QString("pages of %1").arg(slider->pageStep());
  } else if (const auto* group = qobject_cast<const QGroupBox*>(widget)) {
    put(parts, "title", group->title());
  } else if (const auto* plain = qobject_cast<const QPlainTextEdit*>(widget)) {
    put(parts, "text", plain->toPlainText());
    put(parts, "placeholder", plain->placeholderText());
  } else if (const auto* text = qobject_cast<const QTextEdit*>(widget)) {
    put(parts, "text", text->toPlainText());
  } else if (const auto* dock = qobject_cast<const QDockWidget*>(widget)) {
    put(parts, "title", dock->windowTitle());
  } else if (const auto* progress = qobject_cast<const QProgressBar*>(widget)) {
    parts << QString("of %1 to %2").arg(progress->minimum()).arg(progress->maximum());
  }
}

void put_cells(Lines& lines, const QAbstractItemView& view) {
  const QAbstractItemModel* model = view.model();
  if (!model) return;
  const auto header = [&](Qt::Orientation side, int count) {
    QStringList titles;
    for (int at = 0; at < std::min(count, most_rows); ++at) {
      const QString title = model->headerData(at, side).toString(),
                    tip = model->headerData(at, side, Qt::ToolTipRole).toString();
      titles << one_line(title + (tip.isEmpty() ? "" : " (" + tip + ")"));
    }
    return titles.join(" | ").toStdString();
  };
  if (!qobject_cast<const QListView*>(&view))
    lines.push_back("  columns " + header(Qt::Horizontal, model->columnCount()));
  if (qobject_cast<const QTableView*>(&view))
    lines.push_back("  rows " + header(Qt::Vertical, model->rowCount()));
  for (int row = 0; row < std::min(model->rowCount(), most_rows); ++row) {
    QStringList cells;
    for (int column = 0; column < model->columnCount(); ++column) {
      const QModelIndex cell = model->index(row, column);
      if (is_of_rounds(cell.data(Qt::ToolTipRole).toString())) continue;
      QStringList parts{one_line(cell.data().toString())};
      put(parts, "tip", cell.data(Qt::ToolTipRole).toString());
      put(parts, "spoken", cell.data(Qt::AccessibleTextRole).toString());
      const QVariant check = cell.data(Qt::CheckStateRole);
      if (check.isValid()) parts << QString("check %1").arg(check.toInt());
      if (!(cell.flags() & Qt::ItemIsEnabled)) parts << "off";
      if (!(cell.flags() & Qt::ItemIsSelectable)) parts << "not selectable";
      cells << parts.join(", ");
    }
    lines.push_back("  " + cells.join(" | ").toStdString());
  }
}

void put_menu(Lines& lines, QMenu& menu, const QString& indent) {
  emit menu.aboutToShow();
  for (const QAction* entry : menu.actions()) {
    if (entry->isSeparator()) {
      lines.push_back((indent + "-").toStdString());
      continue;
    }
    QStringList parts{one_line(entry->text())};
    put(parts, "name", entry->objectName());
    put(parts, "key", entry->shortcut().toString());
    if (entry->toolTip() != QString(entry->text()).remove('&').remove("…"))
      put(parts, "tip", entry->toolTip());
    if (!entry->isEnabled()) parts << "off";
    if (!entry->isVisible()) parts << "hidden";
    if (entry->isCheckable()) parts << (entry->isChecked() ? "checked" : "not checked");
    lines.push_back((indent + parts.join(", ")).toStdString());
    if (entry->menu()) put_menu(lines, *entry->menu(), indent + "  ");
  }
}

bool is_inner(const QWidget* widget) {
  const QString name = widget->objectName();
  return (name.startsWith("qt_") && name != "qt_scrollarea_viewport") ||
         qobject_cast<const QScrollBar*>(widget) || qobject_cast<const QHeaderView*>(widget) ||
         qobject_cast<const QMenu*>(widget) ||
         (widget->parentWidget() &&
          (qobject_cast<const QAbstractSpinBox*>(widget->parentWidget()) ||
           qobject_cast<const QComboBox*>(widget->parentWidget())));
}

void put_widget(Lines& lines, const QWidget* widget, const QWidget& root) {
  if (!widget->isVisibleTo(&root) && widget != &root) return;
  if (is_inner(widget) || qobject_cast<const QStatusBar*>(widget)) return;
  QStringList parts;
  if (is_of_rounds(widget->toolTip()))
    parts << "#";
  else
    put_own(parts, widget);
  if (!is_of_rounds(widget->toolTip())) put(parts, "tip", widget->toolTip());
  put(parts, "spoken", widget->accessibleName());
  put(parts, "description", widget->accessibleDescription());
  if (!widget->isEnabledTo(widget->parentWidget())) parts << "off";
  if (!parts.isEmpty()) {
    const QString name = widget->objectName();
    lines.push_back((QString(widget->metaObject()->className()).section("::", -1) +
                     (name.isEmpty() ? "" : " " + name) + ": " + parts.join(", "))
                        .toStdString());
  }
  if (const auto* view = qobject_cast<const QAbstractItemView*>(widget))
    return put_cells(lines, *view);
  for (const QObject* child : widget->children())
    if (child->isWidgetType() && !static_cast<const QWidget*>(child)->isWindow())
      put_widget(lines, static_cast<const QWidget*>(child), root);
}

}  // namespace

void add(Lines& to, const std::string& title, const Lines& lines) {
  to.push_back("== " + title);
  to.insert(to.end(), lines.begin(), lines.end());
}

Lines said_by(const QWidget& root) {
  Lines lines;
  put_widget(lines, &root, root);
  return lines;
}

Lines menus_of(const QWidget& window) {
  Lines lines;
  for (const QAction* entry : static_cast<const QMainWindow&>(window).menuBar()->actions()) {
    lines.push_back(one_line(entry->text()).toStdString());
    if (entry->menu()) put_menu(lines, *entry->menu(), "  ");
  }
  return lines;
}

Lines painted_by(QWidget& widget, QSize size) {
  widget.resize(size);
  PaintedNotes notes;
  PaperForNotes paper(notes, size, 96);
  widget.render(&paper, {}, {}, QWidget::DrawWindowBackground | QWidget::DrawChildren);
  Lines lines;
  for (const std::string& line : notes.lines)
    lines.push_back(one_line(QString::fromStdString(line)).toStdString());
  return lines;
}

}  // namespace fovea::test
