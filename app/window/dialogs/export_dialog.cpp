#include "window/dialogs/export_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QPushButton>
#include <QSpinBox>

#include "canvas/canvas.h"
#include "drawing/colour_scale.h"
#include "window/widgets/theme.h"

namespace fovea {

ExportDialog::ExportDialog(const QString& title, QWidget* parent) : QDialog(parent) {
  setWindowTitle(title);
  auto* form = new QFormLayout(this);
  form->setSpacing(rhythm);
  form->setContentsMargins(16, 16, 16, 16);
  form->addRow("&Width", width_ = new QComboBox(this));
  width_->addItem("7 in, two columns", 7 * 72.0);
  width_->addItem("3.5 in, one column", 3.5 * 72.0);
  form->addRow("&Resolution", dpi_ = new QSpinBox(this));
  dpi_->setRange(72, 1200);
  dpi_->setValue(300);
  dpi_->setSuffix(" dpi");
  form->addRow("&Look", look_ = new QComboBox(this));
  look_->addItems({"light, for print", "dark, as a slide"});
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  buttons->button(QDialogButtonBox::Ok)->setText("Choose a file…");
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  form->addRow(buttons);
}

QString ExportDialog::ask_path(const QString& proposed) {
  if (exec() != QDialog::Accepted) return {};
  QString filter;
  QString path = QFileDialog::getSaveFileName(parentWidget(), "Export", proposed,
                                              "PDF (*.pdf);;SVG (*.svg);;PNG (*.png)", &filter);
  if (!path.isEmpty() && !path.contains('.')) path += "." + filter.left(3).toLower();
  return path;
}

FigureStyle ExportDialog::style() const {
  FigureStyle style;
  style.width = width_->currentData().toDouble();
  style.dpi = dpi_->value();
  style.dark = look_->currentIndex() == 1;
  return style;
}

Figure figure_of(const CanvasModel& model, const QString& title, const QString& footer,
                 const FigureStyle& style) {
  Figure figure{.title = title.toStdString(),
                .footer = footer.toStdString(),
                .style = style,
                .sequence = model.sequence};
  figure.style.settings = model.settings;
  for (std::size_t r = 0; r < model.cells.size(); ++r) {
    figure.rows.emplace_back();
    for (std::size_t c = 0; c < model.cells[r].size(); ++c) {
      const CanvasCell& cell = model.cells[r][c];
      Panel panel = cell.panel ? *cell.panel
                               : Panel{.view = model.views[r],
                                       .title = model.column_titles[c],
                                       .subtitle = {},
                                       .caption = {},
                                       .body = Message{cell.status}};
      // As the headers of the canvas read.
      if (c < model.column_subtitles.size()) panel.subtitle = model.column_subtitles[c];
      if (cell.token_errors) add_row_errors(panel, *cell.token_errors);
      if (cell.panel && cell.stale) panel.caption += panel.caption.empty() ? "stale" : "; stale";
      figure.rows.back().push_back(std::move(panel));
    }
  }
  return figure;
}

Figure figure_of_panel(const CanvasModel& model, std::size_t row, std::size_t column,
                       const QString& footer, const FigureStyle& style) {
  Figure figure = figure_of(model, {}, footer, style);
  std::vector<const Panel*> panels;
  for (const Panel& panel : figure.rows[row]) panels.push_back(&panel);
  const auto scale = drawing::scales_of_row(model.views[row], panels, model.settings).of[column];
  figure.rows = {{figure.rows[row][column]}};
  figure.style.settings.ranges.clear();
  if (scale && scale->is_amounts())
    figure.style.settings.ranges = {{figure.rows[0][0].view, -1, scale->low, scale->high}};
  return figure;
}

}  // namespace fovea
