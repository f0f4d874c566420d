// What is chosen on the canvas itself belongs to the session: it can be undone, is written to files
// and holds in exports.
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QTemporaryDir>

#include "input/session_file.h"
#include "views/views.h"
#include "window/pointer.h"

namespace fovea::test {

namespace {

const std::vector<ColourRange>& ranges(Window& window) {
  return window.study().session().settings.ranges;
}

}  // namespace

TEST_CASE("a locked range is undone and done again, and is read back from a session file") {
  QTemporaryDir dir;
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")});
  point(window, at(window, find_view("heatmap"), 1, 0.5, 0.5));
  window.trigger("lock_range");
  REQUIRE(ranges(window).size() == 1);
  const ColourRange locked = ranges(window)[0];
  CHECK(locked.view == find_view("heatmap"));
  CHECK(locked.column == -1);
  CHECK(locked.low < locked.high);
  window.trigger("undo");
  CHECK(ranges(window).empty());
  window.trigger("redo");
  REQUIRE(ranges(window).size() == 1);
  const QString path = dir.filePath("s.fovea.json");
  REQUIRE(window.save(path));
  CHECK(read_session(path.toStdString()).session.settings.ranges == std::vector{locked});
  window.trigger("lock_range");
  CHECK(ranges(window).empty());
}

TEST_CASE("a row shows another view, and a view that has a row changes places with it") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")});
  Canvas& canvas = window->canvas();
  emit canvas.view_requested(0, find_view("mask"));
  CHECK(window.study().session().views == std::vector{find_view("mask"), find_view("error")});
  emit canvas.view_requested(0, find_view("error"));
  CHECK(window.study().session().views == std::vector{find_view("error"), find_view("mask")});
  window.trigger("undo");
  CHECK(window.study().session().views.front() != find_view("error"));
}

TEST_CASE("exports and copies have the ranges and the hidden series of the canvas") {
  QTemporaryDir dir;
  Window window(small);
  show(window, {find_view("heatmap"), find_view("row")});
  const auto picture = [&](View view) {
    REQUIRE(window.settle());
    point(window, at(window, view, 1, 0.5, 0.6));
    QApplication::clipboard()->clear();
    window.trigger("copy");
    return QApplication::clipboard()->image();
  };
  int number = 0;
  const auto exported = [&](View view) {
    const QString path = dir.filePath(QString::number(number++) + ".png");
    REQUIRE(window.settle());
    window->exports().export_panel_to(path, std::size_t(row_of(window, view)), 1, FigureStyle{});
    REQUIRE(wait_until([&] { return !QImage(path).isNull(); }));
    return QImage(path);
  };
  const QImage map = picture(find_view("heatmap")), row = picture(find_view("row"));
  const QImage map_file = exported(find_view("heatmap")), row_file = exported(find_view("row"));
  window->change("range", [](Session& s) {
    s.settings.ranges = {{find_view("heatmap"), -1, 0, 0.01}};
    s.settings.hide("exact", true);
  });
  CHECK(picture(find_view("heatmap")) != map);
  CHECK(picture(find_view("row")) != row);
  CHECK(exported(find_view("heatmap")) != map_file);
  CHECK(exported(find_view("row")) != row_file);
}

}  // namespace fovea::test
