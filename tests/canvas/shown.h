// A canvas shown in a window of its own, and where things are in it.
#pragma once

#include <doctest/doctest.h>

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

#include "drawing/colormap.h"
#include "models.h"

namespace fovea {

struct Shown {
  explicit Shown(std::shared_ptr<const CanvasModel> model, QSize size = {1140, 800}) {
    canvas.resize(size);
    canvas.set_model(std::move(model));
    canvas.show();
    REQUIRE(QTest::qWaitForWindowExposed(&canvas));
    // Where the last test left the pointer it would not move again.
    QCursor::setPos(canvas.mapToGlobal(QPoint(1, 1)));
    settle();
  }
  /// Until no frame came for a while: a loaded machine draws late.
  void settle() {
    QSignalSpy frames(&canvas, &Canvas::frame_painted);
    QElapsedTimer clock;
    clock.start();
    do {
      frames.clear();
      QTest::qWait(120);
    } while (!frames.isEmpty() && clock.elapsed() < 10000);
  }
  QImage picture() {
    settle();
    return canvas.grab().toImage();
  }
  void move(QPoint at) {
    QTest::mouseMove(&canvas, at);
    settle();
  }
  void wheel(QPoint at, int notches) { turn(at, {0, 120 * notches}); }
  /// By an angle in eighths of a degree, as Qt sends it.
  void turn(QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(at, canvas.mapToGlobal(at), {}, angle, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvas, &event);
    settle();
  }
  Canvas canvas;
};

/// The left and top of the panels' window; the first panel begins one pixel further.
inline constexpr int left = 72, top = 68;
inline int side(const Shown& shown) {
  return static_cast<int>(shown.canvas.panel_pixels() / shown.canvas.devicePixelRatioF());
}
inline QPoint inside(const Shown& shown, int column, double x, double y) {
  const int s = side(shown);
  return {left + column * (s + 10) + static_cast<int>(x * s), top + static_cast<int>(y * s)};
}
/// At a part of a panel's width and height.
inline QPoint within(const Shown& shown, int row, int column, double x, double y) {
  const QRectF place = shown.canvas.panel_place(row, column);
  return (place.topLeft() + QPointF(x * place.width(), y * place.height())).toPoint();
}
inline QRgb pixel(const Shown& shown, const QImage& image, QPoint at) {
  return image.pixel((QPointF(at) * shown.canvas.devicePixelRatioF()).toPoint()) & 0xffffff;
}
inline QRgb rgb(const Rgb& c) {
  return qRgb(c[0], c[1], c[2]) & 0xffffff;
}
/// Within 2 of 255 a channel: drivers round table look-ups differently.
inline bool near(QRgb a, QRgb b) {
  return std::abs(qRed(a) - qRed(b)) <= 2 && std::abs(qGreen(a) - qGreen(b)) <= 2 &&
         std::abs(qBlue(a) - qBlue(b)) <= 2;
}

}  // namespace fovea
