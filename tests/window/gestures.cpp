// The pointer: what is pointed at in one place is shown in all others.
#include <doctest/doctest.h>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QTimer>
#include <set>

#include "views/views.h"
#include "window/docks/pointer_box.h"
#include "window/find_bar.h"
#include "window/pointer.h"
#include "window/row_settings.h"
#include "window/widgets/text.h"

namespace fovea::test {

TEST_CASE("a click pins the row under the pointer, a second one unpins it") {
  Window window(small);
  const QPoint place = at_pair(window, find_view("heatmap"), 1, 40, 90);
  click(window, place);
  REQUIRE(window.study().session().pinned_query);
  CHECK(std::abs(*window.study().session().pinned_query - 40) <= 1);
  click(window, place);
  CHECK_FALSE(window.study().session().pinned_query);
}

TEST_CASE("a click on a panel selects its column, and the inspector names it") {
  Window window(small);
  const int column = column_of(window, "hyper");
  const QString title = QString::fromStdString(window.study().title_of(column));
  click(window, at_pair(window, find_view("heatmap"), column, 40, 90));
  CHECK(window.study().selected_column() == column);
  CHECK(window.study().session().pinned_query);
  const auto heading = [&](const QString& begin) -> QString {
    for (const auto* label : window->findChildren<QLabel*>())
      if (label->text().startsWith(begin) && !label->isHidden()) return label->text();
    return {};
  };
  CHECK(wait_until([&] { return !heading("Top keys of query ").isEmpty(); }));
  CHECK(heading(title) == title);  // of the dock
  window.study().select({8, 24}, {8, 24});
  CHECK(wait_until([&] { return heading("exact → ") == "exact → " + title; }));
  // Enlarging selects too, by the pointer and by a key.
  const int other = column_of(window, "strided");
  emit window->canvas().hovered(40, 90, other, row_of(window, find_view("heatmap")));
  window.trigger("enlarge");
  REQUIRE(window->canvas().is_enlarged());
  CHECK(window.study().selected_column() == other);
}

TEST_CASE(
    "columns of one variant are named by the parameters in which they differ, in the whole "
    "window") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d", "h1d"});
  const Variant& h1d = find_variant("h1d");
  window->change("blocks", [&](Session& s) {
    set_value(h1d.schema, s.columns[1].values, "block", "8");
    set_value(h1d.schema, s.columns[2].values, "block", "32");
  });
  REQUIRE(window.settle());
  const std::vector<std::string> titles{"Exact", "H-Transformer-1D, block 8",
                                        "H-Transformer-1D, block 32"};
  CHECK(window.study().model()->column_titles == titles);
  for (const std::string& title : titles)
    CHECK(window.timing_text().contains(QString::fromStdString(title)));
  emit window->canvas().hovered(40, 90, 2, 0);
  CHECK(wait_until([&] { return !said(window, "H-Transformer-1D, block 32").isEmpty(); }));
  window.study().select_column(1);
  bool heads_its_form = false;
  for (const auto* label : window->findChild<QDockWidget*>("Column")->findChildren<QLabel*>())
    heads_its_form |= label->text() == "H-Transformer-1D, block 8";
  CHECK(heads_its_form);
}

TEST_CASE("dragging a rectangle shows the statistics of its pairs") {
  Window window(small);
  window.study().select_column(column_of(window, "fixed"));
  REQUIRE(window.settle());
  std::shared_ptr<const SelectionReading> read;
  QObject::connect(&window.study(), &Study::selection_read, [&](auto reading) { read = reading; });
  const QPoint from = at_pair(window, find_view("heatmap"), 0, 16, 32),
               to = at_pair(window, find_view("heatmap"), 0, 64, 96);
  point(window, from);
  QTest::mousePress(&window->canvas(), Qt::LeftButton, {}, from);
  QTest::mouseMove(&window->canvas(), (from + to) / 2);
  QTest::mouseMove(&window->canvas(), to);
  QTest::mouseRelease(&window->canvas(), Qt::LeftButton, {}, to);
  REQUIRE(wait_until([&] { return read != nullptr; }));
  CHECK(std::abs(read->rows.begin - 16) <= 1);
  CHECK(std::abs(read->cols.end - 97) <= 1);
  // The exact mass, computed from the operator.
  Profile profile;
  Run run{profile};
  const Matrix p = window.study().exact()->computation->op->tile(read->rows, read->cols, run);
  double mass = 0;
  for (Index i = 0; i < p.rows(); ++i)
    for (Index j = 0; j < p.cols(); ++j) mass += p(i, j);
  // A sum of some 3000 floats below 1.
  CHECK(read->exact_mass.value == doctest::Approx(mass / double(p.rows())).epsilon(1e-5));
  CHECK(said(window, "mass per row").startsWith(number_text(read->exact_mass.value) + " → "));
  const double keys = double(p.cols());
  CHECK(said(window, "mean").startsWith(number_text(read->exact_mass.value / keys) + " → "));
  window.trigger("cancel");
  CHECK_FALSE(window.study().selection());
}

TEST_CASE(
    "clicking a leaf or a node of the icicle marks its tokens everywhere, a second click unmarks "
    "them") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("tree")});
  const int column = column_of(window, "tf");
  const QImage dark = picture_of(window, find_view("heatmap"), 0);
  const QImage chips = sequence(window)->grab().toImage();
  const auto& plan = window.study().columns()[std::size_t(column)].computation->op->plan();
  const auto members = [&](IndexRange leaves) {
    std::vector<Index> out;
    for (Index i = 0; i < 128; ++i)
      if (leaves.contains(plan.structure.integers("query_leaf")[std::size_t(i)])) out.push_back(i);
    return out;
  };
  const QPoint last_bar = at(window, find_view("tree"), column, 0.9, 0.97);
  click(window, last_bar);
  REQUIRE(window.study().marks().chosen());
  const IndexRange leaf = window.study().marks().chosen()->leaves;
  CHECK(leaf.size() == 1);
  CHECK(leaf.begin == window.study().marks().leaf_count(column) - 1);
  CHECK(window.study().marks().queries() == members(leaf));
  QTest::mouseMove(&window->canvas(), {3, 3});
  be_still(window);
  CHECK(picture_of(window, find_view("heatmap"), 0) != dark);
  CHECK(sequence(window)->grab().toImage() != chips);
  window.shoot("leaf");
  click(window, last_bar);
  CHECK_FALSE(window.study().marks().chosen());

  // Some place of the icicle chooses all leaves below a node: the root all of them.
  bool root = false;
  for (double y = 0.05; y < 0.9 && !root; y += 0.02) {
    click(window, at(window, find_view("tree"), column, 0.5, y));
    root = window.study().marks().queries().size() == 128;
  }
  CHECK(root);
}

TEST_CASE(
    "marks follow their column: new parameters mark other tokens, and a removed column none") {
  Window window(small);
  const int column = column_of(window, "tf");
  window.study().choose_leaves(column, {0, 1});
  const auto before = window.study().marks().queries();
  REQUIRE_FALSE(before.empty());
  window->change("height", [&](Session& s) {
    set_value(find_variant("tf").schema, s.columns[std::size_t(column)].values, "height", "1");
  });
  REQUIRE(window.settle());
  CHECK(window.study().marks().queries() != before);
  window->change("move", [&](Session& s) {
    std::rotate(s.columns.begin(), s.columns.begin() + column, s.columns.begin() + column + 1);
  });
  REQUIRE(window.study().marks().chosen());
  CHECK(window.study().marks().chosen()->column == 0);
  window->change("remove", [](Session& s) { s.columns.erase(s.columns.begin()); });
  CHECK_FALSE(window.study().marks().chosen());
  CHECK(window.study().marks().queries().empty());
}

TEST_CASE("clicking a block of the rank map shows its singular values, and the tolerance is live") {
  Window window(small);
  show(window, {find_view("rank")});
  auto* values = window->findChild<SingularValues*>();
  click(window, at_pair(window, find_view("rank"), 0, 20, 100));
  REQUIRE_FALSE(values->isHidden());
  CHECK(values->count() == 64);  // the off-diagonal half of 128 tokens
  const auto rank = [&] { return said(window, "rank").section(' ', 0, 0).toInt(); };
  RowSettings& settings = window.row_settings(find_view("rank"));
  auto* tolerance = settings.findChild<QWidget*>("view_ε")->findChild<QSlider*>();
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
  const auto& drawn = plan.structure.integers("sampled_keys");
  const std::set<std::int32_t> sampled(drawn.begin(), drawn.end());
  for (Index key = 0; key < 128; key += 5) {
    emit window->canvas().hovered(7, key, column, 0);
    REQUIRE(wait_until([&] {
      return said(window, "key").section(' ', 0, 0).toInt() == int(key) &&
             said(window, "query").section(' ', 0, 0) == "7";
    }));
    const QString place = said(window, "place").section(' ', 0, 0);
    places.insert(said(window, "attended").startsWith("no") ? "no" : place);
    if (place == "sampled") CHECK(sampled.contains(std::int32_t(key)));
  }
  CHECK(places == std::set<QString>{"block", "sampled", "no"});
}

TEST_CASE("the image selects rows, and rows are drawn over the image") {
  Window window("content:" + assets + "/image/cat.jpg");
  show(window, {find_view("heatmap"), find_view("output")});
  QWidget* image = sequence(window);
  std::shared_ptr<const RowReading> row;
  QObject::connect(&window.study(), &Study::row_read, [&](auto reading) { row = reading; });
  const QImage canvas = window->canvas().grab().toImage();
  const double w = image->width();
  QTest::mouseMove(image, QPoint(int(w * 10.5 / 32), int(w * 20.5 / 32)));
  REQUIRE(wait_until([&] { return row && row->query == 20 * 32 + 10; }));
  be_still(window);
  CHECK(window->canvas().grab().toImage() != canvas);  // the crosshair is there
  const QImage first = image->grab().toImage();
  point(window, at_pair(window, find_view("heatmap"), 1, 100, 700));
  REQUIRE(wait_until([&] { return row && std::abs(row->query - 100) < 8; }));
  CHECK(image->grab().toImage() != first);
  click(window, at(window, find_view("output"), 1, 0.5, 0.5));
  REQUIRE(window.study().session().pinned_query);
  const Index patch = *window.study().session().pinned_query;
  CHECK(std::abs(patch / 32 - 16) <= 1);
  CHECK(std::abs(patch % 32 - 16) <= 1);
}

TEST_CASE("an enlarged output picture is shown beside the exact one") {
  Window window("content:" + assets + "/image/cat.jpg");
  show(window, {find_view("heatmap"), find_view("output")});
  window->canvas().enlarge(1, 3);
  CHECK(wait_until([&] { return !window->canvas().panel_place(1, 0).isEmpty(); }));
  CHECK(window->canvas().panel_place(1, 3).left() > window->canvas().panel_place(1, 0).right());
  CHECK(window->canvas().panel_place(1, 1).isEmpty());
  window.shoot("output_beside_exact");
  window->canvas().enlarge(0, 3);
  CHECK(wait_until([&] { return window->canvas().panel_place(0, 0).isEmpty(); }));
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
      if (label->text().startsWith("Top keys of query 17") && !label->isHidden()) return true;
    return false;
  };
  REQUIRE(wait_until(listed));
  CHECK(said(window, QString::number(best)).startsWith(QString::number(p(0, best), 'g', 3)));
}

TEST_CASE("each error map has the output error of every query beside it") {
  Window window(small);
  show(window, {find_view("error")});
  const int column = column_of(window, "fixed");
  REQUIRE(
      wait_until([&] { return window.study().columns()[std::size_t(column)].metrics != nullptr; }));
  be_still(window);
  const auto& errors = window.study().columns()[std::size_t(column)].metrics->token_error;
  const QRectF place = window->canvas().panel_place(0, column);
  const QImage image = window->canvas().grab().toImage();
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
  point(window, at(window, find_view("heatmap"), 0, 0.5, 0.5));
  window.trigger("copy");
  const QImage exact = QApplication::clipboard()->image();
  REQUIRE_FALSE(exact.isNull());
  point(window, at(window, find_view("mask"), 2, 0.5, 0.5));
  window.trigger("copy");
  CHECK(QApplication::clipboard()->image() != exact);
}

TEST_CASE("a copied panel has the range of its row, unless every panel has its own") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("rank")});
  const auto cells =
      window.study().model()->cells[std::size_t(row_of(window, find_view("heatmap")))];
  const auto high = [&](std::size_t c) { return std::get<Raster>(cells[c].panel->body).high; };
  std::size_t lowest = 0, highest = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (high(c) < high(lowest)) lowest = c;
    if (high(c) > high(highest)) highest = c;
  }
  REQUIRE(high(lowest) < high(highest));
  const auto copied = [&](View view, bool shared) {
    window->change("range", [&](Session& s) { s.settings.shared_range = shared; });
    REQUIRE(window.settle());
    point(window, at(window, view, int(highest), 0.5, 0.5));
    point(window, at(window, view, int(lowest), 0.5, 0.5));
    QApplication::clipboard()->clear();
    window.trigger("copy");
    return QApplication::clipboard()->image();
  };
  CHECK(copied(find_view("heatmap"), true) != copied(find_view("heatmap"), false));
  CHECK(copied(find_view("rank"), true) == copied(find_view("rank"), false));
}

TEST_CASE("Esc takes a crosshair of keys away, and what lies under the pointer is read again") {
  Window window(small);
  take_focus(window);
  point(window, at_pair(window, find_view("heatmap"), 1, 40, 90));
  const Index query = window.study().hovered_query();
  REQUIRE(query >= 0);
  press(window, Qt::Key_Down, Qt::AltModifier);
  REQUIRE(wait_until([&] { return window.study().hovered_query() != query; }));
  press(window, Qt::Key_Escape);
  CHECK(wait_until([&] { return window.study().hovered_query() == query; }));
}

TEST_CASE("a found token is read instead of a crosshair that stands elsewhere") {
  Window window(small);
  take_focus(window);
  press(window, Qt::Key_Down, Qt::AltModifier);
  REQUIRE(window.study().hovered_query() >= 0);
  window->find_bar().open_bar();
  auto* line = window->findChild<QLineEdit*>("find_text");
  line->setText("100");
  QTest::keyClick(line, Qt::Key_Return);
  CHECK(wait_until([&] { return window.study().listed_query() == 100; }));
}

TEST_CASE("a new source is shown from its first token, without the crosshair of the one before") {
  Window window("synthetic:clusters?n=700&d=32&seed=1");
  take_focus(window);
  press(window, Qt::Key_Down, Qt::AltModifier);
  REQUIRE(window.study().hovered_query() >= 0);
  auto* area = window->findChild<QDockWidget*>("Input")->findChild<QScrollArea*>("dock_scroll");
  QScrollBar* scroll = area->verticalScrollBar();
  scroll->setValue(scroll->maximum());
  REQUIRE(scroll->value() > 0);
  window.study().open("synthetic:clusters?n=700&d=32&seed=2");
  REQUIRE(wait_until([&] { return window.study().source()->path.ends_with("seed=2"); }));
  REQUIRE(window.settle());
  CHECK(scroll->value() == 0);
  // A loaded machine draws late.
  const auto at_rest = [&] {
    QImage now, before;
    REQUIRE(wait_until([&] {
      before = std::exchange(now, window->canvas().grab().toImage());
      if (now != before) QTest::qWait(100);
      return now == before;
    }));
    return now;
  };
  const QImage shown = at_rest();
  window->navigation().point_to(-1, -1);
  QTest::qWait(100);  // for a frame
  CHECK(at_rest() == shown);
}

TEST_CASE("a crosshair that a search has moved out of sight is read no more") {
  Window window(small);
  take_focus(window);
  window->change("viewport", [](Session& s) { s.viewport = {0, 32, 0, 32}; });
  press(window, Qt::Key_Down, Qt::AltModifier);
  REQUIRE(window.study().hovered_query() >= 0);
  window->find_bar().open_bar();
  auto* line = window->findChild<QLineEdit*>("find_text");
  line->setText("100");
  QTest::keyClick(line, Qt::Key_Return);
  REQUIRE(wait_until([&] { return window.study().session().viewport.row_begin > 32; }));
  CHECK(wait_until([&] { return window.study().hovered_query() < 0; }));
}

TEST_CASE("a right click on a token opens its menu and pins nothing") {
  Window window(small);
  QWidget& tokens = *sequence(window);
  const QPoint place(12, 10);
  QTest::mouseClick(&tokens, Qt::RightButton, {}, place);
  CHECK_FALSE(window.study().session().pinned_query);
  QContextMenuEvent event(QContextMenuEvent::Mouse, place, tokens.mapToGlobal(place));
  QApplication::sendEvent(&tokens, &event);
  auto* menu = tokens.findChild<QMenu*>();
  REQUIRE(menu);
  QAction* const pin = menu->actions().front();
  CHECK(pin->text() == "Pin query");
  pin->trigger();
  CHECK(window.study().session().pinned_query == 0);
  menu->close();
}

TEST_CASE("Esc ends a drag: nothing is selected, and nothing else happens") {
  Window window(small);
  take_focus(window);
  Canvas& canvas = window->canvas();
  const QPoint from = at(window, find_view("heatmap"), 0, 0.2, 0.2),
               to = at(window, find_view("heatmap"), 0, 0.7, 0.6);
  QSignalSpy selected(&canvas, &Canvas::rectangle_selected);
  const auto drag = [&](bool cancel) {
    QTest::mousePress(&canvas, Qt::LeftButton, {}, from);
    QTest::mouseMove(&canvas, (from + to) / 2);
    QTest::mouseMove(&canvas, to);
    be_still(window);
    if (cancel) press(window, Qt::Key_Escape);
    QTest::mouseRelease(&canvas, Qt::LeftButton, {}, to);
    be_still(window);
  };
  drag(true);
  CHECK(selected.isEmpty());
  drag(false);
  CHECK(selected.count() == 1);
}

}  // namespace fovea::test
