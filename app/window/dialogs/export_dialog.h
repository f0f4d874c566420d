// The ExportDialog asks how large and how fine a figure is to be, and where it goes.
#pragma once

#include <QDialog>

#include "figure/figure.h"

class QComboBox;
class QSpinBox;

namespace fovea {

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ExportDialog(QWidget* parent = nullptr);
  FigureStyle style() const;

 private:
  QComboBox *width_, *look_;
  QSpinBox* dpi_;
};

struct CanvasModel;
/// What the canvas shows as a figure; cells that are not there yet say why.
Figure figure_of(const CanvasModel& model, const QString& title, const QString& footer,
                 const FigureStyle& style);

}  // namespace fovea
