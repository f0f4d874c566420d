// The ExportDialog asks for the size, letters and resolution of a figure, and for its file.
#pragma once

#include <QString>
#include <optional>

#include "figure/figure.h"

class QWidget;

namespace fovea {

struct Export {
  QString path;
  FigureStyle style;
  bool carries_session = true;
};

/// `has_session` says whether the figure can carry a session, which the user can then leave out.
std::optional<Export> ask_export(QWidget& parent, const QString& title, const QString& proposed,
                                 bool has_session = false);

}  // namespace fovea
