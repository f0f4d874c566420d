// The ExportDialog asks how large and how fine a figure shall be, and for its file.
#pragma once

#include <QDialog>

#include "figure/figure.h"

class QComboBox;
class QSpinBox;

namespace fovea {

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ExportDialog(const QString& title, QWidget* parent = nullptr);
  /// Runs the dialog, then asks for a file; empty: cancelled.
  QString ask_path(const QString& proposed);
  FigureStyle style() const;

 private:
  QComboBox *width_, *look_;
  QSpinBox* dpi_;
};

struct CanvasModel;
/// What the canvas shows as a figure; cells that are not there yet say why.
Figure figure_of(const CanvasModel& model, const QString& title, const QString& footer,
                 const FigureStyle& style);
/// One panel, in the range of colours that the canvas shows it in.
Figure figure_of_panel(const CanvasModel& model, std::size_t row, std::size_t column,
                       const QString& footer, const FigureStyle& style);

}  // namespace fovea
