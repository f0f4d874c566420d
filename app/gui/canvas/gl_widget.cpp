#include "gui/canvas/gl_widget.h"

#include <QElapsedTimer>
#include <QOpenGLFramebufferObject>
#include <QOpenGLFunctions>
#include <QPainter>

namespace fovea {
namespace {

QSurfaceFormat wanted_format() {
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  return format;
}

// GL's bytes are red, green, blue, alpha; an image's numbers 0xffRRGGBB.
quint32 image_pixel(quint32 gl) {
  return 0xff000000u | (gl & 0xff) << 16 | (gl & 0xff00) | (gl >> 16 & 0xff);
}

}  // namespace

GlWidget::GlWidget(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  surface_.setFormat(wanted_format());
  context_.setFormat(wanted_format());
}

GlWidget::~GlWidget() = default;

void GlWidget::end_gl(const std::function<void()>& release) {
  if (state_ != State::ready || !context_.makeCurrent(&surface_)) return;
  release();
  frame_.reset();
  context_.doneCurrent();
}

bool GlWidget::make_ready() {
  if (state_ == State::untried) {
    surface_.create();
    const bool there = context_.create() && context_.makeCurrent(&surface_) &&
                       context_.format().version() >= qMakePair(3, 3);
    state_ = there ? State::ready : State::missing;
    if (there) initialise_gl();
  }
  return state_ == State::ready && context_.makeCurrent(&surface_);
}

void GlWidget::paintEvent(QPaintEvent*) {
  QElapsedTimer clock;
  clock.start();
  QPainter painter(this);
  if (!make_ready()) {
    painter.fillRect(rect(), palette().window());
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("The panels are drawn with OpenGL 3.3, which is not to be had here."));
    return;
  }
  const QSize size = this->size() * devicePixelRatioF();
  if (size.isEmpty()) return;
  if (!frame_ || frame_->size() != size) {
    frame_ = std::make_unique<QOpenGLFramebufferObject>(size);
    pixels_.resize(static_cast<std::size_t>(size.width()) *
                   static_cast<std::size_t>(size.height()));
    image_ = QImage(size, QImage::Format_RGB32);
  }
  frame_->bind();
  context_.functions()->glViewport(0, 0, size.width(), size.height());
  draw_gl();
  const qint64 told = clock.nsecsElapsed();
  frame_->bind();
  context_.functions()->glReadPixels(0, 0, size.width(), size.height(), GL_RGBA, GL_UNSIGNED_BYTE,
                                     pixels_.data());
  const qint64 drawn = clock.nsecsElapsed();
  copy_frame();
  image_.setDevicePixelRatio(devicePixelRatioF());
  painter.drawImage(QPointF(), image_);
  frame_ms_ = static_cast<double>(clock.nsecsElapsed() - (drawn - told)) * 1e-6;
  emit frame_painted();
}

void GlWidget::copy_frame() {
  const quint32* from = pixels_.data();
  for (int y = image_.height() - 1; y >= 0; --y, from += image_.width()) {
    auto* to = reinterpret_cast<quint32*>(image_.scanLine(y));
    for (int x = 0; x < image_.width(); ++x) to[x] = image_pixel(from[x]);
  }
}

}  // namespace fovea
