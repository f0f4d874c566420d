// A head beside another one: columns that hold theirs, by mouse and by key.
#include <doctest/doctest.h>

#include <QApplication>
#include <QCheckBox>
#include <QContextMenuEvent>
#include <QFile>
#include <QMenu>
#include <QTemporaryDir>
#include <QTimer>

#include "same_values.h"
#include "views/views.h"
#include "window/docks/head_gallery.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

const QString heads = "synthetic:clusters?n=96&d=8&heads=3&seed=1";

HeadGallery& gallery(Window& window) {
  return *window->findChild<HeadGallery*>("heads");
}

void click_head(Window& window, int head, Qt::KeyboardModifiers modifiers = {}) {
  const QRect place = gallery(window).place_of({0, head});
  QTest::mouseClick(gallery(window).viewport(), Qt::LeftButton, modifiers, place.center());
}

const Matrix& weights(Window& window, int column) {
  return std::get<Raster>(panel(window, find_view("heatmap"), column).body).values;
}

QCheckBox& hold_box(Window& window) {
  for (auto* box : window->findChildren<QCheckBox*>())
    if (box->text().startsWith("Keep")) return *box;
  FAIL("there is no box that holds the head");
  std::abort();
}

}  // namespace

TEST_CASE("Ctrl+click on a head shows the selected column of it beside the opened one") {
  Window window(heads);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  click_head(window, 2, Qt::ControlModifier);
  REQUIRE(window.settle());
  const Session& now = window.study().session();
  CHECK(now.head == 0);
  REQUIRE(now.columns.size() == 3);
  CHECK(now.columns[2].variant == "h1d");
  CHECK(now.columns[2].held == HeldHead{{}, 0, 2});
  CHECK(window.study().selected_column() == 2);
  CHECK(window.study().title_of(2) == "H-Transformer-1D, layer 0, head 2");
  CHECK_FALSE(same_values(weights(window, 1), weights(window, 2)));
  const Matrix held = weights(window, 2);
  // The opened head changes, the held one stays.
  click_head(window, 1);
  REQUIRE(window.settle());
  CHECK(window.study().session().head == 1);
  CHECK(same_values(weights(window, 2), held));
  window->editor().undo();
  window->editor().undo();
  CHECK(window.study().session().columns.size() == 2);
}

TEST_CASE(
    "a right click on a head opens a menu, whose entry shows the head beside the opened one") {
  Window window(heads);
  REQUIRE(window.settle());
  const QPoint place = gallery(window).place_of({0, 2}).center();
  QTest::mousePress(gallery(window).viewport(), Qt::RightButton, {}, place);
  CHECK(window.study().session().head == 0);
  const std::size_t before = window.study().columns().size();
  bool chosen = false;
  QTimer::singleShot(300, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (!menu) return;
    for (QAction* action : menu->actions())
      if (action->text().startsWith("Show beside")) {
        chosen = true;
        action->trigger();
      }
    menu->close();
  });
  QContextMenuEvent asked(QContextMenuEvent::Mouse, place,
                          gallery(window).viewport()->mapToGlobal(place));
  QApplication::sendEvent(gallery(window).viewport(), &asked);
  CHECK(chosen);
  CHECK(window.study().session().head == 0);
  CHECK(window.study().session().columns.size() == before + 1);
}

TEST_CASE("H holds the head of the selected column, which says so, and releases it") {
  Window window(heads);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  take_focus(window);
  press(window, Qt::Key_2);
  press(window, Qt::Key_H);
  CHECK(window.study().session().columns[1].held == HeldHead{{}, 0, 0});
  CHECK_FALSE(window.study().session().columns[0].held);
  window->editor().choose_head(0, 2);
  REQUIRE(window.settle());
  CHECK(hold_box(window).isChecked());
  CHECK(hold_box(window).text() == "Keeps layer 0, head 0");
  press(window, Qt::Key_H);
  CHECK_FALSE(window.study().session().columns[1].held);
  REQUIRE(window.settle());
  CHECK_FALSE(hold_box(window).isChecked());
  CHECK(hold_box(window).text() == "Keep this head");
  hold_box(window).click();
  CHECK(window.study().session().columns[1].held == HeldHead{{}, 0, 2});
}

TEST_CASE("Shift shows exact attention of each column's own head") {
  Window window(heads);
  show(window, {find_view("heatmap")}, {"exact", "exact", "h1d", "h1d"});
  window->change("hold", [](Session& s) {
    s.columns[1].held = s.columns[3].held = HeldHead{.source = {}, .layer = 0, .head = 2};
  });
  REQUIRE(window.settle());
  take_focus(window);
  const QImage exact = picture_of(window, find_view("heatmap"), 0),
               held = picture_of(window, find_view("heatmap"), 1);
  // Entries lie on half pixels, otherwise rounded in each column: edges of a pixel, some 1 %.
  constexpr double edges = 0.02;
  REQUIRE(difference(exact, held) > 0.2);
  QTest::keyPress(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  CHECK(difference(picture_of(window, find_view("heatmap"), 2), exact) < edges);
  CHECK(difference(picture_of(window, find_view("heatmap"), 3), held) < edges);
  CHECK(difference(picture_of(window, find_view("heatmap"), 1), held) == 0);
  QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
}

TEST_CASE("two heads are compared in one panel, each with exact attention of its own") {
  Window window(heads);
  show(window, {find_view("heatmap")}, {"exact", "exact", "h1d"});
  window->change("hold", [](Session& s) {
    s.columns[1].held = s.columns[2].held = HeldHead{.source = {}, .layer = 0, .head = 2};
  });
  REQUIRE(window.settle());
  take_focus(window);
  press(window, Qt::Key_3);
  press(window, Qt::Key_W);
  CHECK(window.study().comparison() == Comparison{2, 1, ComparisonMode::wipe});
  press(window, Qt::Key_Escape);
  // Exact of one head and of the other.
  press(window, Qt::Key_1);
  press(window, Qt::Key_W);
  CHECK(window.study().comparison() == Comparison{0, 1, ComparisonMode::wipe});
}

TEST_CASE("what a figure of two heads shows says which head it is") {
  Window window(heads);
  show(window, {find_view("heatmap")}, {"exact", "exact"});
  window->change("hold", [](Session& s) {
    s.columns[1].held = HeldHead{.source = {}, .layer = 0, .head = 2};
  });
  REQUIRE(window.settle());
  const QTemporaryDir folder;
  const QString path = folder.filePath("heads.svg");
  REQUIRE(window.export_to(path, {}));
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  CHECK(file.readAll().contains("layer 0, head 2"));
}

}  // namespace fovea::test
