// What the window promises to hands: everything is linked, by the pointer and by keys alone.
#include <doctest/doctest.h>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "gui/docks/input_dock.h"
#include "gui/docks/singular_values.h"
#include "gui/find_bar.h"
#include "gui/window_harness.h"

namespace fovea::test {
namespace {

const QString small = "synthetic:clusters?n=128&d=32&seed=1";
const QString assets = FOVEA_ASSETS;

int column_of(Window& window, const std::string& variant) {
  const auto& columns = window.study().session().columns;
  return int(std::ranges::find(columns, variant, &Column::variant) - columns.begin());
}

int row_of(Window& window, View view) {
  const auto& views = window.study().session().views;
  return int(std::ranges::find(views, view) - views.begin());
}

const Panel& panel(Window& window, View view, int column) {
  const auto& cells = window.study().model()->cells;
  return *cells[std::size_t(row_of(window, view))][std::size_t(column)].panel;
}

/// Until no frame came for a while: a loaded machine draws late.
void be_still(Window& window) {
  QSignalSpy frames(&window->canvas(), &QOpenGLWidget::frameSwapped);
  QElapsedTimer clock;
  clock.start();
  do {
    frames.clear();
    QTest::qWait(100);
  } while (!frames.isEmpty() && clock.elapsed() < 5000);
}

void show(Window& window, std::vector<View> views) {
  window->change("views", [&](Session& s) { s.views = views; });
  REQUIRE(window.settle());
  be_still(window);
}

/// In the canvas, at shares of a panel's width and height.
QPoint at(Window& window, View view, int column, double x, double y) {
  const auto now = [&] { return window->canvas().panel_place(row_of(window, view), column); };
  QRectF place;
  REQUIRE(wait_until([&] {  // until it no longer moves
    const QRectF before = std::exchange(place, now());
    QTest::qWait(60);
    return !place.isEmpty() && before == place && now() == place;
  }));
  return (place.topLeft() + QPointF(x * place.width(), y * place.height())).toPoint();
}

/// Where the pair is drawn while all tokens are seen.
QPoint at_pair(Window& window, View view, int column, Index query, Index key) {
  const double n = double(window.study().length());
  return at(window, view, column, (double(key) + 0.5) / n, (double(query) + 0.5) / n);
}

void point(Window& window, QPoint place) {
  QTest::mouseMove(&window->canvas(), place);
  be_still(window);
}

void click(Window& window, QPoint place) {
  point(window, place);
  QTest::mouseClick(&window->canvas(), Qt::LeftButton, {}, place);
  be_still(window);
}

void press(Window& window, Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
  QTest::keyClick(&window->canvas(), key, modifiers);
  QTest::qWait(20);
}

void take_focus(Window& window) {
  window->activateWindow();
  window->canvas().setFocus();
  REQUIRE(
      wait_until([&] { return window->canvas().hasFocus() && window->isActiveWindow(); }, 5000));
  QTest::mouseMove(&*window, {5, 5});  // the pointer is elsewhere
  QTest::qWait(100);
}

/// What the inspector says under a label; empty: nothing.
QString said(Window& window, const QString& label) {
  for (const auto* value : window->findChildren<QLabel*>())
    if (value->accessibleName() == label && !value->isHidden()) return value->text();
  return {};
}

QImage picture_of(Window& window, View view, int column) {
  const QRectF place = window->canvas().panel_place(row_of(window, view), column);
  const double ratio = window->canvas().devicePixelRatioF();
  const QRect inner(place.adjusted(8, 8, -8, -8).toRect());
  return window->canvas().grabFramebuffer().copy(
      QRect(inner.topLeft() * ratio, inner.size() * ratio));
}

QWidget* sequence(Window& window) {
  return window->findChild<InputDock*>()->sequence();
}

}  // namespace

TEST_CASE("a click pins the row under the pointer, another lets it go") {
  Window window(small);
  const QPoint place = at_pair(window, View::heatmap, 1, 40, 90);
  click(window, place);
  REQUIRE(window.study().session().pinned_query);
  CHECK(std::abs(*window.study().session().pinned_query - 40) <= 1);
  click(window, place);
  CHECK_FALSE(window.study().session().pinned_query);
}

TEST_CASE("a rectangle dragged says the statistics of its pairs") {
  Window window(small);
  window.study().select_column(column_of(window, "fixed"));
  REQUIRE(window.settle());
  std::shared_ptr<const SelectionReading> read;
  QObject::connect(&window.study(), &Study::selection_read, [&](auto reading) { read = reading; });
  const QPoint from = at_pair(window, View::heatmap, 0, 16, 32),
               to = at_pair(window, View::heatmap, 0, 64, 96);
  point(window, from);
  QTest::mousePress(&window->canvas(), Qt::LeftButton, {}, from);
  QTest::mouseMove(&window->canvas(), (from + to) / 2);
  QTest::mouseMove(&window->canvas(), to);
  QTest::mouseRelease(&window->canvas(), Qt::LeftButton, {}, to);
  REQUIRE(wait_until([&] { return read != nullptr; }));
  CHECK(std::abs(read->rows.begin - 16) <= 1);
  CHECK(std::abs(read->cols.end - 97) <= 1);
  // The exact mass, anew from the operator.
  Profile profile;
  Run run{profile};
  const Matrix p = window.study().exact()->computation->op->tile(read->rows, read->cols, run);
  double mass = 0;
  for (Index i = 0; i < p.rows(); ++i)
    for (Index j = 0; j < p.cols(); ++j) mass += p(i, j);
  // A sum of some 3000 floats below 1.
  CHECK(read->exact_mass == doctest::Approx(mass / double(p.rows())).epsilon(1e-5));
  CHECK(said(window, "mass a row").contains("→"));
  window.trigger("cancel");
  CHECK_FALSE(window.study().selection());
}

TEST_CASE("keys alone: crosshair, pin, selection, panel, leaf and block") {
  Window window(small);
  take_focus(window);
  press(window, Qt::Key_Right);  // all is seen: nothing to pan
  const Index query = window.study().hovered_query(), key = window.study().hovered_key();
  REQUIRE(query >= 0);
  press(window, Qt::Key_Right, Qt::AltModifier);
  press(window, Qt::Key_Down, Qt::AltModifier);
  press(window, Qt::Key_Down, Qt::AltModifier);
  CHECK(window.study().hovered_query() == query + 2);
  CHECK(window.study().hovered_key() == key + 1);
  press(window, Qt::Key_Return);
  CHECK(window.study().session().pinned_query == query + 2);
  press(window, Qt::Key_M);
  for (int step = 0; step < 5; ++step) press(window, Qt::Key_Left, Qt::AltModifier);
  press(window, Qt::Key_Up, Qt::AltModifier);
  press(window, Qt::Key_M);
  REQUIRE(window.study().selection());
  CHECK(window.study().selection()->first == IndexRange{query + 1, query + 3});
  CHECK(window.study().selection()->second == IndexRange{key - 4, key + 2});

  press(window, Qt::Key_B);
  CHECK_FALSE(window->findChild<SingularValues*>()->isHidden());
  const int tree = column_of(window, "tf");
  press(window, static_cast<Qt::Key>(Qt::Key_1 + tree));
  CHECK(window.study().selected_column() == tree);
  press(window, Qt::Key_BracketRight);
  press(window, Qt::Key_BracketRight);
  REQUIRE(window.study().chosen_leaves());
  CHECK(window.study().chosen_leaves()->leaves == IndexRange{1, 2});
  CHECK_FALSE(window.study().marked_keys().empty());

  press(window, Qt::Key_PageDown);
  press(window, Qt::Key_Z);
  CHECK(window->canvas().is_enlarged());
  press(window, Qt::Key_Escape);
  CHECK_FALSE(window->canvas().is_enlarged());
  press(window, Qt::Key_Escape);
  CHECK_FALSE(window.study().selection());
  CHECK_FALSE(window.study().chosen_leaves());
  CHECK_FALSE(window.study().paused());
}

TEST_CASE("keys pan, zoom about the crosshair, fit; the crosshair draws the view along") {
  Window window(small);
  take_focus(window);
  for (int step = 0; step < 6; ++step) press(window, Qt::Key_Plus);
  Viewport v = window.study().session().viewport;
  CHECK(v.row_end - v.row_begin == doctest::Approx(128 * std::pow(0.8, 6)));
  press(window, Qt::Key_Right);
  CHECK(window.study().session().viewport.col_begin > v.col_begin);
  CHECK(window.study().session().viewport.row_begin == v.row_begin);
  for (int step = 0; step < 30; ++step) press(window, Qt::Key_Up, Qt::AltModifier);
  v = window.study().session().viewport;
  const double query = double(window.study().hovered_query());
  CHECK(query < 128 / 2 - 20);
  CHECK(query >= v.row_begin);
  press(window, Qt::Key_Minus);
  const Viewport wider = window.study().session().viewport;
  CHECK((query + 0.5 - wider.row_begin) / (wider.row_end - wider.row_begin) ==
        doctest::Approx((query + 0.5 - v.row_begin) / (v.row_end - v.row_begin)).epsilon(0.1));
  press(window, Qt::Key_F);
  CHECK(window.study().session().viewport == Viewport{0, 128, 0, 128});
}

TEST_CASE("a token is found, the next and the one before, and they are marked") {
  Window window(assets + "/text/fovea.txt");
  show(window, {View::heatmap});
  window.trigger("find");
  auto* line = window->findChild<QLineEdit*>("find_text");
  auto* bar = window->findChild<FindBar*>();
  REQUIRE(bar->isVisible());
  std::vector<Index> expected;
  const auto& tokens = window.study().source()->sequence.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (QString::fromStdString(tokens[i]).contains("the", Qt::CaseInsensitive))
      expected.push_back(Index(i));
  REQUIRE(expected.size() > 2);
  const QImage before = window->canvas().grabFramebuffer();
  QTest::keyClicks(line, "the");
  const auto pinned = [&] { return window.study().session().pinned_query.value_or(-1); };
  CHECK(pinned() == expected[0]);
  QTest::keyClick(line, Qt::Key_Return);
  CHECK(pinned() == expected[1]);
  window.trigger("find_next");
  CHECK(pinned() == expected[2]);
  QTest::keyClick(line, Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClick(line, Qt::Key_Return, Qt::ShiftModifier);
  window.trigger("find_previous");
  CHECK(pinned() == expected.back());
  window.shoot("find");
  CHECK(window->canvas().grabFramebuffer() != before);
  line->setText("zzzz");
  CHECK(line->accessibleDescription() == "no token has it");
  QTest::keyClick(line, Qt::Key_Escape);
  CHECK_FALSE(bar->isVisible());
}

TEST_CASE("go to a pair: pinned, read and in sight") {
  Window window(small);
  for (int step = 0; step < 8; ++step) window.trigger("zoom_in");
  const auto answer = [&](const QString& text) {
    QTimer::singleShot(200, [text] {
      auto* dialog = QApplication::activeModalWidget();
      if (!dialog) return;
      dialog->findChild<QLineEdit*>()->setText(text);
      QTest::keyClick(dialog, Qt::Key_Return);
    });
    window.trigger("goto");
  };
  answer("3, 120");
  const Viewport v = window.study().session().viewport;
  CHECK(window.study().session().pinned_query == 3);
  CHECK(v.row_begin <= 3);
  CHECK(v.col_end >= 121);
  CHECK(wait_until([&] { return said(window, "key").startsWith("120"); }));
  answer("3, 128");
  CHECK(window.study().session().viewport == v);
}

TEST_CASE("exact stands in place while Shift is held, but not while typing") {
  Window window(small);
  show(window, {View::heatmap, View::error, View::rank});
  take_focus(window);
  const int column = column_of(window, "h1d");
  for (const View view : {View::heatmap, View::rank}) {
    CAPTURE(to_text(view));
    const QImage own = picture_of(window, view, column), exact = picture_of(window, view, 0);
    CHECK(own != exact);
    QTest::keyPress(&window->canvas(), Qt::Key_Shift);
    be_still(window);
    CHECK(picture_of(window, view, column) == exact);
    QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
    be_still(window);
    CHECK(picture_of(window, view, column) == own);
  }
  const QImage error = picture_of(window, View::error, column);
  QTest::keyPress(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, View::error, column) == error);  // it is a comparison already
  QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
  window.trigger("find");
  auto* line = window->findChild<QLineEdit*>("find_text");
  be_still(window);
  const QImage own = picture_of(window, View::heatmap, column);
  QTest::keyPress(line, Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, View::heatmap, column) == own);
  QTest::keyRelease(line, Qt::Key_Shift);
}

TEST_CASE("E cycles the error metric, N normalises rows, L is logarithmic, R resets") {
  Window window(small);
  take_focus(window);
  const auto settings = [&]() -> const ViewSettings& { return window.study().session().settings; };
  for (int step = 1; step <= 5; ++step) {
    press(window, Qt::Key_E);
    CHECK(static_cast<int>(settings().error) == step % 5);
  }
  press(window, Qt::Key_N);
  CHECK(settings().norm == Norm::row_max);
  REQUIRE(window.settle());
  const auto& raster = std::get<Raster>(panel(window, View::heatmap, 0).body);
  for (Index i = 0; i < raster.values.rows(); i += 17)
    CHECK(*std::max_element(raster.values.row(i), raster.values.row(i) + raster.values.cols()) ==
          doctest::Approx(1));
  press(window, Qt::Key_N);
  CHECK(settings().norm == Norm::linear);
  press(window, Qt::Key_L);
  CHECK(settings().norm == Norm::log);
  const int column = column_of(window, "h1d");
  const Values standard = window.study().session().columns[std::size_t(column)].values;
  window->change("block", [&](Session& s) {
    set_value(find_variant("h1d").schema, s.columns[std::size_t(column)].values, "block", "32");
  });
  window.study().select_column(column);
  press(window, Qt::Key_R);
  CHECK(window.study().session().columns[std::size_t(column)].values == standard);
}

TEST_CASE("the heads of all layers are shown, and sorted by error, entropy or density") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  show(window, {View::heatmap});
  auto* input = window->findChild<InputDock*>();
  HeadGallery* gallery = input->gallery();
  CHECK(gallery->heads().size() == 12);
  window->findChild<QCheckBox*>("all_layers")->click();
  CHECK(gallery->heads().size() == 48);
  const auto card = [&](std::size_t i) {
    return window.study().card(gallery->heads()[i].first, gallery->heads()[i].second);
  };
  REQUIRE(wait_until(
      [&] {
        for (std::size_t i = 0; i < 48; ++i)
          if (!card(i)) return false;
        return true;
      },
      60000));
  auto* order = window->findChild<QComboBox*>("head_order");
  const auto sorted_by = [&](int index, auto measure) {
    order->setCurrentIndex(index);
    emit order->activated(index);
    for (std::size_t i = 1; i < 48; ++i)
      if (measure(*card(i)) > measure(*card(i - 1))) return false;
    return true;
  };
  CHECK(sorted_by(1, [](const HeadCard& c) { return c.error.value_or(-1); }));
  CHECK(sorted_by(2, [](const HeadCard& c) { return c.entropy; }));
  CHECK(sorted_by(3, [](const HeadCard& c) { return c.density; }));
  window.shoot("all_heads");
  const auto first = gallery->heads().front();
  QTest::mouseClick(gallery, Qt::LeftButton, {}, {10, 10});
  CHECK(window.study().session().layer == first.first);
  CHECK(window.study().session().head == first.second);
}

TEST_CASE(
    "a leaf or a node of the icicle lights up its tokens everywhere, a click more puts it out") {
  Window window(small);
  show(window, {View::heatmap, View::tree});
  const int column = column_of(window, "tf");
  const QImage dark = picture_of(window, View::heatmap, 0);
  const QImage chips = sequence(window)->grab().toImage();
  const auto& plan = window.study().columns()[std::size_t(column)].computation->op->plan();
  const auto members = [&](IndexRange leaves) {
    std::vector<Index> out;
    for (Index i = 0; i < 128; ++i)
      if (leaves.contains(plan.structure.query_leaf[std::size_t(i)])) out.push_back(i);
    return out;
  };
  const QPoint last_bar = at(window, View::tree, column, 0.9, 0.97);
  click(window, last_bar);
  REQUIRE(window.study().chosen_leaves());
  const IndexRange leaf = window.study().chosen_leaves()->leaves;
  CHECK(leaf.size() == 1);
  CHECK(leaf.begin == window.study().leaf_count(column) - 1);
  CHECK(window.study().marked_queries() == members(leaf));
  QTest::mouseMove(&window->canvas(), {3, 3});
  be_still(window);
  CHECK(picture_of(window, View::heatmap, 0) != dark);
  CHECK(sequence(window)->grab().toImage() != chips);
  window.shoot("leaf");
  click(window, last_bar);
  CHECK_FALSE(window.study().chosen_leaves());

  // Some place of the icicle chooses all leaves below a node: the root all of them.
  bool root = false;
  for (double y = 0.05; y < 0.9 && !root; y += 0.02) {
    click(window, at(window, View::tree, column, 0.5, y));
    root = window.study().marked_queries().size() == 128;
  }
  CHECK(root);
}

TEST_CASE("marks follow their column: other parameters other tokens, no column no marks") {
  Window window(small);
  const int column = column_of(window, "tf");
  window.study().choose_leaves(column, {0, 1});
  const auto before = window.study().marked_queries();
  REQUIRE_FALSE(before.empty());
  window->change("height", [&](Session& s) {
    set_value(find_variant("tf").schema, s.columns[std::size_t(column)].values, "height", "1");
  });
  REQUIRE(window.settle());
  CHECK(window.study().marked_queries() != before);
  window->change("move", [&](Session& s) {
    std::rotate(s.columns.begin(), s.columns.begin() + column, s.columns.begin() + column + 1);
  });
  REQUIRE(window.study().chosen_leaves());
  CHECK(window.study().chosen_leaves()->column == 0);
  window->change("remove", [](Session& s) { s.columns.erase(s.columns.begin()); });
  CHECK_FALSE(window.study().chosen_leaves());
  CHECK(window.study().marked_queries().empty());
}

TEST_CASE("a block of the rank map clicked shows its singular values; the tolerance is live") {
  Window window(small);
  show(window, {View::rank});
  auto* values = window->findChild<SingularValues*>();
  click(window, at_pair(window, View::rank, 0, 20, 100));
  REQUIRE_FALSE(values->isHidden());
  CHECK(values->count() == 64);  // the off-diagonal half of 128 tokens
  const auto rank = [&] { return said(window, "rank").section(' ', 0, 0).toInt(); };
  auto* tolerance = window->findChild<QSlider*>("view_ε");
  REQUIRE(tolerance->isEnabled());
  tolerance->setValue(-50);
  REQUIRE(window.settle());
  const int fine = rank();
  tolerance->setValue(-5);
  REQUIRE(window.settle());
  CHECK(rank() < fine);
}

TEST_CASE("hovering hyper says how a pair is covered: in its block, sampled, or not at all") {
  Window window(small);
  const int column = column_of(window, "hyper");
  std::set<QString> places;
  const auto& plan = window.study().columns()[std::size_t(column)].computation->op->plan();
  const std::set<std::int32_t> sampled(plan.structure.sampled_keys.begin(),
                                       plan.structure.sampled_keys.end());
  for (Index key = 0; key < 128; key += 5) {
    emit window->canvas().hovered(7, key, column, 0);
    REQUIRE(wait_until([&] {
      return said(window, "key").section(' ', 0, 0).toInt() == int(key) &&
             said(window, "query").section(' ', 0, 0) == "7";
    }));
    const QString place = said(window, "place").section(' ', 0, 0);
    places.insert(said(window, "evaluated").startsWith("no") ? "no" : place);
    if (place == "sampled") CHECK(sampled.contains(std::int32_t(key)));
  }
  CHECK(places == std::set<QString>{"block", "sampled", "no"});
}

TEST_CASE("the image selects rows, and rows lie over the image") {
  Window window(assets + "/image/cat.jpg");
  show(window, {View::heatmap, View::output});
  QWidget* image = sequence(window);
  std::shared_ptr<const RowReading> row;
  QObject::connect(&window.study(), &Study::row_read, [&](auto reading) { row = reading; });
  const QImage canvas = window->canvas().grabFramebuffer();
  const double w = image->width();
  QTest::mouseMove(image, QPoint(int(w * 10.5 / 32), int(w * 20.5 / 32)));
  REQUIRE(wait_until([&] { return row && row->query == 20 * 32 + 10; }));
  be_still(window);
  CHECK(window->canvas().grabFramebuffer() != canvas);  // the crosshair stands there
  const QImage first = image->grab().toImage();
  point(window, at_pair(window, View::heatmap, 1, 100, 700));
  REQUIRE(wait_until([&] { return row && std::abs(row->query - 100) < 8; }));
  CHECK(image->grab().toImage() != first);
  click(window, at(window, View::output, 1, 0.5, 0.5));
  REQUIRE(window.study().session().pinned_query);
  const Index patch = *window.study().session().pinned_query;
  CHECK(std::abs(patch / 32 - 16) <= 1);
  CHECK(std::abs(patch % 32 - 16) <= 1);
}

TEST_CASE("an enlarged output picture has the exact one beside it") {
  Window window(assets + "/image/cat.jpg");
  show(window, {View::heatmap, View::output});
  window->canvas().enlarge(1, 3);
  QTest::qWait(200);
  CHECK_FALSE(window->canvas().panel_place(1, 0).isEmpty());
  CHECK(window->canvas().panel_place(1, 3).left() > window->canvas().panel_place(1, 0).right());
  CHECK(window->canvas().panel_place(1, 1).isEmpty());
  window.shoot("output_beside_exact");
  window->canvas().enlarge(0, 3);
  QTest::qWait(200);
  CHECK(window->canvas().panel_place(0, 0).isEmpty());
}

TEST_CASE("the heaviest keys of a row are listed, exact and approximate") {
  Window window(small);
  emit window->canvas().hovered(17, 3, 1, 0);
  Profile profile;
  Run run{profile};
  const Matrix p = window.study().exact()->computation->op->tile({17, 18}, {0, 128}, run);
  const auto best = std::max_element(p.row(0), p.row(0) + 128) - p.row(0);
  const auto listed = [&] {
    for (const auto* label : window->findChildren<QLabel*>())
      if (label->text() == "Top keys of query 17" && !label->isHidden()) return true;
    return false;
  };
  REQUIRE(wait_until(listed));
  CHECK(said(window, QString::number(best)).startsWith(QString::number(p(0, best), 'g', 3)));
}

TEST_CASE("beside each error map stands the output error of every query") {
  Window window(small);
  show(window, {View::error});
  const int column = column_of(window, "fixed");
  REQUIRE(
      wait_until([&] { return window.study().columns()[std::size_t(column)].metrics != nullptr; }));
  be_still(window);
  const auto& errors = window.study().columns()[std::size_t(column)].metrics->token_error;
  const QRectF place = window->canvas().panel_place(0, column);
  const QImage image = window->canvas().grabFramebuffer();
  const double ratio = window->canvas().devicePixelRatioF();
  const auto colour = [&](Index query) {
    const double y = place.top() + (double(query) + 0.5) / 128 * place.height();
    return image.pixelColor((QPointF(place.right() + 5, y) * ratio).toPoint());
  };
  const auto lightness = [](const QColor& c) {
    return 0.299 * c.redF() + 0.587 * c.greenF() + 0.114 * c.blueF();
  };
  const auto worst = std::ranges::max_element(errors) - errors.begin();
  const auto best = std::ranges::min_element(errors) - errors.begin();
  REQUIRE(errors[std::size_t(worst)] > 4 * errors[std::size_t(best)]);
  CHECK(lightness(colour(worst)) > lightness(colour(best)));  // as viridis has it
}

TEST_CASE("the panel under the pointer is copied") {
  Window window(small);
  QApplication::clipboard()->clear();
  point(window, at(window, View::heatmap, 0, 0.5, 0.5));
  window.trigger("copy");
  const QImage exact = QApplication::clipboard()->image();
  REQUIRE_FALSE(exact.isNull());
  point(window, at(window, View::mask, 2, 0.5, 0.5));
  window.trigger("copy");
  CHECK(QApplication::clipboard()->image() != exact);
}

}  // namespace fovea::test
