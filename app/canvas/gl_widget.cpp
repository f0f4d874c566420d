#include "canvas/gl_widget.h"

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
    image_ = QImage(size, QImage::Format_RGBX8888);
  }
  image_.setDevicePixelRatio(devicePixelRatioF());
  frame_->bind();
  context_.functions()->glViewport(0, 0, size.width(), size.height());
  draw_gl();
  const qint64 told = clock.nsecsElapsed();
  frame_->bind();
  context_.functions()->glReadPixels(0, 0, size.width(), size.height(), GL_RGBA, GL_UNSIGNED_BYTE,
                                     image_.bits());
  const qint64 drawn = clock.nsecsElapsed();
  painter.drawImage(QPointF(), image_.mirrored());  // GL's rows go from the bottom up
  painter.end();
  frame_ms_ = static_cast<double>(clock.nsecsElapsed() - (drawn - told)) * 1e-6;
  emit frame_painted();
}

}  // namespace fovea
