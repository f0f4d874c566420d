// Makes a figure of what the canvas shows: missing cells say why they are missing, and two columns
// that are split or wiped are one panel.
#pragma once

#include <QString>

#include "figure/figure.h"
#include "study/canvas_model.h"

namespace fovea {

/// `border` is that of two columns that are wiped, as a share of a panel's width.
Figure figure_of(const CanvasModel& model, double border, const QString& footer,
                 const FigureStyle& style);
/// One panel that is there, in the range of colours that the canvas uses.
Figure figure_of_panel(const CanvasModel& model, double border, std::size_t row, std::size_t column,
                       const QString& footer, const FigureStyle& style);

}  // namespace fovea
