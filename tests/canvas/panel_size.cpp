// Panels that are made larger or smaller, and all columns at once on a narrow canvas.
#include "shown.h"

namespace fovea {
namespace {

constexpr int columns = 7;
const QSize narrow{640, 600};

QRectF place(const Shown& shown, int column) {
  return shown.canvas.panel_place(0, column);
}
bool is_seen(const Shown& shown, int column) {
  const QRectF at = place(shown, column);
  return at.left() >= left && at.right() <= shown.canvas.width() && !at.isEmpty();
}

}  // namespace

TEST_CASE("on a narrow canvas all columns are seen at once when that is asked for") {
  Shown shown(matrix_model(64, columns), narrow);
  REQUIRE_FALSE(is_seen(shown, columns - 1));
  shown.canvas.fit_columns();
  shown.settle();
  for (int c = 0; c < columns; ++c) CHECK(is_seen(shown, c));
  // As the window has room, again.
  shown.canvas.resize_panels(0);
  shown.settle();
  CHECK_FALSE(is_seen(shown, columns - 1));
}

TEST_CASE("panels become larger and smaller by the same steps, within limits") {
  Shown shown(matrix_model(64, 3));
  const int before = side(shown);
  shown.canvas.resize_panels(1);
  shown.settle();
  CHECK(std::abs(side(shown) - 1.25 * before) <= 1);
  shown.canvas.resize_panels(-1);
  shown.settle();
  CHECK(std::abs(side(shown) - before) <= 1);
  for (int step = 0; step < 30; ++step) shown.canvas.resize_panels(-1);
  shown.settle();
  CHECK(side(shown) == 48);
  for (int step = 0; step < 60; ++step) shown.canvas.resize_panels(1);
  shown.settle();
  CHECK(side(shown) <= 2048);
  shown.canvas.resize_panels(0);
  shown.settle();
  CHECK(side(shown) == before);
}

TEST_CASE("Ctrl with the wheel makes panels larger about the pointer, and does not zoom") {
  Shown shown(matrix_model(64, columns), narrow);
  QSignalSpy zooms(&shown.canvas, &Canvas::viewport_requested);
  const QPointF centre = place(shown, 2).center();
  for (int notch = 0; notch < 3; ++notch)
    shown.turn(centre.toPoint(), {0, 120}, Qt::ControlModifier);
  CHECK(side(shown) > 1.9 * 112);
  // Gaps between panels do not grow: two of them are left of the pointer.
  const QPointF now = place(shown, 2).center();
  CHECK(std::abs(now.x() - centre.x()) < 30);
  CHECK(zooms.isEmpty());
  shown.turn(centre.toPoint(), {0, 120});
  CHECK(zooms.size() == 1);
}

TEST_CASE("an enlarged panel fills the canvas, however small the others are") {
  Shown shown(matrix_model(64, columns), narrow);
  shown.canvas.enlarge(0, 1);
  shown.settle();
  const int enlarged = side(shown);
  shown.canvas.show_grid();
  shown.canvas.resize_panels(-4);
  shown.canvas.enlarge(0, 1);
  shown.settle();
  CHECK(side(shown) == enlarged);
}

}  // namespace fovea
