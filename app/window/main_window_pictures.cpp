// What the canvas of a MainWindow shows: the study's model, exact in place of it while Shift is
// held.
#include <QAbstractSpinBox>
#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <algorithm>

#include "window/docks/input_dock.h"
#include "window/docks/inspector_dock.h"
#include "window/main_window.h"
#include "window/widgets/view_bar.h"

namespace fovea {
namespace {

// The pictures of every column give way to the exact one's; what compares with exact stays.
std::shared_ptr<const CanvasModel> with_exact_in_place(std::shared_ptr<const CanvasModel> model,
                                                       const std::vector<Column>& columns) {
  auto shown = std::make_shared<CanvasModel>(*model);
  shown->ranges_of = model;
  const auto exact = static_cast<std::size_t>(
      std::ranges::find_if(columns, is_reference, &Column::variant) - columns.begin());
  const auto is_picture = [](const CanvasCell& cell) {
    return cell.panel && (std::holds_alternative<Raster>(cell.panel->body) ||
                          std::holds_alternative<BlockMap>(cell.panel->body) ||
                          std::holds_alternative<OutputPicture>(cell.panel->body));
  };
  for (auto& row : shown->cells)
    for (CanvasCell& cell : row)
      if (exact < row.size() && is_picture(row[exact])) cell = row[exact];
  if (exact < columns.size())
    for (std::string& subtitle : shown->column_subtitles) subtitle = "exact, while Shift is held";
  return shown;
}

}  // namespace

void MainWindow::show_model() {
  auto model = study_->model();
  if (!model) return;
  if (show_exact_) model = with_exact_in_place(model, study_->session().columns);
  canvas_->set_model(model);
  view_bar_->show_use(*study_->model());
  input_->sequence()->set_marked(study_->marked_queries(), study_->marked_keys());
  inspector_->refresh_block();
}

void MainWindow::show_token_errors() {
  TokenErrors errors;
  for (const ColumnState& column : study_->columns()) {
    errors.emplace_back();  // part of the metrics, which stay as long as it is shown
    if (column.metrics) errors.back() = {column.metrics, &column.metrics->token_error};
  }
  canvas_->set_token_errors(std::move(errors));
}

void MainWindow::show_exact(bool on) {
  if (on == show_exact_) return;
  const auto& columns = study_->session().columns;
  const bool there = std::ranges::any_of(columns, is_reference, &Column::variant);
  if (on && !there && study_->source() && !study_->shows_matrix())
    say("No exact column to show in place: Variant > Add > Exact.");
  show_exact_ = on && there;
  show_model();
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease;
  if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Shift) {
    // A capital letter typed is no question.
    const QWidget* focus = QApplication::focusWidget();
    const bool typing = focus && (qobject_cast<const QLineEdit*>(focus) ||
                                  qobject_cast<const QAbstractSpinBox*>(focus));
    show_exact(event->type() == QEvent::KeyPress && isActiveWindow() && !typing);
  }
  return QMainWindow::eventFilter(watched, event);
}

bool MainWindow::event(QEvent* event) {
  if (event->type() == QEvent::WindowDeactivate) show_exact(false);  // a release goes elsewhere
  // Every window of the program is told before anything is polished anew.
  if (event->type() == QEvent::ThemeChange && look_ == "desktop")
    QMetaObject::invokeMethod(this, &MainWindow::show_look, Qt::QueuedConnection);
  return QMainWindow::event(event);
}

}  // namespace fovea
