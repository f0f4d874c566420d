// Asks how a figure is to be written, with a preview, and for the name of its file.
#pragma once

#include <QString>
#include <functional>
#include <optional>

#include "figure/figure.h"

class QWidget;

namespace fovea {

struct Export {
  QString path;
  FigureStyle style;
  bool carries_session = true;
};

struct ExportQuestion {
  QString title, proposed;  // the dialog's, and the name of the file
  /// The figure in a style; it names no source if it carries no session.
  std::function<Figure(const FigureStyle& style, bool carries_session)> figure;
  bool of_panels = true;  // else choices for panels are not offered
};

/// All answers are kept for the next question, except the name.
std::optional<Export> ask_export(QWidget& parent, const ExportQuestion& question);

/// The captions of the last export; those of a first question if there was none.
Captions kept_captions();

}  // namespace fovea
