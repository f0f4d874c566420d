// Pictures copies panels to the clipboard and exports the canvas as a figure.
#pragma once

#include "window/status_line.h"
#include "window/window_parts.h"

namespace fovea {

struct FigureStyle;

class Pictures {
 public:
  Pictures(WindowParts& parts, const StatusLine& status) : parts_(parts), status_(status) {}

  void copy_panel(std::size_t row, std::size_t column);
  void export_by_dialog();
  void export_to(const QString& path, const FigureStyle& style);

 private:
  WindowParts& parts_;
  const StatusLine& status_;
};

}  // namespace fovea
