// An ImGuiBridge gives one widget an ImGui context: Qt's events go in, draw lists come out.
//
// ImGui 1.86 looks at the state of buttons and keys once a frame, so a press and release between
// two frames would be lost. The bridge queues events and hands on at most one change of a button or
// key per frame, with the pointer where it was then.
#pragma once

#include <imgui.h>

#include <QElapsedTimer>
#include <QEvent>
#include <deque>
#include <optional>

#include "canvas/fonts.h"

class QWidget;

namespace fovea::canvas {

using drawing::Point;

class ImGuiBridge {
 public:
  explicit ImGuiBridge(QWidget* widget);
  ~ImGuiBridge();
  ImGuiBridge(const ImGuiBridge&) = delete;
  ImGuiBridge& operator=(const ImGuiBridge&) = delete;

  /// Both with the GL context current.
  void initialise();
  void release();

  /// True when the event was one the canvas lives by.
  bool take(QEvent* event);
  bool has_waiting() const { return !waiting_.empty(); }

  void begin_frame();
  void end_frame();

  const Fonts& fonts() const { return fonts_; }
  /// The key that went down (or repeated) this frame, a Qt::Key.
  std::optional<int> pressed_key() const { return pressed_key_; }
  bool key_is_down(int key) const;
  /// The left button went down this frame for the second time, as the desktop understands it.
  bool double_clicked() const { return double_clicked_; }
  /// Wheel turned this frame, in notches, and whether Shift was held.
  Point wheel() const { return wheel_; }
  bool shift() const { return modifiers_.testFlag(Qt::ShiftModifier); }

 private:
  struct Input {
    enum class Kind { move, leave, button, wheel, key } kind;
    Point at{};
    int code = 0;                      // ImGui's button or Qt's key
    bool down = false, again = false;  // again: of a double click
    Qt::KeyboardModifiers modifiers{};
  };

  void feed();
  void apply(const Input& input);
  void add_pointer(QEvent* event);
  void load_fonts();
  void show_cursor() const;

  QWidget* widget_;
  ImGuiContext* context_;
  Fonts fonts_;
  double ratio_ = 0;
  bool has_gl_ = false;
  std::deque<Input> waiting_;
  std::optional<int> pressed_key_;
  bool double_clicked_ = false;
  std::deque<int> keys_down_;
  Point wheel_;
  Qt::KeyboardModifiers modifiers_;
  QElapsedTimer clock_;
};

}  // namespace fovea::canvas
