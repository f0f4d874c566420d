#include "canvas/gl_widget.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QOpenGLExtraFunctions>
#include <QOpenGLFramebufferObject>
#include <QOpenGLWidget>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <string>

namespace fovea {
namespace {

QSurfaceFormat core_format() {
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  return format;
}

double ms_of(qint64 nanoseconds) {
  return double(nanoseconds) * 1e-6;
}

}  // namespace

Composition composition_for(std::string_view renderer, std::string_view forced) {
  if (forced == "native") return Composition::native;
  if (forced == "read-back") return Composition::read_back;
  std::string name(renderer);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array software{"llvmpipe", "softpipe", "swrast", "swiftshader", "software"};
  const bool is_software = std::ranges::any_of(
      software, [&](const char* known) { return name.find(known) != std::string::npos; });
  return is_software ? Composition::read_back : Composition::native;
}

void allow_native_composition() {
  QCoreApplication::setAttribute(Qt::AA_ShareOpenGLContexts);
}

// Shows the frame that its owner draws. Qt makes its context again whenever the canvas moves to
// another window, so it holds nothing but a framebuffer name.
class GlWidget::NativeView : public QOpenGLWidget {
 public:
  explicit NativeView(GlWidget& owner) : QOpenGLWidget(&owner), owner_(owner) {
    setFormat(core_format());
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    setGeometry(owner.rect());
  }

 protected:
  void paintGL() override {
    QElapsedTimer clock;
    clock.start();
    const bool drawn = owner_.draw_frame();
    QOpenGLExtraFunctions* gl = owner_.context_.extraFunctions();
    GLsync fence = drawn ? gl->glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0) : nullptr;
    if (drawn) gl->glFlush();
    makeCurrent();
    if (!drawn) {
      QPainter painter(this);
      painter.fillRect(rect(), palette().window());
      painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, owner_.failure_);
      return;
    }
    gl = context()->extraFunctions();
    gl->glWaitSync(fence, 0, GL_TIMEOUT_IGNORED);
    gl->glDeleteSync(fence);
    copy(*gl, *owner_.frame_);
    owner_.frame_ms_ = ms_of(clock.nsecsElapsed());
    emit owner_.frame_painted();
  }

 private:
  void copy(QOpenGLExtraFunctions& gl, const QOpenGLFramebufferObject& frame) {
    const int width = frame.width(), height = frame.height();
    GLuint source = 0;
    gl.glGenFramebuffers(1, &source);
    gl.glBindFramebuffer(GL_READ_FRAMEBUFFER, source);
    gl.glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                              frame.texture(), 0);
    gl.glBindFramebuffer(GL_DRAW_FRAMEBUFFER, defaultFramebufferObject());
    gl.glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    gl.glDeleteFramebuffers(1, &source);
    gl.glBindFramebuffer(GL_FRAMEBUFFER, defaultFramebufferObject());
  }

  GlWidget& owner_;
};

// Asks for the renderer here, since a native view that is made after its window was shown makes the
// window flicker.
GlWidget::GlWidget(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  surface_.setFormat(core_format());
  surface_.create();
  context_.setFormat(core_format());
  context_.setShareContext(QOpenGLContext::globalShareContext());
  const bool usable = context_.create() && context_.makeCurrent(&surface_) &&
                      context_.format().version() >= qMakePair(3, 3);
  if (!usable) {
    failure_ =
        tr("The panels are drawn with OpenGL 3.3, and this display does not offer it. "
           "The commands that do not need a display work all the same.");
    return;
  }
  const auto* name = context_.functions()->glGetString(GL_RENDERER);
  const QByteArray forced = qgetenv("FOVEA_COMPOSITION");
  if (QOpenGLContext::globalShareContext())
    composition_ = composition_for(name ? reinterpret_cast<const char*>(name) : "",
                                   {forced.data(), std::size_t(forced.size())});
  context_.doneCurrent();
  if (composition_ == Composition::native) native_ = new NativeView(*this);
}

// The native view goes before frame_ and context_, from which it draws.
GlWidget::~GlWidget() {
  delete native_;
}

void GlWidget::request_frame() {
  if (native_)
    native_->update();
  else
    update();
}

void GlWidget::release_gl(const std::function<void()>& release) {
  if (!context_.isValid() || !context_.makeCurrent(&surface_)) return;
  if (initialised_) release();
  frame_.reset();
  context_.doneCurrent();
}

// Leaves the context current. Returns false if only the reason of a failure can be shown.
bool GlWidget::draw_frame() {
  if (!failure_.isEmpty()) return false;
  if (!context_.makeCurrent(&surface_)) {
    failure_ =
        tr("OpenGL cannot be used any more: its context is lost. Open the file in a new window.");
    return false;
  }
  const QSize size = (this->size() * devicePixelRatioF()).expandedTo({1, 1});
  try {
    if (!initialised_) initialise_gl();
    initialised_ = true;
    if (!frame_ || frame_->size() != size)
      frame_ = std::make_unique<QOpenGLFramebufferObject>(size);
    frame_->bind();
    context_.functions()->glViewport(0, 0, size.width(), size.height());
    draw_gl();
    frame_->bind();
  } catch (const std::exception& error) {
    failure_ = tr("The panels cannot be drawn: %1").arg(QString::fromUtf8(error.what()));
    return false;
  }
  return true;
}

void GlWidget::paintEvent(QPaintEvent*) {
  if (native_) return;  // it covers the whole widget
  QElapsedTimer clock;
  clock.start();
  QPainter painter(this);
  if (!draw_frame()) {
    painter.fillRect(rect(), palette().window());
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, failure_);
    return;
  }
  const QSize size = frame_->size();
  if (image_.size() != size) image_ = QImage(size, QImage::Format_RGBX8888);
  image_.setDevicePixelRatio(devicePixelRatioF());
  const qint64 issued = clock.nsecsElapsed();
  context_.functions()->glReadPixels(0, 0, size.width(), size.height(), GL_RGBA, GL_UNSIGNED_BYTE,
                                     image_.bits());
  const qint64 read = clock.nsecsElapsed();
  painter.drawImage(QPointF(), image_.mirrored());  // OpenGL's rows go from the bottom up
  painter.end();
  frame_ms_ = ms_of(clock.nsecsElapsed() - (read - issued));
  emit frame_painted();
}

void GlWidget::resizeEvent(QResizeEvent* event) {
  if (native_) native_->setGeometry(rect());
  QWidget::resizeEvent(event);
}

}  // namespace fovea

#include "moc_gl_widget.cpp"
