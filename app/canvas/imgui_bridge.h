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
#include <memory>

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

  /// Both need the GL context to be current.
  void initialise();
  void release();

  /// Whether the event was one that the canvas uses.
  bool take(const QEvent& event);
  bool has_waiting() const { return !waiting_.empty(); }

  void begin_frame();
  void end_frame();

  const Fonts& fonts() const { return fonts_; }
  /// Whether Esc went down in this frame; whether Space is down.
  bool escape() const { return escape_; }
  bool space() const { return space_; }
  /// Whether the left button went down in this frame for the second time of a double click, as the
  /// desktop defines it.
  bool double_clicked() const { return double_clicked_; }
  /// Wheel turned this frame, in notches, and whether Shift was held.
  Point wheel() const { return wheel_; }
  bool shift() const { return modifiers_.testFlag(Qt::ShiftModifier); }
  bool control() const { return modifiers_.testFlag(Qt::ControlModifier); }

 private:
  void feed();
  bool apply(const QEvent& event);
  bool release_lost(const QEvent& event);
  void load_fonts();
  void show_cursor() const;

  QWidget* widget_;
  ImGuiContext* context_;
  Fonts fonts_;
  double ratio_ = 0;
  bool has_gl_ = false;
  std::deque<std::unique_ptr<QEvent>> waiting_;
  bool escape_ = false, space_ = false, double_clicked_ = false;
  Point wheel_;
  Qt::KeyboardModifiers modifiers_;
  QElapsedTimer clock_;
};

}  // namespace fovea::canvas
