#include "window/pictures.h"

#include <QApplication>
#include <QClipboard>
#include <QPainter>

#include "canvas/row_scale.h"
#include "window/dialogs/export_dialog.h"
#include "window/widgets/theme.h"

namespace fovea {

void Pictures::copy_panel(std::size_t row, std::size_t column) {
  const auto model = parts_.study.model();
  if (!model || row >= model->cells.size() || column >= model->cells[row].size() ||
      !model->cells[row][column].panel)
    return parts_.show_status("There is no panel to copy yet.");
  constexpr double points = 252, scale = 4;
  QImage image(int(points * scale), int(points * scale), QImage::Format_RGB32);
  FigureStyle style;
  style.dark = Theme::current().window == Theme::dark().window;
  style.width = style.height.emplace(points);
  Figure figure = figure_of(*model, {}, {}, style);
  figure.rows = {{std::move(figure.rows[row][column])}};
  if (auto* raster = std::get_if<Raster>(&figure.rows[0][0].body))
    if (const auto range = canvas::shared_range(*model, row))
      std::tie(raster->low, raster->high) = *range;
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_figure(painter, figure);
  painter.end();
  QApplication::clipboard()->setImage(image);
  parts_.show_status("Copied the " + QString::fromStdString(to_text(model->views[row])) + " of " +
                     QString::fromStdString(model->column_titles[column]));
}

void Pictures::export_by_dialog() {
  ExportDialog dialog("Export the canvas", &parts_.window);
  const QString path = dialog.ask_path("attention.pdf");
  if (!path.isEmpty()) export_to(path, dialog.style());
}

void Pictures::export_to(const QString& path, const FigureStyle& style) {
  const auto model = parts_.study.model();
  if (!model) return parts_.show_status("There is nothing to export yet.");
  parts_.write_file(path,
                    [path = path.toStdString(), model, style, provenance = status_.provenance()] {
                      write_figure(path, figure_of(*model, {}, provenance, style));
                    });
}

}  // namespace fovea
