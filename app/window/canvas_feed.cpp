#include "window/canvas_feed.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <algorithm>

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

bool has_exact(const std::vector<Column>& columns) {
  return std::ranges::any_of(columns, is_reference, &Column::variant);
}

}  // namespace

CanvasFeed::CanvasFeed(WindowParts& parts) : parts_(parts) {
  Study* study = &parts.study;
  Canvas* canvas = &parts.canvas;
  connect(study, &Study::model_changed, this, &CanvasFeed::show_model);
  connect(study, &Study::leaves_chosen, this, [study, canvas] {
    const ChosenLeaves leaves = study->marks().chosen().value_or(ChosenLeaves{});
    canvas->set_chosen_leaves(leaves.column, leaves.leaves);
  });
  qApp->installEventFilter(this);
}

void CanvasFeed::show_model() {
  const Study& study = parts_.study;
  auto model = study.model();
  if (!model) return;
  if (exact_) model = with_exact_in_place(model, study.session().columns);
  parts_.canvas.set_model(model);
  parts_.docks.input->sequence()->set_marked(study.marks().queries(), study.marks().keys());
}

void CanvasFeed::show_exact(bool on) {
  if (on == exact_) return;
  const Study& study = parts_.study;
  const bool there = has_exact(study.session().columns);
  if (on && !there && study.source() && !study.shows_matrix())
    parts_.show_status("No exact column to show in place: Variant > Add > Exact.");
  exact_ = on && there;
  show_model();
}

bool CanvasFeed::eventFilter(QObject* watched, QEvent* event) {
  const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease;
  if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Shift) {
    // A capital letter being typed is no request.
    const QWidget* focus = QApplication::focusWidget();
    const bool typing = focus && (qobject_cast<const QLineEdit*>(focus) ||
                                  qobject_cast<const QAbstractSpinBox*>(focus));
    show_exact(event->type() == QEvent::KeyPress && parts_.window.isActiveWindow() && !typing);
  }
  if (watched == &parts_.window && event->type() == QEvent::WindowDeactivate)
    show_exact(false);  // the release goes to another window
  return QObject::eventFilter(watched, event);
}

}  // namespace fovea
