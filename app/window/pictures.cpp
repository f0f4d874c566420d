#include "window/pictures.h"

#include <QApplication>
#include <QClipboard>
#include <QPainter>

#include "window/dialogs/export_dialog.h"
#include "window/widgets/theme.h"

namespace fovea {

/// The canvas's model when it has that panel; else null, and the status bar says so.
std::shared_ptr<const CanvasModel> Pictures::model_with(std::size_t row, std::size_t column) const {
  const auto model = parts_.study.model();
  if (model && row < model->cells.size() && column < model->cells[row].size() &&
      model->cells[row][column].panel)
    return model;
  parts_.show_status("There is no panel there yet.");
  return nullptr;
}

void Pictures::copy_panel(std::size_t row, std::size_t column) {
  const auto model = model_with(row, column);
  if (!model) return;
  constexpr double points = 252, scale = 4;
  QImage image(int(points * scale), int(points * scale), QImage::Format_RGB32);
  FigureStyle style;
  style.dark = Theme::current().window == Theme::dark().window;
  style.width = points;
  style.height = points;
  image.fill(style.dark ? Theme::dark().window : QColor(Qt::white));
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_figure(painter, figure_of_panel(*model, row, column, {}, style));
  painter.end();
  QApplication::clipboard()->setImage(image);
  parts_.show_status("Copied the " + QString::fromStdString(to_text(model->views[row])) + " of " +
                     QString::fromStdString(model->column_titles[column]));
}

void Pictures::export_panel_by_dialog(std::size_t row, std::size_t column) {
  if (!model_with(row, column)) return;
  ExportDialog dialog("Export the panel", &parts_.window);
  const QString path = dialog.ask_path("panel.pdf");
  if (!path.isEmpty()) export_panel_to(path, row, column, dialog.style());
}

void Pictures::export_panel_to(const QString& path, std::size_t row, std::size_t column,
                               const FigureStyle& style) {
  const auto model = model_with(row, column);
  if (model) write(path, figure_of_panel(*model, row, column, status_.provenance(), style));
}

void Pictures::export_by_dialog() {
  ExportDialog dialog("Export the canvas", &parts_.window);
  const QString path = dialog.ask_path("attention.pdf");
  if (!path.isEmpty()) export_to(path, dialog.style());
}

void Pictures::export_to(const QString& path, const FigureStyle& style) {
  const auto model = parts_.study.model();
  if (!model) return parts_.show_status("There is nothing to export yet.");
  write(path, figure_of(*model, {}, status_.provenance(), style));
}

void Pictures::write(const QString& path, Figure figure) {
  parts_.write_file(path, [path = path.toStdString(), figure = std::move(figure)] {
    write_figure(path, figure);
  });
}

}  // namespace fovea
