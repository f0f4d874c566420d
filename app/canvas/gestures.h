// Gestures turn the pointer, the wheel and the keys of a frame into requests for the owner of the
// canvas.
#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "canvas/imgui_bridge.h"
#include "canvas/scene.h"

namespace fovea::canvas {

struct RequestViewport {
  Viewport viewport;
};
struct Hover {
  Pointer pointer;
};
struct PinQuery {
  Index query;
};
struct SelectRectangle {
  IndexRange rows, cols;
};
struct ChooseColumn {
  int column;
};
struct MoveColumn {
  int from, to;
};
struct ChooseLeaves {
  int column;
  IndexRange leaves;
};
/// A colour bar's range; none: it follows the numbers again. Column -1: of the row.
struct ChooseRange {
  int row, column;
  std::optional<std::pair<double, double>> range;
};
struct OpenMenu {
  Pointer pointer;
};
struct ChooseBlock {
  int column;
  Index query, key;
};
/// `clicked`: the request of its first click was sent already and is to be taken back.
struct DoubleClick {
  int row, column;
  bool clicked;
};
using Request =
    std::variant<RequestViewport, Hover, PinQuery, SelectRectangle, ChooseColumn, MoveColumn,
                 ChooseLeaves, ChooseBlock, ChooseRange, OpenMenu, DoubleClick>;

class Gestures {
 public:
  /// Reads the input of this frame. The scene's grid, viewport, pointer and drags are updated at
  /// once; the requests are for the owner of the canvas.
  std::vector<Request> step(const ImGuiBridge& bridge, Scene& scene);
  Point scroll() const { return scroll_; }
  /// Something is being dragged; Esc cancels that.
  bool is_dragging() const { return drag_ != Drag::none; }
  void forget_viewport() { pending_.reset(); }
  /// The crosshair comes from keys or another widget; -1, -1: from nowhere. It is never reported as
  /// hovered.
  void point_elsewhere(Index query, Index key);

  /// Scrolls the grid in the next step until the panel is seen; row -1: its column only.
  void show_panel(int row, int column) { to_show_ = {row, column}; }

 private:
  enum class Drag { none, click, rectangle, pan, header, range_end, horizontal_bar, vertical_bar };

  /// An end of a colour bar whose range can be chosen.
  struct BarEnd {
    PlacedBar bar;
    bool high;
  };
  static std::optional<BarEnd> bar_end_at(const Scene& scene, Point at);
  void drag_bar_end(Point at);
  void reset_bar_at(const Scene& scene, Point at);
  void press(const ImGuiBridge& bridge, const Scene& scene, Point at);
  void drag(Scene& scene, Point at);
  void release(const Scene& scene, Point at);
  void click(const Scene& scene);
  void turn_wheel(const ImGuiBridge& bridge, Scene& scene, Point at);
  void follow_elsewhere(Scene& scene, Point at);
  void scroll_to_show(Scene& scene, std::pair<int, int> row_and_column);
  void request(Scene& scene, const Viewport& viewport);
  std::pair<IndexRange, IndexRange> rectangle(const Scene& scene, Point at) const;
  int column_at(const Scene& scene, Point at) const;
  int drop_target(const Scene& scene, double x) const;
  void show_cursor(const Scene& scene, Point at) const;

  std::vector<Request> requests_;
  Drag drag_ = Drag::none;
  bool clicked_ = false;  // the last press was a click
  int button_ = 0, header_ = -1;
  Point pressed_at_, last_;
  Pointer pressed_on_, reported_;
  Rect pressed_panel_;
  Point scroll_;
  std::optional<BarEnd> bar_end_;
  std::optional<Viewport> pending_;
  std::optional<std::pair<Index, Index>> elsewhere_;  // query, key
  std::optional<Point> rested_at_;                    // where the pointer was meanwhile
  std::optional<std::pair<int, int>> to_show_;        // row, column
};

}  // namespace fovea::canvas
