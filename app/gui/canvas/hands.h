// Hands turn pointer, wheel and keys of a frame into what the user wants.
#pragma once

#include <variant>
#include <vector>

#include "gui/canvas/imgui_bridge.h"
#include "gui/canvas/scene.h"

namespace fovea::canvas {

struct WishViewport {
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
struct ChooseLeaf {
  int column, leaf;
};
struct ChooseBlock {
  int column;
  Index query, key;
};
struct DoubleClick {
  int row, column;
};
using Wish = std::variant<WishViewport, Hover, PinQuery, SelectRectangle, ChooseColumn, MoveColumn,
                          ChooseLeaf, ChooseBlock, DoubleClick>;

class Hands {
 public:
  /// Looks at this frame's input; the scene's grid, viewport, pointer and drags are brought up to
  /// date at once, the wishes are for the owner to tell.
  std::vector<Wish> step(const ImGuiBridge& bridge, Scene& scene);
  Point scroll() const { return scroll_; }
  /// As the desktop understands it; told in the next step.
  void double_click() { double_clicked_ = true; }
  void forget_viewport() { pending_.reset(); }

  /// True for keys that move the view; others are left to the window.
  static bool knows(int key);

 private:
  enum class Drag { none, click, rectangle, pan, header, horizontal_bar, vertical_bar };

  void press(const ImGuiBridge& bridge, const Scene& scene, Point at);
  void drag(Scene& scene, Point at);
  void release(const Scene& scene, Point at);
  void click(const Scene& scene);
  void turn_wheel(const ImGuiBridge& bridge, Scene& scene, Point at);
  void press_key(int key, Scene& scene, Point at);
  void wish(Scene& scene, const Viewport& viewport);
  std::pair<IndexRange, IndexRange> rectangle(const Scene& scene, Point at) const;
  int column_at(const Scene& scene, Point at) const;
  int drop_target(const Scene& scene, float x) const;
  void show_cursor(const Scene& scene, Point at) const;

  std::vector<Wish> wishes_;
  bool double_clicked_ = false;
  Drag drag_ = Drag::none;
  int button_ = 0, header_ = -1;
  Point pressed_at_, last_;
  Pointer pressed_on_, told_;
  Rect pressed_panel_;
  Point scroll_;
  std::optional<Viewport> pending_;
};

/// The viewport moved or scaled, kept within n tokens and at least a few of them.
Viewport panned(const Viewport& v, double rows, double cols, Index n);
Viewport zoomed(const Viewport& v, double factor, double row, double col, Index n);
Viewport whole(Index n);

}  // namespace fovea::canvas
