// Panels that are made larger or smaller, and all columns at once on a narrow canvas.
#include "canvas/grid.h"
#include "shown.h"
#include "views/views.h"

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
  shown.canvas.standard_panels();
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
  // The first step back is felt.
  shown.canvas.resize_panels(1);
  shown.settle();
  CHECK(side(shown) == 60);
  for (int step = 0; step < 30; ++step) shown.canvas.resize_panels(1);
  shown.settle();
  CHECK(side(shown) == 2048);
  shown.canvas.standard_panels();
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

TEST_CASE("Ctrl with a wheel that turns sideways changes nothing") {
  Shown shown(matrix_model(64, columns), narrow);
  shown.canvas.fit_columns();
  shown.settle();
  const int before = side(shown);
  shown.turn(place(shown, 1).center().toPoint(), {120, 0}, Qt::ControlModifier);
  CHECK(side(shown) == before);
}

TEST_CASE("an enlarged panel fills the canvas, and Ctrl with the wheel leaves the others alone") {
  Shown shown(matrix_model(64, columns), narrow);
  const QRectF before = place(shown, 1);
  shown.canvas.enlarge(0, 1);
  shown.settle();
  const int enlarged = side(shown);
  for (int notch = 0; notch < 3; ++notch)
    shown.turn(place(shown, 1).center().toPoint(), {0, -120}, Qt::ControlModifier);
  CHECK(side(shown) == enlarged);
  shown.canvas.show_grid();
  shown.settle();
  CHECK(place(shown, 1) == before);
}

TEST_CASE("exact in place moves no panel, however large panels are") {
  const auto model = matrix_model(64, 3);
  Shown shown(model);
  shown.canvas.resize_panels(2);
  shown.settle();
  const QRectF before = place(shown, 1);
  auto in_place = std::make_shared<CanvasModel>(*model);
  in_place->in_place_of = model;
  for (auto& row : in_place->cells) row[1] = row[0];
  shown.canvas.set_model(in_place);
  shown.settle();
  CHECK(place(shown, 1) == before);
}

TEST_CASE("the names of a mask's colours end before the next row begins") {
  const auto model = matrix_model(64, columns);
  for (CanvasCell& cell : model->cells[2]) {
    auto panel = std::make_shared<Panel>(*cell.panel);
    std::get<Raster>(panel->body).categories = {"empty", "a name of several long words",
                                                "another name of long words"};
    cell.panel = panel;
  }
  Shown shown(model, narrow);
  shown.canvas.fit_columns();
  shown.settle();
  const int mask = int(std::ranges::find(model->views, find_view("mask")) - model->views.begin());
  const double small = shown.canvas.panel_place(mask, 0).height();
  REQUIRE(small < 120);
  auto lower = std::make_shared<CanvasModel>(*model);
  lower->views.push_back(find_view("rank"));
  lower->cells.push_back(model->cells.front());
  shown.canvas.set_model(lower);
  shown.settle();
  const auto step = [&](int row) {
    return shown.canvas.panel_place(row + 1, 0).top() - shown.canvas.panel_place(row, 0).top();
  };
  CHECK(step(mask) > step(0) + 10);  // more room than a row without names needs
}

TEST_CASE("a model that says nothing of what is seen is seen whole") {
  const auto whole = std::make_shared<CanvasModel>(*matrix_model(64, 2)),
             nothing = std::make_shared<CanvasModel>(*whole);
  whole->viewport = {0, 64, 0, 64};
  nothing->viewport = {};
  Shown shown(whole);
  const QImage expected = shown.picture();
  shown.canvas.set_model(nothing);
  CHECK(shown.picture() == expected);
}

TEST_CASE("law: panels scroll no further than their ends") {
  const std::vector<canvas::GridRow> rows(4);
  for (const int columns : {1, 8})  // less and more than there is room for
    for (const double factor : {0.5, 4.0}) {
      canvas::Grid grid(
          {.size = {900, 600}, .panels = {.factor = factor}, .columns = columns, .rows = rows});
      const canvas::Point most = grid.furthest();
      for (const double x : {-50.0, 0.5 * most.x, most.x + 50})
        for (const double y : {-50.0, 0.5 * most.y, most.y + 50}) {
          grid.scroll_to({x, y});
          CHECK(grid.scroll().x == std::clamp(x, 0.0, most.x));
          CHECK(grid.scroll().y == std::clamp(y, 0.0, most.y));
        }
    }
}

TEST_CASE("the header of the selected column is marked, and no other one") {
  const auto model = std::make_shared<CanvasModel>(*matrix_model(64, 3));
  for (int selected = 0; selected < 3; ++selected) {
    model->selected_column = selected;
    Shown shown(std::make_shared<CanvasModel>(*model));
    const QImage picture = shown.picture();
    for (int column = 0; column < 3; ++column) {
      CAPTURE(selected);
      CAPTURE(column);
      const QPoint corner(int(shown.canvas.panel_place(0, column).x()) + 2, 8);
      CHECK((pixel(shown, picture, corner) == pixel(shown, picture, {2, 2})) ==
            (column != selected));
    }
  }
}

}  // namespace fovea
