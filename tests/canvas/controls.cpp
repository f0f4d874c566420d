// What can be touched on the canvas: the ends of colour bars, and the context menu.
#include "shown.h"

using namespace fovea;

namespace {

/// The upright bar beside a row of one panel, from its top (0) to its bottom (1).
QPoint on_bar(const Shown& shown, double share) {
  const QRectF place = shown.canvas.panel_place(0, 0);
  return {static_cast<int>(place.right()) + 15,
          static_cast<int>(place.top() + 2 + share * (place.height() - 4))};
}

std::shared_ptr<CanvasModel> one_heatmap() {
  auto model = base_model(16, 1);
  model->views = {View::heatmap};
  Raster raster = heat(16, 16);
  raster.norm = Norm::linear, raster.low = 0, raster.high = 1;
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j) raster.values(i, j) = 0.5f;
  model->cells = {{cell_of(raster)}};
  return model;
}

}  // namespace

TEST_CASE("dragging the end of a colour bar chooses its range, a double click resets it") {
  Shown shown(one_heatmap());
  QSignalSpy chosen(&shown.canvas, &Canvas::range_chosen),
      reset(&shown.canvas, &Canvas::range_reset);
  const QPoint cell = inside(shown, 0, 0.52, 0.52);
  const QRgb before = pixel(shown, shown.picture(), cell);
  QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, on_bar(shown, 0));
  QTest::mouseMove(&shown.canvas, on_bar(shown, 0.25));
  QTest::mouseMove(&shown.canvas, on_bar(shown, 0.5));
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, on_bar(shown, 0.5));
  shown.settle();
  REQUIRE(chosen.count() > 0);
  CHECK(chosen.last()[1].toInt() == -1);  // of the row
  CHECK(chosen.last()[2].toDouble() == 0);
  CHECK(chosen.last()[3].toDouble() == doctest::Approx(0.5).epsilon(0.05));
  const auto range = shown.canvas.chosen_range(0, 0);
  REQUIRE(range);
  CHECK(range->second == chosen.last()[3].toDouble());
  const QRgb now = pixel(shown, shown.picture(), cell);
  CHECK_FALSE(near(now, before));
  const QPoint middle = on_bar(shown, 0.5);
  QMouseEvent twice(QEvent::MouseButtonDblClick, middle, shown.canvas.mapToGlobal(middle),
                    Qt::LeftButton, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&shown.canvas, &twice);
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, middle);
  shown.settle();
  CHECK(reset.count() == 1);
  CHECK_FALSE(shown.canvas.chosen_range(0, 0));
  CHECK(near(pixel(shown, shown.picture(), cell), before));
}

TEST_CASE("values at shares of a range are the inverse of their places") {
  for (const Norm norm : {Norm::linear, Norm::log})
    for (const auto& [low, high] : {std::pair{0.0, 2.0}, {-3.0, 3.0}, {0.01, 0.4}}) {
      const ValueColours colours{.norm = norm, .low = low, .high = high};
      for (double share = 0; share <= 1; share += 0.125)
        CHECK(normalised(colours.value_at(share), low, high, norm, colours.log_floor) ==
              doctest::Approx(share));
    }
}

TEST_CASE("a right click opens a menu whose choices are signals, Esc closes it") {
  Shown shown(one_heatmap());
  QSignalSpy copies(&shown.canvas, &Canvas::copy_requested),
      pins(&shown.canvas, &Canvas::query_pinned);
  const QPoint at = inside(shown, 0, 0.3, 0.3), first = at + QPoint(25, 16);
  QTest::mouseClick(&shown.canvas, Qt::RightButton, {}, at);
  shown.settle();
  QTest::mouseMove(&shown.canvas, first);
  shown.settle();
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, first);
  shown.settle();
  REQUIRE(copies.count() == 1);
  CHECK(copies[0][0].toInt() == 0);
  CHECK(copies[0][1].toInt() == 0);
  CHECK(pins.isEmpty());  // the click was the menu's
  const QImage closed = shown.picture();
  QTest::mouseClick(&shown.canvas, Qt::RightButton, {}, at);
  shown.settle();
  CHECK(pixel(shown, shown.picture(), first) != pixel(shown, closed, first));
  QTest::keyClick(&shown.canvas, Qt::Key_Escape);
  shown.settle();
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, at);
  shown.settle();
  CHECK(pins.count() == 1);
}
