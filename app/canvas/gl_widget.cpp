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
    if (there)
      initialise_gl();
    else
      trouble_ = tr("The panels are drawn with OpenGL 3.3, which this display does not offer.");
  }
  return state_ == State::ready && context_.makeCurrent(&surface_);
}

void GlWidget::show_message(QPainter& painter) const {
  painter.fillRect(rect(), palette().window());
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(rect().adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap, trouble_);
}

// An exception must not leave an event handler: Qt cannot pass it on.
void GlWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  try {
    if (trouble_.isEmpty() && make_ready()) return draw_frame(painter);
  } catch (const std::exception& error) {
    trouble_ = tr("The panels cannot be drawn: %1").arg(QString::fromUtf8(error.what()));
  }
  show_message(painter);
}

void GlWidget::draw_frame(QPainter& painter) {
  QElapsedTimer clock;
  clock.start();
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
  const qint64 submitted = clock.nsecsElapsed();
  frame_->bind();
  context_.functions()->glReadPixels(0, 0, size.width(), size.height(), GL_RGBA, GL_UNSIGNED_BYTE,
                                     image_.bits());
  const qint64 drawn = clock.nsecsElapsed();
  painter.drawImage(QPointF(), image_.mirrored());  // GL's rows go from the bottom up
  painter.end();
  frame_ms_ = static_cast<double>(clock.nsecsElapsed() - (drawn - submitted)) * 1e-6;
  emit frame_painted();
}

}  // namespace fovea
