// The canvas in a real window: what is drawn where, and which requests gestures become.
#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QMainWindow>
#include <functional>

#include "canvas/grid.h"
#include "canvas/viewport.h"
#include "run_tests.h"
#include "shown.h"
#include "views/views.h"

using namespace fovea;

namespace {

/// A heatmap of random entries alone, so many to a pixel, some of them masked and one not a number.
struct Pooled {
  explicit Pooled(double each, Pool::Kind pool) : shown(base_model(16, 1)) {
    const auto show = [&](const Raster& raster) {
      auto model = base_model(raster.rows.size(), 1);
      model->views = {find_view("heatmap")};
      model->settings.pool = pool;
      model->cells = {{cell_of(raster, "")}};
      shown.canvas.set_model(model);
      shown.settle();
    };
    show(heat(16, 16));
    Index n = 0;  // the numbers of tokens beside the panel need room, too
    for (int round = 0; round < 5 && n != static_cast<Index>(each * side(shown)); ++round) {
      n = static_cast<Index>(each * side(shown));
      show(heat(n, 16));
    }
    REQUIRE(n == static_cast<Index>(each * side(shown)));
    entries = heat(n, n);
    entries.norm = Norm::linear, entries.low = 0, entries.high = 1;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        entries.values(i, j) = static_cast<float>((i * 7919 + j * 104729) % 1009 % 10) / 10;
    for (Index i = 0; i < 40; ++i)
      for (Index j = 40 + i / 2; j < 90; ++j)
        entries.values(i, j) = -std::numeric_limits<float>::infinity();
    entries.values(n / 2, n / 3) = std::numeric_limits<float>::quiet_NaN();
    show(entries);
    image = shown.picture();
  }
  /// Counts the pixels in the middle of the panel's frame that do not have the colour of what
  /// `value` gives for the entries [top, bottom) x [left, right) under them.
  int wrong(const std::function<double(double, double, double, double)>& value) const {
    const Colormap& map = colormap("viridis");
    const double each = static_cast<double>(entries.values.rows()) / side(shown);
    const auto has_colour = [&](QRgb got, double expected) {
      if (std::isnan(expected)) return near(got, rgb(map.not_a_number));
      if (expected < 0) return near(got, rgb(map.masked));
      for (const double nudge : {0.0, -0.004, 0.004})
        if (near(got, rgb(map.steps[static_cast<std::size_t>(
                          std::clamp(256 * (expected + nudge), 0.0, 255.0))])))
          return true;
      return false;
    };
    int count = 0;
    for (int y = 1; y + 1 < side(shown); ++y)
      for (int x = 1; x + 1 < side(shown); ++x)
        count += !has_colour(pixel(shown, image, QPoint(left + x, top + y)),
                             value(y * each, (y + 1) * each, x * each, (x + 1) * each));
    return count;
  }
  Shown shown;
  Raster entries;
  QImage image;
};

/// A heatmap of other numbers of keys than of queries.
std::shared_ptr<CanvasModel> unequal_model(Lengths lengths) {
  auto model = base_model(std::max(lengths.queries, lengths.keys), 1);
  Raster raster = heat(8, 8);
  raster.rows = {0, lengths.queries};
  raster.cols = {0, lengths.keys};
  model->views = {find_view("heatmap")};
  model->cells = {{cell_of(raster, "")}};
  model->lengths = lengths;
  model->viewport = whole(lengths);
  return model;
}

}  // namespace

TEST_CASE("a crosshair from elsewhere stays as long as its pair is there" *
          doctest::test_suite("pictures")) {
  const auto stays = [](Lengths before, Lengths now, Index query, Index key) {
    Shown shown(unequal_model(before));
    shown.canvas.point_to(query, key);
    shown.settle();
    shown.canvas.set_model(unequal_model(now));
    const QImage pointed = shown.picture();
    shown.canvas.point_to(-1, -1);
    return pointed != shown.picture();
  };
  CHECK(stays({8, 64}, {8, 60}, 3, 50));
  CHECK(stays({64, 8}, {60, 8}, 50, 3));
  CHECK_FALSE(stays({8, 64}, {8, 40}, 3, 50));
  CHECK_FALSE(stays({64, 8}, {40, 8}, 50, 3));
}

TEST_CASE("tokens that were found are marked on their own axis" * doctest::test_suite("pictures")) {
  Shown shown(unequal_model({8, 64}));
  const auto differs = [&, none = shown.picture()](const FoundTokens& found, bool at_left) {
    shown.canvas.set_found(found);
    const QImage image = shown.picture();
    // Away from the corner, where both marks begin.
    const QPoint edge = at_left ? within(shown, 0, 0, 0, 0.5) : within(shown, 0, 0, 0.5, 0);
    const QPoint in = edge + (at_left ? QPoint(2, 0) : QPoint(0, 2));
    return pixel(shown, image, in) != pixel(shown, none, in);
  };
  CHECK(differs({.queries = {}, .keys = {40}}, false));
  CHECK_FALSE(differs({.queries = {}, .keys = {40}}, true));
  CHECK(differs({.queries = {5}, .keys = {}}, true));
  CHECK_FALSE(differs({.queries = {5}, .keys = {}}, false));
}

TEST_CASE("below two entries a pixel has their average by area, whatever pooling was chosen") {
  for (const double each : {1.5, 1.9}) {
    const Pooled pooled(each, Pool::Kind::max);
    CAPTURE(each);
    const auto average = [&](double from, double to, double begin, double end) {
      double sum = 0, area = 0;
      for (auto i = static_cast<Index>(from); static_cast<double>(i) < to - 1e-3; ++i)
        for (auto j = static_cast<Index>(begin); static_cast<double>(j) < end - 1e-3; ++j) {
          const double down = std::min(to, i + 1.0) - std::max(from, static_cast<double>(i)),
                       across = std::min(end, j + 1.0) - std::max(begin, static_cast<double>(j)),
                       v = static_cast<double>(pooled.entries.values(i, j));
          if (std::isinf(v) || down < 1e-3 || across < 1e-3) continue;
          sum += down * across * v;
          area += down * across;
        }
      return area > 0 ? sum / area : -1;
    };
    CHECK(pooled.wrong(average) == 0);
  }
}

TEST_CASE("from two entries a pixel has what was chosen of them, the largest or the mean") {
  for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
    const Pooled pooled(4, kind);
    CAPTURE(int(kind));
    const auto chosen = [&](double from, double to, double begin, double end) {
      double sum = 0, most = -1;
      int count = 0;
      for (auto i = static_cast<Index>(from); static_cast<double>(i) < to; ++i)
        for (auto j = static_cast<Index>(begin); static_cast<double>(j) < end; ++j) {
          const auto v = static_cast<double>(pooled.entries.values(i, j));
          if (std::isnan(v)) return v;
          if (std::isinf(v)) continue;
          sum += v, most = std::max(most, v), ++count;
        }
      return kind == Pool::Kind::max || count == 0 ? most : sum / count;
    };
    CHECK(pooled.wrong(chosen) == 0);
  }
}

TEST_CASE("the crosshair shows in all panels of all columns" * doctest::test_suite("pictures")) {
  Shown shown(matrix_model(384, 3));
  shown.move({2, 2});
  const QImage before = shown.picture();
  shown.move(inside(shown, 1, 0.5, 0.3));
  const QImage after = shown.picture();
  for (const int column : {0, 1, 2}) {
    CAPTURE(column);
    const QPoint across = inside(shown, column, 0.2, 0.3), down = inside(shown, column, 0.5, 0.85);
    int changed_across = 0, changed_down = 0;
    for (int k = -3; k <= 3; ++k) {
      changed_across +=
          pixel(shown, before, across + QPoint(0, k)) != pixel(shown, after, across + QPoint(0, k));
      changed_down +=
          pixel(shown, before, down + QPoint(k, 0)) != pixel(shown, after, down + QPoint(k, 0));
    }
    CHECK(changed_across > 0);
    CHECK(changed_down > 0);
  }
}

TEST_CASE("twenty fast clicks are twenty pins, of the token under the cursor") {
  Shown shown(matrix_model(16, 2));
  QSignalSpy pins(&shown.canvas, &Canvas::query_pinned);
  for (int k = 0; k < 20; ++k) {  // all before the next frame
    const QPoint at = inside(shown, 0, 0.5, (k % 16 + 0.5) / 16);
    for (const auto type : {QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
      QMouseEvent event(type, at, shown.canvas.mapToGlobal(at), Qt::LeftButton,
                        type == QEvent::MouseButtonPress ? Qt::LeftButton : Qt::NoButton, {});
      QCoreApplication::sendEvent(&shown.canvas, &event);
    }
  }
  REQUIRE(QTest::qWaitFor([&] { return pins.count() == 20; }, 60000));
  for (int k = 0; k < 20; ++k) CHECK(pins[k][0].value<Index>() == k % 16);
}

TEST_CASE("the wheel zooms about the cursor and never leaves the matrix") {
  Shown shown(matrix_model(384, 2));
  Viewport requested;
  QObject::connect(&shown.canvas, &Canvas::viewport_requested, [&](Viewport v) { requested = v; });
  const QPoint at = inside(shown, 0, 0.25, 0.5);
  shown.wheel(at, 3);
  const double extent = requested.row_end - requested.row_begin;
  CHECK(extent == doctest::Approx(384 * 0.512));  // 0.8^3
  // The token under the cursor stays within a pixel's worth of tokens.
  CHECK(requested.row_begin + 0.5 * extent == doctest::Approx(192).epsilon(0.02));
  CHECK(requested.col_begin + 0.25 * extent == doctest::Approx(96).epsilon(0.03));
  shown.wheel(at, -40);
  CHECK(requested == Viewport{0, 384, 0, 384});
}

TEST_CASE(
    "a crosshair from elsewhere stays until the pointer moves, and is not reported as hovered" *
    doctest::test_suite("pictures")) {
  Shown shown(matrix_model(384, 2));
  shown.move(inside(shown, 0, 0.1, 0.1));
  QSignalSpy hovers(&shown.canvas, &Canvas::hovered);
  const QImage before = shown.picture();
  shown.canvas.point_to(192, 288);
  const QImage pointed = shown.picture();
  CHECK(hovers.isEmpty());
  for (const int column : {0, 1}) {
    CAPTURE(column);
    int across = 0;
    for (int k = -3; k <= 3; ++k) {
      const QPoint at = inside(shown, column, 0.3, 0.5) + QPoint(0, k);
      across += pixel(shown, before, at) != pixel(shown, pointed, at);
    }
    CHECK(across > 0);
  }
  shown.move(inside(shown, 0, 0.2, 0.1));
  REQUIRE(hovers.count() > 0);
  CHECK(std::abs(hovers.last()[1].value<Index>() - 77) <= 4);
}

TEST_CASE("a left drag selects, a right drag pans, a header click chooses, a header drag moves") {
  Shown shown(matrix_model(384, 3));
  Viewport requested{0, 384, 0, 384};
  IndexRange rows, cols;
  QObject::connect(&shown.canvas, &Canvas::viewport_requested, [&](Viewport v) { requested = v; });
  QObject::connect(&shown.canvas, &Canvas::rectangle_selected,
                   [&](IndexRange r, IndexRange c) { rows = r, cols = c; });
  QSignalSpy chosen(&shown.canvas, &Canvas::column_chosen),
      moved(&shown.canvas, &Canvas::column_moved), pins(&shown.canvas, &Canvas::query_pinned);
  const auto drag = [&](Qt::MouseButton button, QPoint from, QPoint to) {
    QTest::mousePress(&shown.canvas, button, {}, from);
    QTest::mouseMove(&shown.canvas, (from + to) / 2);
    QTest::mouseMove(&shown.canvas, to);
    QTest::mouseRelease(&shown.canvas, button, {}, to);
    shown.settle();
  };
  drag(Qt::LeftButton, inside(shown, 1, 0.25, 0.5), inside(shown, 1, 0.5, 0.75));
  CHECK(std::abs(rows.begin - 192) <= 3);
  CHECK(std::abs(rows.end - 288) <= 3);
  CHECK(std::abs(cols.begin - 96) <= 3);
  CHECK(std::abs(cols.end - 192) <= 3);
  CHECK(pins.isEmpty());
  REQUIRE(chosen.count() == 1);  // whose statistics these are
  chosen.clear();
  shown.wheel(inside(shown, 0, 0.5, 0.5), 5);
  const Viewport before = requested;
  drag(Qt::RightButton, inside(shown, 0, 0.5, 0.5), inside(shown, 0, 0.4, 0.5));
  CHECK(requested.col_begin > before.col_begin);
  QTest::mouseClick(&shown.canvas, Qt::LeftButton, {}, {inside(shown, 1, 0.5, 0).x(), 20});
  shown.settle();
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].toInt() == 1);
  drag(Qt::LeftButton, {inside(shown, 0, 0.5, 0).x(), 20}, {inside(shown, 2, 0.5, 0).x(), 20});
  REQUIRE(moved.count() == 1);
  CHECK(moved[0][0].toInt() == 0);
  CHECK(moved[0][1].toInt() == 2);
}

TEST_CASE("every body draws at every length, after floating too" *
          doctest::test_suite("pictures")) {
  for (const Index n : {16, 384, 2048}) {
    CAPTURE(n);
    QMainWindow window;
    auto* dock = new QDockWidget(&window);
    auto* canvas = new Canvas;
    dock->setWidget(canvas);
    window.addDockWidget(Qt::LeftDockWidgetArea, dock);
    window.resize(1200, 900);
    canvas->set_model(gallery_model(n));
    window.show();
    REQUIRE(QTest::qWaitForWindowExposed(&window));
    QTest::qWait(200);
    const QRgb before = canvas->grab().toImage().pixel(left + 2, top + 2);
    dock->setFloating(true);  // another window, and back
    QTest::qWait(300);
    CHECK(canvas->grab().toImage().pixel(left + 2, top + 2) == before);
    dock->setFloating(false);
    QTest::qWait(300);
    CHECK(canvas->grab().toImage().pixel(left + 2, top + 2) == before);
  }
}

TEST_CASE("nothing is drawn when nothing happens") {
  Shown shown(matrix_model(16, 2));
  shown.settle();
  QSignalSpy frames(&shown.canvas, &Canvas::frame_painted);
  QTest::qWait(300);
  CHECK(frames.count() == 0);
  CHECK(shown.canvas.last_frame_ms() > 0);
}

TEST_CASE("tokens that touch are one span, and there are no more spans than pixels") {
  const canvas::TokenAxis axis{0, 100, 0, 200}, fine{0, 100, 0, 50};
  CHECK(canvas::spans(axis, {10, 11, 12, 40}).size() == 2);
  const auto one = canvas::spans(axis, {10, 11, 12});
  CHECK(one.front().first == doctest::Approx(20));
  CHECK(one.front().second == doctest::Approx(26));
  std::vector<Index> all;
  for (Index i = 0; i < 100; i += 3) all.push_back(i);
  CHECK(canvas::spans(fine, all).size() <= 50);
  CHECK(canvas::spans({60, 70, 0, 50}, {10, 90}).empty());
}

/// For the eye: FOVEA_SHOTS=folder test_canvas --no-skip -tc="pictures of *" writes them.
TEST_CASE("pictures of all states" * doctest::skip()) {
  const QString folder = qEnvironmentVariable("FOVEA_SHOTS");
  REQUIRE_MESSAGE(!folder.isEmpty(), "FOVEA_SHOTS must name a folder");
  for (const bool dark : {true, false}) {
    const auto shot = [&](const QString& name, std::shared_ptr<CanvasModel> model, QSize size,
                          QPoint hover = {2, 2}) {
      model->dark = dark;
      Shown shown(model, size);
      shown.move(hover);
      const QString ratio = shown.canvas.devicePixelRatioF() > 1 ? "-hidpi" : "";
      CHECK(shown.picture().save(
          QDir(folder).filePath(name + (dark ? "-dark" : "-light") + ratio + ".png")));
      MESSAGE(name.toStdString() << " " << shown.canvas.last_frame_ms() << " ms");
    };
    auto many = matrix_model(384, 5);
    many->pinned_query = 260, many->selected_column = 2;
    many->selection = {{40, 120}, {200, 300}};
    many->marked_queries = {10, 11, 12, 300, 301};
    shot("grid", many, {1140, 820}, {300, 160});
    shot("gallery", gallery_model(384), {1140, 820}, {700, 500});
    auto close = matrix_model(384, 2);
    close->viewport = {100, 112, 104, 116};
    close->settings.shared_range = false;
    shot("close", close, {1000, 980}, {260, 220});
    auto closest = matrix_model(384, 2);
    closest->viewport = {100, 107, 100, 107};
    closest->cells[0][0] = cell_of(heat(384, 384));
    shot("closest", closest, {900, 900});
    shot("scrolled", matrix_model(2048, 8), {900, 500});
  }
}

// On the offscreen platform, by a test of its own.
TEST_CASE("where there is no GL the canvas says so" * doctest::skip()) {
  Canvas canvas;
  canvas.resize(700, 500);
  canvas.set_model(matrix_model(16, 2));
  QSignalSpy frames(&canvas, &Canvas::frame_painted);
  canvas.show();
  REQUIRE(QTest::qWaitForWindowExposed(&canvas));
  const QImage image = canvas.grab().toImage();
  const QRgb ground = image.pixel(0, 0);
  int words = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) words += image.pixel(x, y) != ground;
  CHECK(words > 100);  // dark pixels of letters
  CHECK(frames.isEmpty());
}

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  if (context.shouldExit()) return context.run();  // listing the cases needs no display
  allow_native_composition();
  QApplication application(argc, argv);
  return fovea::test::run_tests(context);
}
