// What can be touched on the canvas: legends, the ends of colour bars, the buttons of rows and the
// context menu, and what the card beside the pointer says.
#include <QClipboard>
#include <QGuiApplication>

#include "canvas/scene.h"
#include "shown.h"
#include "views/views.h"

using namespace fovea;

namespace {

std::shared_ptr<CanvasModel> one_panel(decltype(Panel::body) body,
                                       View view = find_view("heatmap")) {
  auto model = base_model(16, 1);
  model->views = {view};
  model->cells = {{cell_of(std::move(body))}};
  return model;
}

std::shared_ptr<CanvasModel> one_heatmap(double high = 1) {
  Raster raster = heat(16, 16);
  raster.norm = Norm::linear, raster.low = 0, raster.high = high;
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j) raster.values(i, j) = 0.5f;
  return one_panel(raster);
}

/// A canvas whose owner does what controls request, as a window does.
struct Owned : Shown {
  explicit Owned(std::shared_ptr<CanvasModel> model) : Shown(model), owned(model) {
    QObject::connect(&canvas, &Canvas::settings_requested, [this](const ViewSettings& settings) {
      owned = std::make_shared<CanvasModel>(*owned);
      owned->settings = settings;
      canvas.set_model(owned);
      ++changes;
    });
  }
  const ViewSettings& settings() const { return owned->settings; }
  void click(QPoint at, Qt::MouseButton button = Qt::LeftButton) {
    move(at);
    QTest::mouseClick(&canvas, button, {}, at);
    settle();
  }
  /// Relative to a corner of the first panel, which lies at shares of its size.
  QPoint beside(double x, double y, int right, int down) const {
    const QRectF place = canvas.panel_place(0, 0);
    return (place.topLeft() + QPointF(x * place.width() + right, y * place.height() + down))
        .toPoint();
  }
  QRgb colour(QPoint at) {
    move({2, 2});
    return pixel(*this, picture(), at);
  }

  std::shared_ptr<CanvasModel> owned;
  int changes = 0;
};

/// The upright bar beside the panel, from its top (0) to its bottom (1).
QPoint on_bar(const Owned& shown, double share) {
  return shown.beside(1, share, 15, share < 0.5 ? 2 : -2);
}

/// Presses the high end of a row's bar, moves it to these shares of the bar and releases it.
void drag_high_end(Owned& shown, std::initializer_list<double> shares) {
  shown.move(on_bar(shown, 0));
  QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, on_bar(shown, 0));
  for (const double share : shares) QTest::mouseMove(&shown.canvas, on_bar(shown, share));
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {},
                      on_bar(shown, std::data(shares)[shares.size() - 1]));
  shown.settle();
}

/// The n-th item of a menu that was opened by a click; its lines are 17 pixels apart.
QPoint item(QPoint clicked, int n) {
  return clicked + QPoint(25, 15 + 17 * n);
}

}  // namespace

TEST_CASE("dragging the end of a colour bar chooses its range, a double click resets it") {
  Owned shown(one_heatmap());
  const QPoint cell = inside(shown, 0, 0.52, 0.52);
  const QRgb before = shown.colour(cell);
  drag_high_end(shown, {0.25, 0.5});
  REQUIRE(shown.settings().ranges.size() == 1);
  const ColourRange range = shown.settings().ranges[0];
  CHECK(range.view == find_view("heatmap"));
  CHECK(range.column == -1);  // of the row
  CHECK(range.low == 0);
  CHECK(range.high == doctest::Approx(0.5).epsilon(0.05));
  CHECK_FALSE(near(shown.colour(cell), before));
  const QPoint middle = on_bar(shown, 0.45);
  shown.move(middle);
  QMouseEvent twice(QEvent::MouseButtonDblClick, middle, shown.canvas.mapToGlobal(middle),
                    Qt::LeftButton, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&shown.canvas, &twice);
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, middle);
  shown.settle();
  CHECK(shown.settings().ranges.empty());
  CHECK(near(shown.colour(cell), before));
}

TEST_CASE("a tool tip of the canvas has its words") {
  Owned shown(one_heatmap());
  shown.move({2, 2});
  const QImage before = shown.picture();
  shown.move(on_bar(shown, 0));
  const QImage after = shown.picture();
  QRect changed;
  for (int y = 0; y < after.height(); ++y)
    for (int x = 0; x < after.width(); ++x)
      if (after.pixel(x, y) != before.pixel(x, y)) changed |= QRect(x, y, 1, 1);
  CHECK(changed.right() > on_bar(shown, 0).x() + 150);  // an empty one has 16 pixels
}

TEST_CASE("panels with ranges of their own are chosen one by one") {
  auto model = matrix_model(64, 3);
  model->settings.shared_range = false;
  Owned shown(model);
  const QRectF place = shown.canvas.panel_place(0, 2);
  // The bar lies below the caption; its right end is pressed.
  const QPoint end(int(place.right()) - 1, int(place.bottom()) + 36);
  shown.move(end);
  QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, end);
  QTest::mouseMove(&shown.canvas, end - QPoint(30, 0));
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, end - QPoint(30, 0));
  shown.settle();
  REQUIRE(shown.settings().ranges.size() == 1);
  CHECK(shown.settings().ranges[0].column == 2);
}

TEST_CASE("Esc takes back the range that is being dragged") {
  Owned shown(one_heatmap());
  shown.move(on_bar(shown, 0));
  QTest::mousePress(&shown.canvas, Qt::LeftButton, {}, on_bar(shown, 0));
  QTest::mouseMove(&shown.canvas, on_bar(shown, 0.5));
  shown.settle();
  REQUIRE(shown.settings().ranges.size() == 1);
  QTest::keyClick(&shown.canvas, Qt::Key_Escape);
  shown.settle();
  CHECK(shown.settings().ranges.empty());
  QTest::mouseRelease(&shown.canvas, Qt::LeftButton, {}, on_bar(shown, 0.5));
  shown.settle();
  CHECK(shown.settings().ranges.empty());
}

TEST_CASE("the range of signed numbers stays centred on zero") {
  Owned shown(one_panel(error_map(16, 16), find_view("error")));
  drag_high_end(shown, {0.25});
  REQUIRE(shown.settings().ranges.size() == 1);
  const ColourRange range = shown.settings().ranges[0];
  CHECK(range.high == doctest::Approx(0.015).epsilon(0.1));  // half of 0.03, to a pixel or two
  CHECK(range.low == -range.high);
}

TEST_CASE("the lock of an enlarged panel with a range of its own is that of its column") {
  auto model = matrix_model(64, 3);
  model->settings.shared_range = false;
  Owned shown(model);
  shown.canvas.enlarge(0, 2);
  shown.settle();
  shown.canvas.toggle_lock(0, 2);
  REQUIRE(shown.settings().ranges.size() == 1);
  CHECK(shown.settings().ranges[0].column == 2);
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

TEST_CASE("the lock of a row keeps the range of its colours when the numbers change") {
  Owned shown(one_heatmap());
  const QPoint cell = inside(shown, 0, 0.52, 0.52), lock = shown.beside(0, 1, -62, -8);
  const QRgb before = shown.colour(cell);
  const auto show_wider = [&] {
    auto wider = one_heatmap(2);
    wider->settings = shown.settings();
    shown.canvas.set_model(shown.owned = wider);
    return shown.colour(cell);
  };
  shown.click(lock);
  CHECK(shown.settings().ranges == std::vector{ColourRange{find_view("heatmap"), -1, 0, 1}});
  CHECK(near(show_wider(), before));
  shown.click(lock);
  CHECK(shown.settings().ranges.empty());
  CHECK_FALSE(near(shown.colour(cell), before));
  shown.canvas.toggle_lock(0, 0);  // as the menu of the window does
  CHECK(shown.settings().ranges == std::vector{ColourRange{find_view("heatmap"), -1, 0, 2}});
  shown.canvas.set_model(shown.owned = one_heatmap(3));
  shown.canvas.toggle_lock(0, 0);  // before the new model is drawn
  CHECK(shown.settings().ranges == std::vector{ColourRange{find_view("heatmap"), -1, 0, 3}});
}

TEST_CASE("a range chosen by the bar of a single panel replaces one chosen for its column before") {
  auto model = one_heatmap();
  model->settings.ranges = {{find_view("heatmap"), 0, 0, 0.25}};
  Owned shown(model);
  shown.canvas.toggle_lock(0, 0);
  CHECK(shown.settings().range_of(find_view("heatmap"), -1)->high == 1);  // what is shown is locked
  const auto figure_high = [&] {  // figures have their ranges of the same settings
    const Panel* panel = shown.owned->cells[0][0].panel.get();
    return drawing::scales_of_row(find_view("heatmap"), {panel}, shown.settings()).of[0]->high;
  };
  CHECK(figure_high() == 1);
  const QPoint cell = inside(shown, 0, 0.52, 0.52);
  const QRgb before = shown.colour(cell);
  drag_high_end(shown, {0.25, 0.5});
  CHECK_FALSE(near(shown.colour(cell), before));
  CHECK(figure_high() == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("a click on a name of a legend hides what it stands for, and shows it again") {
  Owned shown(one_panel(row_curve(16), find_view("row")));
  QSignalSpy chosen(&shown.canvas, &Canvas::column_chosen);
  const QPoint exact = shown.beside(0, 0, 24, 11), bar = inside(shown, 0, 5.5 / 16, 0.65);
  const QRgb before = shown.colour(bar);
  shown.click(exact);
  CHECK(shown.settings().hidden == std::vector<std::string>{"exact"});
  CHECK_FALSE(near(shown.colour(bar), before));
  shown.click(exact);
  CHECK(shown.settings().hidden.empty());
  CHECK(near(shown.colour(bar), before));
  CHECK(chosen.isEmpty());  // the clicks were the legend's
}

TEST_CASE("a class of a map is hidden at the legend of its colours") {
  Owned shown(one_panel(mask_map(16, 16), find_view("mask")));
  const QPoint full = inside(shown, 0, 1.5 / 16, 1.5 / 16), other = inside(shown, 0, 0.5, 0.1);
  const QRgb before = shown.colour(full), empty = shown.colour(other);
  REQUIRE(near(before, rgb(category_colour(2))));
  shown.click(shown.beside(1, 0, 30, 49));
  REQUIRE(shown.settings().hidden == std::vector<std::string>{"full"});
  CHECK(near(shown.colour(full), rgb(colormap("categories").under)));
  CHECK(near(shown.colour(other), empty));
}

TEST_CASE("the buttons of a row choose its norm, and ask for its settings") {
  Owned shown(one_heatmap());
  QSignalSpy settings(&shown.canvas, &Canvas::row_settings_requested);
  REQUIRE(shown.settings().norm == Norm::log);
  const QPoint norm = shown.beside(0, 0, -62, 8), name = shown.beside(0, 0.5, -62, 0);
  shown.click(norm);
  shown.click(item(norm, 0));
  CHECK(shown.settings().norm == Norm::linear);
  shown.click(name);
  REQUIRE(settings.count() == 1);
  CHECK(settings[0][0].toInt() == 0);
}

TEST_CASE("a right click opens a menu, which has all input until it is closed" *
          doctest::test_suite("pictures")) {
  Owned shown(one_heatmap());
  QSignalSpy actions(&shown.canvas, &Canvas::action_requested),
      pins(&shown.canvas, &Canvas::query_pinned), hovers(&shown.canvas, &Canvas::hovered);
  const QPoint at = inside(shown, 0, 0.6, 0.3);
  QGuiApplication::clipboard()->clear();
  shown.click(at, Qt::RightButton);
  hovers.clear();
  shown.click(item(at, 0));
  CHECK(QGuiApplication::clipboard()->text().contains("query 4"));
  CHECK(QGuiApplication::clipboard()->text().contains("0.5"));
  shown.click(at, Qt::RightButton);
  shown.click(item(at, 1));
  REQUIRE(actions.count() == 1);
  CHECK(actions[0][0].toString() == "copy");
  CHECK(pins.isEmpty());  // the clicks were the menu's
  shown.click(at, Qt::RightButton);
  shown.click(item(at, 5) + QPoint(0, 9));  // below a line between two groups: Pin query
  REQUIRE(pins.count() == 1);
  CHECK(pins[0][0].value<Index>() == 4);
  pins.clear();
  const QImage closed = shown.picture();
  shown.click(at, Qt::RightButton);
  CHECK(pixel(shown, shown.picture(), item(at, 4)) != pixel(shown, closed, item(at, 4)));
  QTest::keyClick(&shown.canvas, Qt::Key_Escape);
  shown.settle();
  shown.click(at);
  CHECK(pins.count() == 1);
}

TEST_CASE("a drag with the right button pans and opens no menu") {
  Owned shown(one_heatmap());
  shown.wheel(inside(shown, 0, 0.5, 0.5), 4);
  QSignalSpy pans(&shown.canvas, &Canvas::viewport_requested),
      pins(&shown.canvas, &Canvas::query_pinned);
  const QPoint from = inside(shown, 0, 0.5, 0.5), to = inside(shown, 0, 0.3, 0.5);
  QTest::mousePress(&shown.canvas, Qt::RightButton, {}, from);
  QTest::mouseMove(&shown.canvas, to);
  QTest::mouseRelease(&shown.canvas, Qt::RightButton, {}, to);
  shown.settle();
  CHECK(pans.count() > 0);
  shown.click(to);
  CHECK(pins.count() == 1);
}

TEST_CASE("the card says the tokens of the pair and the numbers of every column") {
  auto model = matrix_model(16, 3);
  auto panel = std::make_shared<Panel>(*model->cells[0][2].panel);
  std::get<Raster>(panel->body).values(4, 5) = 0.1875f;
  model->cells[0][2].panel = panel;
  Owned shown(model);
  const QPoint at = inside(shown, 0, 5.5 / 16, 4.5 / 16);
  shown.click(at, Qt::RightButton);
  shown.click(item(at, 0));
  const QString words = QGuiApplication::clipboard()->text();
  CAPTURE(words.toStdString());
  for (const char* part : {"query 4 “only”", "key 5 “where”", "Exact\t", "H-Transformer-1D\t",
                           "Fixed factorized\t0.188"})
    CHECK(words.contains(part));
}

TEST_CASE("a picture whose numbers overflow looks as in a figure" *
          doctest::test_suite("pictures")) {
  OutputPicture colours = picture();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < colours.rgb.size(); i += 3)
    colours.rgb[i] = i % 2 == 0 ? infinite : std::numeric_limits<float>::quiet_NaN();
  const auto figure = pixels_of(colours);
  Owned shown(one_panel(colours, find_view("output")));
  const QImage image = shown.picture();
  for (const int cell : {5, 12, 18}) {
    CAPTURE(cell);
    // 24 cells a side, with a frame of 6 pixels around them.
    const QPoint at = shown.beside((cell + 0.5) / 24, (cell + 0.5) / 24, 0, 0);
    const drawing::Rgba expected = figure[cell * 24 + cell];
    CHECK(near(pixel(shown, image, at), qRgb(expected.r, expected.g, expected.b) & 0xffffff));
  }
}

/// For the eye, as "pictures of all states".
TEST_CASE("pictures of the controls" * doctest::skip()) {
  const QString folder = qEnvironmentVariable("FOVEA_SHOTS");
  REQUIRE_MESSAGE(!folder.isEmpty(), "FOVEA_SHOTS must name a folder");
  for (const bool dark : {true, false}) {
    auto model = matrix_model(384, 3);
    model->dark = dark;
    Owned shown(model);
    const auto save = [&](const QString& name) {
      CHECK(shown.picture().save(folder + "/" + name + (dark ? "-dark.png" : "-light.png")));
    };
    shown.click(shown.beside(0, 1, -62, -8));
    shown.move(shown.beside(1, 0, 2 * side(shown) + 36, 2));
    save("bar-end");
    shown.click(shown.beside(0, 0, -62, 8));
    shown.move(item(shown.beside(0, 0, -62, 8), 1));
    save("norm");
    QTest::keyClick(&shown.canvas, Qt::Key_Escape);
    shown.click(inside(shown, 1, 0.5, 0.5), Qt::RightButton);
    shown.move(item(inside(shown, 1, 0.5, 0.5), 5));
    save("menu");
    QTest::keyClick(&shown.canvas, Qt::Key_Escape);
    const QPoint title(int(shown.canvas.panel_place(0, 1).x()) + 20, 15);
    shown.click(title, Qt::RightButton);
    shown.move(item(title, 0));
    save("compare-with");
  }
}
