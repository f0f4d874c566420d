// A GlWidget is a widget whose picture GL draws, into a framebuffer of its own; from there it comes
// into the window as an image. With a QOpenGLWidget GL would compose the whole window, every dock
// of it, at each frame: without a graphics card that takes longer than all that Fovea draws. And
// its context lives as long as the widget, whatever windows that floats through.
#pragma once

#include <QImage>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QWidget>
#include <functional>
#include <memory>

class QOpenGLFramebufferObject;
class QPainter;

namespace fovea {

class GlWidget : public QWidget {
  Q_OBJECT

 public:
  explicit GlWidget(QWidget* parent = nullptr);
  ~GlWidget() override;

  /// Time of the last frame on this thread, without the time that GL took: what GL is told to draw,
  /// and bringing the result into the window.
  double last_frame_ms() const { return frame_ms_; }

 signals:
  /// A frame was painted; it is on the screen when the event loop turns again.
  void frame_painted();

 protected:
  /// GL 3.3 core, current; the framebuffer is as large as the widget in device pixels.
  virtual void initialise_gl() = 0;
  virtual void draw_gl() = 0;
  /// Before the end of a subclass: what it made with GL goes while it is still whole. Does nothing
  /// when there was no GL.
  void end_gl(const std::function<void()>& release);

  /// What cannot be drawn becomes a message in place of the picture.
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class State { untried, ready, missing };
  void show_message(QPainter& painter) const;
  void draw_frame(QPainter& painter);

  bool make_ready();

  QOffscreenSurface surface_;
  QOpenGLContext context_;
  std::unique_ptr<QOpenGLFramebufferObject> frame_;
  QImage image_;
  State state_ = State::untried;
  QString trouble_;  // why nothing can be drawn
  double frame_ms_ = 0;
};

}  // namespace fovea
