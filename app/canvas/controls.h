// Controls are the parts of the canvas beside the panels that can be touched, made of ImGui's
// widgets: buttons of rows, switches of legends, ends of colour bars, and the context menu.
#pragma once

#include "canvas/gestures.h"
#include "canvas/screen_ink.h"
#include "views/views.h"

namespace fovea::canvas {

/// Locks the range of colours of the row, or of a panel if each has its own; a locked range follows
/// the numbers again. Column -1 means all panels.
void toggle_lock(Scene& scene, int row, int column);
bool is_locked(const Scene& scene, int row, int column);
/// Whether the norm, or another choice of how numbers become colours, matters in a row.
bool has_colour_menu(View view);

class Controls {
 public:
  /// Draws the controls and reads their input. Changes of the scene's settings are shown at once,
  /// and requested.
  void step(const ImGuiBridge& bridge, Scene& scene, const drawing::Style& style);
  /// Opens the menu in the next step, for what was `clicked`.
  void open_menu(const Pointer& clicked) { opening_ = menu_at_ = clicked; }

  /// Whether a click is for a control.
  bool has_pointer() const { return has_pointer_; }
  bool is_dragging() const { return dragged_.has_value(); }
  /// Whether a menu is open, which takes all input.
  bool has_menu() const { return has_menu_ || opening_; }
  std::vector<Request> take_requests() { return std::exchange(requests_, {}); }

 private:
  /// An end of a colour bar that is being dragged, with the bar as it was pressed.
  struct BarEnd {
    PlacedBar bar;
    bool high;
    std::vector<ColourRange> before;  // for Esc
  };

  /// The place of a control is clipped to `window`, the part of the canvas in which it is seen.
  bool item(const char* name, const Rect& where, const Rect& window);
  bool button(const char* name, const Rect& where, const Rect& window, const char* tip);
  void row_buttons(Scene& scene, int row, const Rect& window, bool seen);
  void touch_row(Scene& scene, int row, const Rect& window, bool double_clicked);
  void header_buttons(Scene& scene);
  void draw_more_icon(const Rect& where);
  void draw_norm_icon(const Rect& where, Norm norm);
  void draw_lock_icon(const Rect& where, bool locked);
  void legend_switches(Scene& scene, const drawing::Legend& legend, Point at, const Rect& window);
  void bar_ends(Scene& scene, const PlacedBar& bar, const Rect& window, bool double_clicked);
  void drag_bar_end(Scene& scene, Point at);
  void choose_view(const Scene& scene, int row);
  void choose_own(Scene& scene, const ViewField& field);
  void choose_norm(Scene& scene, int row);
  bool begin_menu(const char* name);
  void context_menu(Scene& scene);
  void panel_menu(Scene& scene);
  void column_menu(const Scene& scene);
  bool menu_item(const char* words, bool enabled = true, bool on = false);
  void action_item(const char* words, const char* name);
  void request_settings(const Scene& scene);

  ScreenInk* ink_ = nullptr;  // during a step
  std::vector<Request> requests_;
  std::optional<BarEnd> dragged_;
  std::optional<Pointer> opening_;
  Pointer menu_at_;
  bool is_touched_ = false, is_dragged_ = false;  // of the last item, by the pointer
  bool has_pointer_ = false, has_menu_ = false, escape_ = false;
};

}  // namespace fovea::canvas
