// Input for tests of the window: where things are on the canvas, pointing, clicking and pressing.
#pragma once

#include <doctest/doctest.h>

#include <QElapsedTimer>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <utility>

#include "window/harness.h"

namespace fovea::test {

/// Until no frame came for a while: a loaded machine draws late.
inline void be_still(Window& window) {
  QSignalSpy frames(&window->canvas(), &Canvas::frame_painted);
  QElapsedTimer clock;
  clock.start();
  do {
    frames.clear();
    QTest::qWait(100);
  } while (!frames.isEmpty() && clock.elapsed() < 5000);
}

/// Shows these views and waits until they are drawn.
inline void show(Window& window, const std::vector<View>& views) {
  window->change("views", [&](Session& s) { s.views = views; });
  REQUIRE(window.settle());
  be_still(window);
}

/// In the canvas, at shares of a panel's width and height.
inline QPoint at(Window& window, View view, int column, double x, double y) {
  Canvas& canvas = window->canvas();
  const int row = row_of(window, view);
  const auto now = [&] { return canvas.panel_place(row, column); };
  if (!QRectF(canvas.rect()).contains(now())) canvas.set_current(row, column);  // scrolls there
  QRectF place;
  REQUIRE(wait_until([&] {  // until it no longer moves
    const QRectF before = std::exchange(place, now());
    QTest::qWait(60);
    return !place.isEmpty() && before == place && now() == place;
  }));
  return (place.topLeft() + QPointF(x * place.width(), y * place.height())).toPoint();
}

/// Where the pair is drawn while all tokens are seen.
inline QPoint at_pair(Window& window, View view, int column, Index query, Index key) {
  const double n = double(window.study().length());
  return at(window, view, column, (double(key) + 0.5) / n, (double(query) + 0.5) / n);
}

inline void point(Window& window, QPoint place) {
  QTest::mouseMove(&window->canvas(), place);
  be_still(window);
}

inline void click(Window& window, QPoint place) {
  point(window, place);
  QTest::mouseClick(&window->canvas(), Qt::LeftButton, {}, place);
  be_still(window);
}

inline void press(Window& window, Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
  QTest::keyClick(&window->canvas(), key, modifiers);
  QTest::qWait(20);
}

inline void take_focus(Window& window) {
  window->activateWindow();
  window->canvas().setFocus();
  REQUIRE(wait_until([&] { return window->canvas().hasFocus() && window->isActiveWindow(); }));
  QTest::mouseMove(&*window, {5, 5});  // the pointer is elsewhere
  QTest::qWait(100);
}

/// What the inspector says under a label; empty if there was nothing.
inline QString said(Window& window, const QString& label) {
  for (const auto* value : window->findChildren<QLabel*>())
    if (value->accessibleName() == label && !value->isHidden()) return value->text();
  return {};
}

inline QImage picture_of(Window& window, View view, int column) {
  const QRectF place = window->canvas().panel_place(row_of(window, view), column);
  const double ratio = window->canvas().devicePixelRatioF();
  const QRect inner(place.adjusted(8, 8, -8, -8).toRect());
  return window->canvas().grab().toImage().copy(
      QRect(inner.topLeft() * ratio, inner.size() * ratio));
}

inline QWidget* sequence(Window& window) {
  return window->docks().sequence;
}

/// The share of pixels that differ; 1 if the sizes differ.
inline double difference(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return 1;
  int different = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) different += a.pixel(x, y) != b.pixel(x, y);
  return double(different) / (a.width() * a.height());
}

/// An edge of an entry that lies on half a pixel may be rounded either way where the panel is drawn
/// at another place: some pixels of a hundred where entries are one and a half pixels wide.
inline bool same_but_for_edges(const QImage& a, const QImage& b) {
  return difference(a, b) <= 0.05;
}

}  // namespace fovea::test
