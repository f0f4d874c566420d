// The context menu of a panel, drawn by ImGui at the pointer.
#pragma once

#include <optional>

#include "canvas/theme.h"

namespace fovea::canvas {

enum class MenuChoice { copy, export_figure, enlarge, pin, go_to };

class PanelMenu {
 public:
  /// Opens the menu in this frame. `can_pin`: there is a query at the pointer.
  void open(bool can_pin, bool is_enlarged);
  bool is_open() const { return open_; }
  /// Draws the menu while it is open; returns what was chosen in this frame. `cancel` closes it.
  std::optional<MenuChoice> step(const Theme& theme, bool cancel);

 private:
  bool opening_ = false, open_ = false, can_pin_ = false, enlarged_ = false;
};

}  // namespace fovea::canvas
