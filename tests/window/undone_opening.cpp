// Undo of an opened file in the window.
#include <doctest/doctest.h>

#include <QAction>
#include <QTemporaryDir>

#include "input/session_file.h"
#include "views/views.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

QString text_of_action(Window& window, const QString& name) {
  return window->findChild<QAction*>(name)->text();
}

bool shows(Window& window, const QString& source) {
  return wait_until([&] {
    return !window.study().opening() && window.study().session().source == source.toStdString() &&
           window.study().settled();
  });
}

}  // namespace

TEST_CASE("Ctrl+Z brings the file before back, with its look and selection, and redo leads on") {
  const QTemporaryDir dir;
  const QString text = dir.filePath("words.txt"), saved = dir.filePath("words.fovea.json");
  REQUIRE(QFile::copy(assets + "/text/fovea.txt", text));
  Window window("content:" + text);
  window->change({}, [](Session& s) {
    s.conditions.causal = true;
    s.views = {find_view("heatmap")};
    s.settings.colormap = "cividis";
    s.pinned_query = 12;
    s.viewport = {10, 50, 20, 60};
  });
  window.study().select_column(0);
  REQUIRE(window.save(saved));
  const Session left = window.study().session();
  CHECK(text_of_action(window, "undo") == "&Undo");

  REQUIRE(drop(window, assets + "/minilm/minilm-l6.safetensors"));
  REQUIRE(shows(window, assets + "/minilm/minilm-l6.safetensors"));
  CHECK(text_of_action(window, "undo") == "&Undo: open minilm-l6.safetensors");
  CHECK(text_of_action(window, "redo") == "&Redo");
  window.study().select_column(1);
  take_focus(window);
  press(window, Qt::Key_Z, Qt::ControlModifier);
  REQUIRE(shows(window, "content:" + text));
  CHECK(window.study().session() == left);
  CHECK(window.study().selected_column() == 0);
  CHECK(text_of_action(window, "redo") == "&Redo: open minilm-l6.safetensors");
  SUBCASE("saving writes its session file") {
    REQUIRE(QFile::remove(saved));
    window.trigger("save");
    CHECK(wait_until([&] { return QFile::exists(saved); }));
  }
  SUBCASE("redo") {
    press(window, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    REQUIRE(shows(window, assets + "/minilm/minilm-l6.safetensors"));
    CHECK(window.study().selected_column() == 1);
    QFile::remove(saved);
    CHECK(text_of_action(window, "undo") == "&Undo: open minilm-l6.safetensors");
  }
}

TEST_CASE("undo says where the file before has gone, and the window stays as it is") {
  const QTemporaryDir dir;
  const QString text = dir.filePath("words.txt");
  REQUIRE(QFile::copy(assets + "/text/fovea.txt", text));
  Window window("content:" + text);
  window->open(small);
  REQUIRE(shows(window, small));
  REQUIRE(QFile::remove(text));
  const Session before = window.study().session();
  window.trigger("undo");
  CHECK(wait_until([&] { return window->info_bar().message().contains("words.txt"); }));
  CHECK(window.study().session() == before);
  CHECK(text_of_action(window, "undo").startsWith("&Undo: open synthetic:clusters?n=128"));
}

}  // namespace fovea::test
