// Gestures turn the pointer, the wheel and the keys of a frame into requests for the owner of the
// canvas.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "canvas/imgui_bridge.h"
#include "canvas/scene.h"

namespace fovea {

class Canvas;

namespace canvas {

/// An action after the frame, mostly a signal. During the frame it could open a dialog or set a new
/// model.
using Request = std::function<void(Canvas&)>;

class Gestures {
 public:
  /// Moves the scene to where earlier gestures have moved it. A drag ends if other rows or columns
  /// are shown than those it began on.
  void place(Scene& scene);
  /// Reads the input of this frame. The scene's grid, viewport, pointer and drags are updated at
  /// once; the requests are for the owner of the canvas. `may_press` is false while the pointer is
  /// on a control.
  std::vector<Request> step(const ImGuiBridge& bridge, Scene& scene, bool may_press);
  /// The panel, or with row -1 the header, that was clicked with the right button in this frame.
  const std::optional<Pointer>& right_click() const { return right_click_; }
  /// Whether something is being dragged. Esc ends a drag, and takes a pan back.
  bool is_dragging() const { return drag_ != Drag::none; }
  /// To be called when a new model has come. A model answers the requests that were sent to the
  /// owner, not those that still wait to be sent.
  void model_changed();
  /// To be called when the model has other numbers of tokens than before: gestures that began on
  /// the old ones end.
  void lengths_changed(Lengths now);
  /// Takes the crosshair from keys or another widget; -1, -1 for none. It is never reported as
  /// hovered.
  void point_elsewhere(Index query, Index key);
  /// As Scene has it.
  double border() const { return border_; }
  /// Scrolls the grid in the next step until the panel is seen; with row -1 until its column is
  /// seen.
  void show_panel(int row, int column) { to_show_ = {row, column}; }
  /// Called when panels change their size from `side` in the next step: what is at the point stays
  /// there.
  void keep_place(Point at, double side);

 private:
  struct Shown {
    std::vector<View> views;
    std::vector<std::string> titles;
    friend bool operator==(const Shown&, const Shown&) = default;
  };
  struct KeptPlace {
    Point at;
    double side = 0;  // of panels, before the change
  };
  enum class Drag { none, click, menu, rectangle, pan, header, horizontal_bar, vertical_bar };

  void press(const ImGuiBridge& bridge, const Scene& scene, Point at);
  void drag(Scene& scene, Point at);
  void release(const Scene& scene, Point at);
  void cancel(Scene& scene);
  void click(const Scene& scene);
  void double_click(const Scene& scene);
  void scroll_to_kept_place(const Scene& scene);
  void turn_wheel(const ImGuiBridge& bridge, Scene& scene, Point at);
  void follow_elsewhere(Scene& scene, Point at);
  void move_border(Scene& scene, Point at);
  void scroll_to_show(Scene& scene, std::pair<int, int> row_and_column);
  void request(Scene& scene, const Viewport& viewport);
  /// `undo` takes `request` back if the click turns out to be the first of a double click.
  void click_requests(Request request, Request undo);
  static Shown shown_in(const Scene& scene);
  std::pair<IndexRange, IndexRange> rectangle(const Scene& scene, Point at) const;
  void show_cursor(const Scene& scene, Point at) const;

  std::vector<Request> requests_;
  std::optional<KeptPlace> kept_;
  Request undo_click_;  // empty if the last press was no click, or if its effect stays
  Drag drag_ = Drag::none;
  int button_ = 0, header_ = -1;
  Point pressed_at_, last_;
  Shown shown_at_press_;
  Pointer pressed_on_;
  std::optional<Pointer> reported_ = Pointer{};  // no value makes the next one reported in any case
  std::optional<Pointer> right_click_;
  Rect pressed_panel_;
  Point panned_from_;
  Viewport viewport_before_, panned_to_;  // of a pan: where it began, and where it asked to go last
  Point scroll_;
  double border_ = 0.5;
  std::optional<Viewport> pending_;  // requested, and shown before the owner answers
  int unsent_ = 0;                   // requests of a viewport that still wait for the frame's end
  std::optional<std::pair<Index, Index>> elsewhere_;  // query, key
  std::optional<Point> rested_at_;                    // where the pointer was meanwhile
  std::optional<std::pair<int, int>> to_show_;        // row, column
};

}  // namespace canvas
}  // namespace fovea
