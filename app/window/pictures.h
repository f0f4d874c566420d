// Pictures copies panels to the clipboard and exports the canvas as a figure.
#pragma once

#include "window/status_line.h"
#include "window/window_parts.h"

namespace fovea {

struct Figure;
struct FigureStyle;

class Pictures {
 public:
  Pictures(WindowParts& parts, const StatusLine& status) : parts_(parts), status_(status) {}

  void copy_panel(std::size_t row, std::size_t column);
  void export_by_dialog();
  void export_to(const QString& path, const FigureStyle& style);
  void export_panel_by_dialog(std::size_t row, std::size_t column);
  void export_panel_to(const QString& path, std::size_t row, std::size_t column,
                       const FigureStyle& style);

 private:
  std::shared_ptr<const CanvasModel> model_with(std::size_t row, std::size_t column) const;
  void write(const QString& path, Figure figure);

  WindowParts& parts_;
  const StatusLine& status_;
};

}  // namespace fovea
