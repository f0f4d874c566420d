// A GlWidget is a widget whose picture OpenGL draws, into a framebuffer of its own, in a context
// that lives as long as the widget, whatever windows it floats through.
//
// On a graphics card the frame stays there and Qt composes the window with OpenGL. A software
// renderer would compose every dock of the window at each frame, which takes longer than drawing
// the canvas. There the frame is read back, and the window stays a raster one.
#pragma once

#include <QImage>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QWidget>
#include <functional>
#include <memory>
#include <string_view>

class QOpenGLFramebufferObject;

namespace fovea {

/// How a frame comes into the window.
enum class Composition { native, read_back };

/// Read back from a software renderer, else native. `renderer` is what OpenGL calls itself
/// (GL_RENDERER). `forced`, "native" or "read-back", overrides this; the program takes it from the
/// environment variable FOVEA_COMPOSITION.
Composition composition_for(std::string_view renderer, std::string_view forced);

/// To be called before the QApplication is made; otherwise every composition is read back.
void allow_native_composition();

class GlWidget : public QWidget {
  Q_OBJECT

 public:
  explicit GlWidget(QWidget* parent = nullptr);
  ~GlWidget() override;

  /// Time that this widget spent on its last frame: issuing what is drawn, and bringing the frame
  /// into the window. Waiting for OpenGL is not included.
  double last_frame_ms() const { return frame_ms_; }
  Composition composition() const { return composition_; }

 signals:
  /// A frame was painted; it is on the screen when the event loop turns again.
  void frame_painted();

 protected:
  /// OpenGL 3.3 core, current; the framebuffer is as large as the widget in device pixels. An
  /// exception of these functions becomes a message in place of the picture, and nothing is drawn
  /// from then on.
  virtual void initialise_gl() = 0;
  virtual void draw_gl() = 0;
  /// Draws a frame soon.
  void request_frame();
  /// For the destructor of a subclass: `release` deletes what the subclass made with OpenGL, with
  /// the context current. Does nothing without OpenGL.
  void release_gl(const std::function<void()>& release);

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  class NativeView;

  bool draw_frame();

  QOffscreenSurface surface_;
  QOpenGLContext context_;
  std::unique_ptr<QOpenGLFramebufferObject> frame_;
  QImage image_;                  // of read_back
  NativeView* native_ = nullptr;  // of native: a child over the whole widget
  Composition composition_ = Composition::read_back;
  QString failure_;  // why nothing is drawn
  bool initialised_ = false;
  double frame_ms_ = 0;
};

}  // namespace fovea
