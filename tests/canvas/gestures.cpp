// What drags, clicks and double clicks on the canvas do, and what they leave alone.
#include "canvas/scene.h"
#include "shown.h"
#include "views/views.h"

using namespace fovea;

namespace {

void drag(Shown& shown, QPoint from, QPoint to) {
  QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, from);
  QTest::mouseMove(&shown.canvas, (from + to) / 2);
  QTest::mouseMove(&shown.canvas, to);
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, to);
  shown.settle();
}

/// As a desktop sends it: press, release, double click, release.
void double_click(Shown& shown, QPoint at) {
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, at);
  shown.settle();
  const QPoint global = shown.canvas.mapToGlobal(at);
  QMouseEvent twice(QEvent::MouseButtonDblClick, at, global, Qt::LeftButton, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&shown.canvas, &twice);
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, at);
  shown.settle();
}

}  // namespace

TEST_CASE("a token's number is that of the pixel which covers it") {
  for (Index size = 1; size <= 40; ++size)
    for (Index pixels = 1; pixels <= size; ++pixels)
      for (Index p = 0; p < pixels; ++p)  // as Pool splits a rectangle
        for (Index t = p * size / pixels; t < (p + 1) * size / pixels; ++t) {
          CAPTURE(size);
          CAPTURE(pixels);
          Raster raster;
          raster.rows = {100, 100 + size}, raster.cols = {0, 1};
          raster.values = Matrix(pixels, 1);
          raster.values(p, 0) = 1;
          CHECK(canvas::value_at(raster, 100 + t, 0) == 1);
        }
}

TEST_CASE("a drag selects where there are queries and keys, not in a row's curve") {
  Shown shown(gallery_model(384));
  QSignalSpy selected(&shown.canvas, &Canvas::rectangle_selected);
  drag(shown, within(shown, 1, 0, 0.2, 0.5), within(shown, 1, 0, 0.6, 0.7));
  CHECK(selected.isEmpty());
  drag(shown, within(shown, 0, 0, 0.2, 0.5), within(shown, 0, 0, 0.6, 0.7));
  CHECK(selected.count() == 1);
}

TEST_CASE("a drag selects the column, too, whose statistics it asks for") {
  Shown shown(matrix_model(64, 3));
  QSignalSpy chosen(&shown.canvas, &Canvas::column_chosen);
  drag(shown, within(shown, 0, 2, 0.2, 0.5), within(shown, 0, 2, 0.6, 0.7));
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].toInt() == 2);
}

TEST_CASE("a click may tremble by some pixels, a longer way is a drag") {
  Shown shown(matrix_model(64, 2));
  QSignalSpy pins(&shown.canvas, &Canvas::query_pinned),
      selected(&shown.canvas, &Canvas::rectangle_selected);
  const QPoint at = within(shown, 0, 0, 0.5, 0.5);
  drag(shown, at, at + QPoint(2, 2));
  CHECK(pins.count() == 1);
  CHECK(selected.isEmpty());
  drag(shown, at, at + QPoint(6, 6));
  CHECK(pins.count() == 1);
  CHECK(selected.count() == 1);
}

TEST_CASE("a rectangle that is dragged beyond its panel ends with what is seen there") {
  auto model = matrix_model(64, 2);
  model->viewport = {16, 32, 16, 32};
  Shown shown(model);
  QSignalSpy selected(&shown.canvas, &Canvas::rectangle_selected);
  drag(shown, within(shown, 0, 0, 0.6, 0.6), within(shown, 1, 1, 0.5, 0.5));
  REQUIRE(selected.count() == 1);
  CHECK(selected[0][0].value<IndexRange>().end == 32);
  CHECK(selected[0][1].value<IndexRange>().end == 32);
}

TEST_CASE("an enlarged panel is reported by its row and column in the session") {
  Shown shown(matrix_model(64, 3));
  QSignalSpy hovers(&shown.canvas, &Canvas::hovered), chosen(&shown.canvas, &Canvas::column_chosen);
  shown.canvas.enlarge(1, 2);
  shown.settle();
  const QPoint at = within(shown, 1, 2, 0.5, 0.5);
  shown.move(at);
  REQUIRE_FALSE(hovers.isEmpty());
  CHECK(hovers.last()[2].toInt() == 2);
  CHECK(hovers.last()[3].toInt() == 1);
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, {at.x(), 20});  // its title
  shown.settle();
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].toInt() == 2);
}

TEST_CASE("a selection is drawn where its queries meet its keys") {
  const auto picture = [](bool selected) {
    auto model = matrix_model(16, 1);
    if (selected) model->selection = {{2, 6}, {8, 12}};
    Shown shown(model);
    return shown.picture();
  };
  Shown shown(matrix_model(16, 1));
  const QImage without = picture(false), with = picture(true);
  const auto changed = [&](double query, double key) {
    const QPoint at = within(shown, 0, 0, key / 16, query / 16);
    return pixel(shown, without, at) != pixel(shown, with, at);
  };
  CHECK(changed(4.2, 10.2));
  CHECK_FALSE(changed(10.2, 4.2));
  CHECK_FALSE(changed(7, 10.2));
}

TEST_CASE("a double click takes back its own first click, not an earlier one") {
  Shown shown(gallery_model(384));
  QSignalSpy pinned(&shown.canvas, &Canvas::query_pinned);
  const QPoint heatmap = within(shown, 0, 1, 0.5, 0.5), curve = within(shown, 1, 0, 0.5, 0.5);
  shown.move(heatmap);
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, heatmap);
  shown.settle();
  REQUIRE(pinned.count() == 1);
  shown.move(curve);
  double_click(shown, curve);  // which pins nothing
  CHECK(shown.canvas.is_enlarged());
  CHECK(pinned.count() == 1);
}

TEST_CASE("a double click enlarges and leaves pin and leaves as they were") {
  for (const std::optional<Index> before : {std::optional<Index>{}, {7}, {192}}) {
    Shown shown(matrix_model(384, 2));
    auto model = std::make_shared<CanvasModel>(*matrix_model(384, 2));
    model->pinned_query = before;
    shown.canvas.set_model(model);
    QObject::connect(&shown.canvas, &Canvas::query_pinned, [&](Index query) {  // as a window does
      model = std::make_shared<CanvasModel>(*model);
      model->pinned_query =
          model->pinned_query == query ? std::nullopt : std::optional<Index>(query);
      shown.canvas.set_model(model);
    });
    shown.settle();
    double_click(shown, within(shown, 0, 0, 0.5, 0.501));
    CHECK(shown.canvas.is_enlarged());
    CHECK(model->pinned_query == before);
    double_click(shown, within(shown, 0, 0, 0.3, 0.7));
    CHECK_FALSE(shown.canvas.is_enlarged());
    CHECK(model->pinned_query == before);
  }
  Shown shown(gallery_model(384));
  std::optional<std::pair<int, IndexRange>> chosen{{3, {1, 2}}};
  shown.canvas.set_chosen_leaves(3, {1, 2});
  QObject::connect(&shown.canvas, &Canvas::leaves_chosen, [&](int column, IndexRange leaves) {
    const std::pair requested{column, leaves};
    chosen = chosen == requested ? std::nullopt : std::optional(requested);
    shown.canvas.set_chosen_leaves(column, chosen ? leaves : IndexRange{0, 0});
  });
  double_click(shown, within(shown, 1, 1, 0.5, 0.95));
  CHECK(shown.canvas.is_enlarged());
  CHECK(chosen == std::optional<std::pair<int, IndexRange>>{{3, {1, 2}}});
}

TEST_CASE("a click on any panel selects its column, enlarging it too") {
  Shown shown(matrix_model(64, 3));
  QSignalSpy chosen(&shown.canvas, &Canvas::column_chosen),
      pins(&shown.canvas, &Canvas::query_pinned);
  const auto click = [&](QPoint at) {
    shown.move(at);
    QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, at);
    shown.settle();
  };
  click(within(shown, 0, 2, 0.5, 0.5));
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].toInt() == 2);
  CHECK(pins.count() == 1);  // and pins its query as before
  click(within(shown, 1, 1, 0.5, 0.5));
  REQUIRE(chosen.count() == 2);
  CHECK(chosen[1][0].toInt() == 1);
  double_click(shown, within(shown, 1, 0, 0.5, 0.5));
  REQUIRE(shown.canvas.is_enlarged());
  REQUIRE_FALSE(chosen.isEmpty());
  CHECK(chosen.last()[0].toInt() == 0);
}

TEST_CASE("columns are not moved while a panel is enlarged") {
  auto model = base_model(64, 3);
  model->views = {find_view("output")};
  model->cells = {{cell_of(picture()), cell_of(picture()), cell_of(picture())}};
  Shown shown(model);
  QSignalSpy moved(&shown.canvas, &Canvas::column_moved);
  shown.canvas.enlarge(0, 2);
  shown.settle();
  REQUIRE_FALSE(shown.canvas.panel_place(0, 0).isEmpty());  // exact stands beside it
  const auto header = [&](int column) { return QPoint(within(shown, 0, column, 0.5, 0).x(), 20); };
  drag(shown, header(0), header(2));
  CHECK(moved.isEmpty());
}

TEST_CASE("a drag ends when the columns or rows that it began on disappear") {
  const QPoint header_gap(0, 24);  // from a panel's top to its header
  struct Case {
    QPoint from, to;
    std::shared_ptr<CanvasModel> left;
  };
  Shown place(matrix_model(64, 3));
  const QPoint last = within(place, 0, 2, 0.5, 0.5),
               header = within(place, 0, 2, 0.5, 0) - header_gap,
               first_header = within(place, 0, 0, 0.5, 0) - header_gap;
  auto other_views = matrix_model(64, 3);
  std::ranges::reverse(other_views->views);
  std::ranges::reverse(other_views->cells);
  for (const Case& c : {Case{last, last, matrix_model(64, 1)},
                        {header, header, matrix_model(64, 1)},
                        {header, first_header, matrix_model(64, 2)},
                        {last, last - QPoint(30, 30), matrix_model(64, 1)},
                        {last, last, base_model(64, 0)},
                        {last, last, other_views}}) {
    Shown shown(matrix_model(64, 3));
    QSignalSpy moved(&shown.canvas, &Canvas::column_moved),
        chosen(&shown.canvas, &Canvas::column_chosen), pins(&shown.canvas, &Canvas::query_pinned),
        selected(&shown.canvas, &Canvas::rectangle_selected);
    shown.move(c.from);
    QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, c.from);
    if (c.from != c.to) QTest::mouseMove(&shown.canvas, (c.from + c.to) / 2);
    shown.settle();
    shown.canvas.set_model(c.left);
    if (c.from != c.to) QTest::mouseMove(&shown.canvas, c.to);
    shown.settle();
    QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, c.to);
    shown.settle();
    for (const QSignalSpy* spy : {&moved, &chosen, &pins, &selected}) CHECK(spy->isEmpty());
  }
}

TEST_CASE("a model that was made before a pan step or a wheel notch takes neither back") {
  const auto model = matrix_model(384, 2);
  model->viewport = {100, 200, 100, 200};
  Shown shown(model);
  Viewport requested;
  bool late_model = false;
  QObject::connect(&shown.canvas, &Canvas::viewport_requested, [&](Viewport v) { requested = v; });
  // After the frame in which the input was read, before its request is sent.
  QObject::connect(&shown.canvas, &Canvas::frame_painted, [&] {
    if (std::exchange(late_model, false)) shown.canvas.set_model(model);
  });
  const QPoint at = inside(shown, 0, 0.5, 0.5);
  late_model = true;
  shown.wheel(at, 1);
  shown.wheel(at, 1);
  CHECK(requested.row_end - requested.row_begin == doctest::Approx(64));  // 100 tokens, 0.8^2
  shown.canvas.set_model(model);  // everything was sent: the owner does not want it
  shown.wheel(at, 1);
  CHECK(requested.row_end - requested.row_begin == doctest::Approx(80));

  shown.canvas.set_model(model);
  const int step = side(shown) / 5;
  QTest::mousePress(&shown.canvas, Qt::RightButton, {}, at);
  shown.settle();
  late_model = true;
  QTest::mouseMove(&shown.canvas, at - QPoint(step, 0));
  shown.settle();
  QTest::mouseMove(&shown.canvas, at - QPoint(2 * step, 0));
  QTest::mouseRelease(&shown.canvas, Qt::RightButton, {}, at - QPoint(2 * step, 0));
  shown.settle();
  CHECK(requested.row_begin == 100);
  CHECK(requested.col_begin == doctest::Approx(100 + 200.0 * step / side(shown)));
}

TEST_CASE("law: a pan takes the token along that was under the pointer, whatever part is seen") {
  const Lengths square{384, 384};
  const std::pair<Lengths, Viewport> parts[] = {{square, {100, 200, 100, 200}},
                                                {square, {100, 300, 120, 170}},
                                                {square, {100, 140, 40, 240}},
                                                {{96, 384}, {20, 60, 100, 300}},
                                                {{384, 96}, {100, 300, 20, 60}}};
  for (const auto& one : parts) {
    const auto model = matrix_model(384, 2);
    const Viewport part = one.second;
    model->lengths = one.first;
    model->viewport = part;
    Shown shown(model);
    QSignalSpy pans(&shown.canvas, &Canvas::viewport_requested);
    const QRectF place = shown.canvas.panel_place(0, 0);
    const QPoint from = within(shown, 0, 0, 0.5, 0.5), to = within(shown, 0, 0, 0.3, 0.6);
    QTest::mousePress(&shown.canvas, Qt::RightButton, {}, from);
    QTest::mouseMove(&shown.canvas, to);
    QTest::mouseRelease(&shown.canvas, Qt::RightButton, {}, to);
    shown.settle();
    REQUIRE_FALSE(pans.isEmpty());
    const auto seen = pans.last()[0].value<Viewport>();
    const auto token = [&](const Viewport& v, QPoint at) {
      return std::pair(
          v.row_begin + (v.row_end - v.row_begin) * (at.y() - place.y()) / place.height(),
          v.col_begin + (v.col_end - v.col_begin) * (at.x() - place.x()) / place.width());
    };
    const auto before = token(part, from), after = token(seen, to);
    CAPTURE(part.row_end);
    CAPTURE(part.col_end);
    CHECK(after.first == doctest::Approx(before.first));
    CHECK(after.second == doctest::Approx(before.second));
    CHECK(seen.row_end - seen.row_begin == doctest::Approx(part.row_end - part.row_begin));
    CHECK(seen.col_end - seen.col_begin == doctest::Approx(part.col_end - part.col_begin));
  }
}

TEST_CASE("Esc takes a pan back") {
  const auto model = matrix_model(384, 2);
  model->viewport = {100, 200, 100, 200};
  Shown shown(model);
  QSignalSpy pans(&shown.canvas, &Canvas::viewport_requested);
  const QPoint at = inside(shown, 0, 0.5, 0.5);
  QTest::mousePress(&shown.canvas, Qt::RightButton, {}, at);
  QTest::mouseMove(&shown.canvas, at + QPoint(40, 30));
  shown.settle();
  REQUIRE(pans.count() > 0);
  CHECK(pans.last()[0].value<Viewport>().col_begin < 100);
  QTest::keyClick(&shown.canvas, Qt::Key_Escape);
  shown.settle();
  CHECK(pans.last()[0].value<Viewport>() == model->viewport);
  const auto asked = pans.count();
  QTest::mouseMove(&shown.canvas, at + QPoint(80, 60));
  QTest::mouseRelease(&shown.canvas, Qt::RightButton, {}, at + QPoint(80, 60));
  shown.settle();
  CHECK(pans.count() == asked);
}

TEST_CASE("a pan goes on from where a key or the wheel has moved the view meanwhile") {
  const auto model = matrix_model(384, 2);
  model->viewport = {100, 200, 100, 200};
  Shown shown(model);
  QSignalSpy pans(&shown.canvas, &Canvas::viewport_requested);
  const auto requested = [&] { return pans.last()[0].value<Viewport>(); };
  const QPoint at = inside(shown, 0, 0.5, 0.5), step(side(shown) / 5, 0);
  const double share = double(step.x()) / side(shown);
  QTest::mousePress(&shown.canvas, Qt::RightButton, {}, at);
  shown.move(at - step);
  REQUIRE(pans.count() > 0);
  const auto moved = matrix_model(384, 2);
  moved->viewport = {200, 250, 200, 250};
  shown.canvas.set_model(moved);
  shown.settle();
  shown.move(at - 2 * step);
  CHECK(requested().row_begin == 200);
  CHECK(requested().col_begin == doctest::Approx(200 + 50 * share));
  shown.wheel(at - 2 * step, 1);
  const Viewport zoomed = requested();
  REQUIRE(zoomed.col_end - zoomed.col_begin == doctest::Approx(40));
  shown.move(at - 3 * step);
  CHECK(requested().col_begin == doctest::Approx(zoomed.col_begin + 40 * share));
  QTest::keyClick(&shown.canvas, Qt::Key_Escape);
  shown.settle();
  CHECK(requested() == zoomed);
  QTest::mouseRelease(&shown.canvas, Qt::RightButton, {}, at - 3 * step);
}

TEST_CASE("Space that is released while Ctrl is held no longer pans") {
  Shown shown(matrix_model(384, 2));
  QSignalSpy selected(&shown.canvas, &Canvas::rectangle_selected);
  QTest::keyPress(&shown.canvas, Qt::Key_Space);
  shown.settle();
  drag(shown, inside(shown, 0, 0.3, 0.3), inside(shown, 0, 0.5, 0.5));
  CHECK(selected.isEmpty());
  QTest::keyRelease(&shown.canvas, Qt::Key_Space, Qt::ControlModifier);
  shown.settle();
  drag(shown, inside(shown, 0, 0.3, 0.3), inside(shown, 0, 0.5, 0.5));
  CHECK(selected.count() == 1);
}

TEST_CASE("the wheel zooms while Alt is held, which turns it sideways in Qt") {
  Shown shown(matrix_model(384, 2));
  Viewport requested;
  QObject::connect(&shown.canvas, &Canvas::viewport_requested, [&](Viewport v) { requested = v; });
  shown.turn(inside(shown, 0, 0.5, 0.5), {120, 0}, Qt::AltModifier);
  CHECK(requested.row_end - requested.row_begin == doctest::Approx(384 * 0.8));
}

TEST_CASE("a drag whose release went elsewhere ends where the pointer was last dragged to") {
  Shown shown(matrix_model(384, 2));
  IndexRange rows;
  QSignalSpy selected(&shown.canvas, &Canvas::rectangle_selected);
  QObject::connect(&shown.canvas, &Canvas::rectangle_selected, [&](IndexRange r) { rows = r; });
  const QPoint from = inside(shown, 0, 0.25, 0.25), to = inside(shown, 0, 0.5, 0.5),
               later = inside(shown, 0, 0.75, 0.75);
  QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, from);
  QTest::mouseMove(&shown.canvas, to);
  shown.settle();
  CHECK(selected.isEmpty());
  QMouseEvent move(QEvent::MouseMove, later, shown.canvas.mapToGlobal(later), Qt::NoButton,
                   Qt::NoButton, {});
  QCoreApplication::sendEvent(&shown.canvas, &move);
  shown.settle();
  CHECK(selected.count() == 1);
  CHECK(std::abs(rows.end - 192) <= 3);
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, later);
  shown.settle();
  CHECK(selected.count() == 1);
}

TEST_CASE("a click on what stands above the bars and the tree chooses no leaf") {
  Shown shown(gallery_model(384));
  QSignalSpy chosen(&shown.canvas, &Canvas::leaves_chosen);
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, within(shown, 1, 1, 0.5, 0.05));
  shown.settle();
  CHECK(chosen.isEmpty());
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, within(shown, 1, 1, 0.5, 0.95));
  shown.settle();
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][1].value<IndexRange>().size() == 1);
}

TEST_CASE("the size of panels is reported whenever it changes") {
  Shown shown(matrix_model(64, 3));
  const int before = shown.canvas.panel_pixels();
  QSignalSpy reported(&shown.canvas, &Canvas::panel_pixels_changed);
  shown.canvas.enlarge(0, 0);
  shown.settle();
  REQUIRE(reported.count() == 1);
  CHECK(reported[0][0].toInt() == shown.canvas.panel_pixels());
  CHECK(shown.canvas.panel_pixels() > before);
}
