// Two columns in the panels of one: what is drawn where, in which colours, and what is said of it.
#include <QElapsedTimer>
#include <QPainter>
#include <numeric>

#include "canvas/scene.h"
#include "drawing/recording_ink.h"
#include "figure/painter_ink.h"
#include "screen_letters.h"
#include "shown.h"
#include "views/views.h"

using namespace fovea;

namespace {

constexpr Index n = 16;
constexpr float values[] = {0.2f, 0.7f, 0.4f};  // of a column, the same for all pairs

Raster flat(float value) {
  Raster raster = heat(n, n);
  raster.norm = Norm::linear, raster.low = 0, raster.high = 1;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) raster.values(i, j) = value;
  return raster;
}

Raster one_class(int category) {
  Raster raster = mask_map(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) raster.values(i, j) = float(category);
  return raster;
}

/// Blocks of four tokens a side, all of one rank.
BlockMap flat_ranks(int rank) {
  BlockMap blocks;
  blocks.map.lengths = {n, n};
  for (Index i = 0; i < n; i += 4)
    for (Index j = 0; j < n; j += 4)
      blocks.map.blocks.push_back({{i, i + 4}, {j, j + 4}, 0, rank, {}});
  return blocks;
}

OutputPicture flat_picture(float grey) {
  OutputPicture out = picture();
  std::ranges::fill(out.rgb, grey);
  return out;
}

/// Three columns, a row of each body that can be compared.
std::shared_ptr<CanvasModel> flat_model(std::optional<Comparison> comparison) {
  auto model = base_model(n, 3);
  model->views = {find_view("heatmap"), find_view("mask"), find_view("rank"), find_view("output")};
  model->cells.resize(4);
  for (int c = 0; c < 3; ++c) {
    model->cells[0].push_back(cell_of(flat(values[c]), ""));
    model->cells[1].push_back(cell_of(one_class(c), ""));
    model->cells[2].push_back(cell_of(flat_ranks(c + 1), ""));
    model->cells[3].push_back(cell_of(flat_picture(0.25f * float(c + 1)), ""));
  }
  model->comparison = comparison;
  return model;
}

/// Places beside numbers of ranks and lines between blocks, on both sides of the diagonal.
constexpr QPointF above[] = {{0.78, 0.28}, {0.95, 0.03}, {0.6, 0.53}, {0.53, 0.47}};
QPointF mirrored(QPointF p) {
  return {p.y(), p.x()};
}

/// Flat colours of the panels of each column, without a comparison.
struct FlatColours {
  FlatColours() {
    Shown shown(flat_model({}), {1140, 1500});
    const QImage image = shown.picture();
    for (int row = 0; row < 4; ++row)
      for (int c = 0; c < 3; ++c)
        of[row][c] = pixel(shown, image, within(shown, row, c, 0.53, 0.47));
  }
  QRgb of[4][3];
};

/// A laid out scene of a model, all of it.
struct LaidOut {
  explicit LaidOut(const CanvasModel& shown, drawing::Point size = {1140, 900})
      : scene{.model = shown,
              .settings = settings,
              .fonts = letters.fonts,
              .prepared = prepared,
              .rows = range(shown.cells.size()),
              .columns = range(shown.cells[0].size())} {
    settings = shown.settings;
    for (const auto& cells : shown.cells)
      for (const CanvasCell& cell : cells) prepared.try_emplace(cell.panel, *cell.panel);
    scene.lay_out(size);
  }
  std::vector<std::string> texts() const {
    drawing::RecordingInk ink(letters.fonts, drawing::screen_style(true));
    draw_scene(ink, scene);
    return ink.texts();
  }
  bool says(const std::string& words) const { return std::ranges::count(texts(), words) > 0; }

  ScreenLetters letters;
  ViewSettings settings;
  canvas::PreparedPanels prepared;
  canvas::Scene scene;

 private:
  static std::vector<int> range(std::size_t count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

QRect changed(const QImage& a, const QImage& b) {
  QRect all;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      if (a.pixel(x, y) != b.pixel(x, y)) all |= QRect(x, y, 1, 1);
  return all;
}

}  // namespace

TEST_CASE("split: the first column is seen above the diagonal and the other below" *
          doctest::test_suite("pictures")) {
  const FlatColours flat;
  for (const auto& columns : {std::pair{1, 0}, {0, 2}}) {
    const int column = columns.first, with = columns.second;
    Shown shown(flat_model(Comparison{column, with, ComparisonMode::split}), {1140, 1500});
    const QImage image = shown.picture();
    for (int row = 0; row < 4; ++row) {
      CAPTURE(row);
      REQUIRE(flat.of[row][column] != flat.of[row][with]);
      for (const QPointF p : above) {
        CAPTURE(p.x());
        const auto at = [&](QPointF place) {
          return pixel(shown, image, within(shown, row, column, place.x(), place.y()));
        };
        CHECK(near(at(p), flat.of[row][column]));
        CHECK(near(at(mirrored(p)), flat.of[row][with]));
      }
      for (int c = 0; c < 3; ++c)  // the other columns are as they were
        if (c != column)
          CHECK(near(pixel(shown, image, within(shown, row, c, 0.28, 0.78)), flat.of[row][c]));
    }
  }
}

TEST_CASE("split follows the diagonal of the matrix when the view is moved" *
          doctest::test_suite("pictures")) {
  const FlatColours flat;
  auto model = flat_model(Comparison{1, 0, ComparisonMode::split});
  model->viewport = {0, 8, 4, 12};
  Shown shown(model, {1140, 1500});
  const QImage image = shown.picture();
  const auto at_pair = [&](int row, double query, double key) {
    return pixel(shown, image, within(shown, row, 1, (key - 4) / 8, query / 8));
  };
  for (const int row : {0, 1, 2}) {
    CAPTURE(row);
    CHECK(near(at_pair(row, 5.3, 6.4), flat.of[row][1]));
    CHECK(near(at_pair(row, 6.15, 5.15), flat.of[row][0]));
    CHECK(near(at_pair(row, 0.3, 4.2), flat.of[row][1]));
  }
}

TEST_CASE("screen and paper draw the same part of what is drawn within a half-plane") {
  const drawing::HalfPlane part{{20, 80}, {80, 30}};
  QImage paper(100, 100, QImage::Format_RGB32);
  paper.fill(Qt::black);
  QPainter painter(&paper);
  const FigureStyle style;
  const PaperLettering letters(style);
  PainterInk ink(painter, letters, style);
  ink.within(part, [&] { ink.fill({0, 0, 100, 100}, {255, 255, 255}); });
  ink.fill({0, 0, 4, 4}, {255, 0, 0});  // the whole plane again
  painter.end();
  for (int y = 5; y < 100; y += 10)
    for (int x = 5; x < 100; x += 10)
      if (std::abs(part.beyond({x + 0.5, y + 0.5})) > 200)
        CHECK((paper.pixel(x, y) == qRgb(255, 255, 255)) == part.contains({x + 0.5, y + 0.5}));
  CHECK(paper.pixel(1, 1) == qRgb(255, 0, 0));
}

TEST_CASE("wipe: the border follows the pointer and stays where it was last" *
          doctest::test_suite("pictures")) {
  const FlatColours flat;
  auto model = flat_model(Comparison{1, 0, ComparisonMode::wipe});
  model->selected_column = 1;
  Shown shown(model, {1140, 1500});
  const auto border_is_at = [&](double share) {
    const QImage image = shown.picture();
    for (int row = 0; row < 4; ++row) {
      CAPTURE(row);
      CHECK(near(pixel(shown, image, within(shown, row, 1, share - 0.04, 0.47)), flat.of[row][1]));
      CHECK(near(pixel(shown, image, within(shown, row, 1, share + 0.04, 0.47)), flat.of[row][0]));
    }
  };
  border_is_at(0.5);
  for (const double share : {0.28, 0.65}) {
    QTest::mouseMove(&shown.canvas, within(shown, 0, 1, share, 0.8));
    border_is_at(share);
  }
  for (const QPoint elsewhere : {within(shown, 0, 2, 0.3, 0.8), QPoint(3, 3)}) {
    QTest::mouseMove(&shown.canvas, elsewhere);
    border_is_at(0.65);
  }
  shown.canvas.point_to(3, 5);  // by keys
  border_is_at(5.5 / 16);
}

TEST_CASE("blink: the two alternate only while that is on and can be seen") {
  const FlatColours flat;
  Shown shown(flat_model({}));
  QSignalSpy frames(&shown.canvas, &Canvas::frame_painted);
  QTest::qWait(1300);
  CHECK(frames.isEmpty());
  shown.canvas.set_model(flat_model(Comparison{1, 0, ComparisonMode::blink}));
  const auto colour = [&] {
    return pixel(shown, shown.canvas.grab().toImage(), within(shown, 0, 1, 0.53, 0.47));
  };
  // A loaded machine is late, but never alternates more often.
  constexpr double period_ms = 500;
  QElapsedTimer timer;
  timer.start();
  int changes = 0;
  QRgb before = colour();
  CHECK(near(before, flat.of[0][1]));
  CHECK(QTest::qWaitFor(
      [&] {
        const QRgb now = colour();
        CHECK((near(now, flat.of[0][0]) || near(now, flat.of[0][1])));
        changes += std::exchange(before, now) != now;
        return changes >= 4;
      },
      60000));
  CHECK(changes <= timer.elapsed() / period_ms + 2);

  frames.clear();
  timer.start();
  CHECK(QTest::qWaitFor([&] { return frames.count() >= 4; }, 60000));
  CHECK(frames.count() <= timer.elapsed() / period_ms + 2);  // and nothing is drawn between
  shown.canvas.hide();
  QTest::qWait(200);
  frames.clear();
  QTest::qWait(1300);
  CHECK(frames.isEmpty());
  shown.canvas.show();
  CHECK(QTest::qWaitFor([&] { return frames.count() >= 4; }, 60000));
  shown.canvas.set_model(flat_model(Comparison{1, 0, ComparisonMode::split}));
  shown.settle();
  frames.clear();
  QTest::qWait(1300);
  CHECK(frames.isEmpty());
}

TEST_CASE("an enlarged panel is compared with a column that is not shown" *
          doctest::test_suite("pictures")) {
  const FlatColours flat;
  Shown shown(flat_model(Comparison{1, 0, ComparisonMode::split}), {900, 900});
  shown.canvas.enlarge(0, 1);
  const QImage image = shown.picture();
  CHECK(near(pixel(shown, image, within(shown, 0, 1, 0.76, 0.26)), flat.of[0][1]));
  CHECK(near(pixel(shown, image, within(shown, 0, 1, 0.26, 0.76)), flat.of[0][0]));
}

TEST_CASE("the card tells both values and which is drawn, and captions the one that is drawn") {
  const auto model = flat_model(Comparison{1, 0, ComparisonMode::split});
  LaidOut laid_out(*model);
  canvas::Scene& scene = laid_out.scene;
  const auto words_at = [&](int row, Index query, Index key) {
    scene.pointer = {.query = query, .key = key, .row = row, .column = 1};
    return words_at_pointer(scene);
  };
  const auto has = [](const std::string& words, const char* part) {
    return words.find(part) != std::string::npos;
  };
  for (const bool upper : {true, false}) {
    const Index query = upper ? 3 : 9, key = upper ? 9 : 3;
    const std::string heat_words = words_at(0, query, key), mask_words = words_at(1, query, key),
                      rank_words = words_at(2, query, key);
    CHECK(has(heat_words, "Exact\t0.2"));
    CHECK(has(heat_words, "H-Transformer-1D\t0.7"));
    CHECK(has(mask_words, "Exact: empty"));
    CHECK(has(mask_words, "H-Transformer-1D: partial"));
    CHECK(has(rank_words, "Exact: rank 1 of 4"));
    CHECK(has(rank_words, "H-Transformer-1D: rank 2 of 4"));
    for (const std::string& words : {heat_words, mask_words, rank_words})
      CHECK(has(words, upper ? "drawn here: H-Transformer-1D\n" : "drawn here: Exact\n"));
    CHECK(value_at_pointer(scene, 0, 1) == (upper ? "0.7" : "0.2"));
    CHECK(value_at_pointer(scene, 1, 1) == (upper ? "partial" : "empty"));
    CHECK(value_at_pointer(scene, 0, 2) == "0.4");
  }
  CHECK(has(words_at(0, 5, 5), "drawn here: H-Transformer-1D above, Exact below the diagonal\n"));
  scene.pointer.column = 2;
  CHECK_FALSE(has(words_at_pointer(scene), "drawn here"));
}

TEST_CASE("the header says what is seen of both columns, cut before what matters") {
  auto model = flat_model(Comparison{1, 0, ComparisonMode::split});
  CHECK(LaidOut(*model).says("H-Transformer-1D above"));
  CHECK(LaidOut(*model).says("Exact below the diagonal"));
  model->comparison->mode = ComparisonMode::wipe;
  CHECK(LaidOut(*model).says("H-Transformer-1D left"));
  CHECK(LaidOut(*model).says("Exact right of the border"));
  model->comparison->mode = ComparisonMode::blink;
  LaidOut blinking(*model);
  CHECK(blinking.says("in turn with Exact"));
  const double top = blinking.scene.grid.panel(0, 0).y;
  blinking.scene.shows_other = true;
  blinking.scene.lay_out({1140, 900});
  CHECK(blinking.says("in turn with H-Transformer-1D"));
  CHECK(blinking.scene.grid.panel(0, 0).y == top);
  model->comparison->mode = ComparisonMode::split;
  model->column_titles[1] = "H-Transformer-1D, block 16 (2)";
  const std::vector<std::string> texts = LaidOut(*model, {760, 900}).texts();
  CHECK(std::ranges::any_of(texts, [](const std::string& words) {
    return words.starts_with("H-T") && words.ends_with("…, block 16 (2) above");
  }));
}

TEST_CASE("two columns that are compared have one range of colours") {
  auto model = flat_model(Comparison{1, 0, ComparisonMode::split});
  for (const int c : {0, 1, 2}) {
    auto panel = std::make_shared<Panel>(*model->cells[0][c].panel);
    std::get<Raster>(panel->body).high = 1 + c;
    model->cells[0][c].panel = panel;
  }
  model->settings.shared_range = false;
  const auto high_of = [&](int column) {
    return LaidOut(*model).scene.scales[0].of[std::size_t(column)]->high;
  };
  CHECK(high_of(0) == 1);
  CHECK(high_of(1) == 2);
  CHECK(high_of(2) == 3);
  CHECK(LaidOut(*model).scene.captions[0][1] == "one range of colours for both");
  CHECK(LaidOut(*model).scene.captions[0][2].empty());
  model->comparison->with = 2;
  CHECK(high_of(1) == 3);
  model->settings.ranges = {{find_view("heatmap"), 1, 0, 0.5}};  // chosen by hand
  CHECK(high_of(1) == 0.5);
  CHECK(high_of(2) == 3);
  model->settings.ranges.clear();
  model->comparison.reset();
  CHECK(high_of(1) == 2);
}

TEST_CASE("a panel stays as it is, and says so, where the other column has no such picture" *
          doctest::test_suite("pictures")) {
  auto model = flat_model(Comparison{1, 0, ComparisonMode::split});
  model->views[0] = find_view("error");
  model->cells[0][0] = cell_of(Message{"The reference has no error against itself."}, "");
  LaidOut laid_out(*model);
  CHECK(laid_out.scene.parts(0, 1).size() == 1);
  CHECK(laid_out.scene.parts(1, 1).size() == 2);
  CHECK(laid_out.scene.captions[0][1] == "H-Transformer-1D alone: Exact has no such picture");
  model->cells[0][1] = cell_of(row_curve(n), "a row");  // what is no picture is not compared
  CHECK(LaidOut(*model).scene.captions[0][1] == "a row");
}

TEST_CASE("the menu of a header compares with another column and duplicates" *
          doctest::test_suite("pictures")) {
  Shown shown(flat_model({}), {1140, 900});
  QSignalSpy actions(&shown.canvas, &Canvas::action_requested),
      chosen(&shown.canvas, &Canvas::column_chosen);
  std::optional<Comparison> wanted;
  QObject::connect(&shown.canvas, &Canvas::comparison_requested,
                   [&](const std::optional<Comparison>& comparison) { wanted = comparison; });
  const QPoint header(int(shown.canvas.panel_place(0, 2).x()) + 20, 15);
  const auto click = [&](QPoint at, Qt::MouseButton button) {
    shown.move(at);
    QTest::mouseClick(&shown.canvas, button, {}, at);
    shown.settle();
  };
  click(header, Qt::RightButton);
  click(header + QPoint(25, 15 + 17), Qt::LeftButton);
  REQUIRE(actions.count() == 1);
  CHECK(actions[0][0].toString() == "duplicate");
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].toInt() == 2);
  // Below a line between two groups; the column is the last, so that it cannot go right.
  for (const auto& [line, action] : {std::pair{3, "left"}, {5, "reset"}, {6, "remove"}}) {
    actions.clear();
    click(header, Qt::RightButton);
    click(header + QPoint(25, 15 + 17 * line + 9), Qt::LeftButton);
    REQUIRE(actions.count() == 1);
    CHECK(actions[0][0].toString() == action);
  }

  click(header, Qt::RightButton);
  const auto open = [&](QPoint item) {  // a menu within a menu, which is right of it
    const QImage before = shown.picture();
    shown.move(item);
    const QImage after = shown.picture();
    const QRect opened = changed(before, after);
    const QPoint first(opened.right(), item.y());
    REQUIRE(opened.width() > 40);
    return first;
  };
  const QPoint columns = open(header + QPoint(25, 15));
  shown.move(columns - QPoint(30, 0));
  const QPoint modes = open(columns - QPoint(30, -17));  // the second of the others
  click(modes - QPoint(30, -17), Qt::LeftButton);
  CHECK(wanted == Comparison{2, 1, ComparisonMode::wipe});
}
