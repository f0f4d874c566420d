// What belongs to a source, a head, a column or a place goes with it.
#include <doctest/doctest.h>

#include <QFile>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QToolButton>

#include "io/safetensors_writer.h"
#include "views/views.h"
#include "window/find_bar.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

/// Layers of 64 and of 32 tokens.
QString two_lengths(const QTemporaryDir& folder) {
  std::vector<OutTensor> tensors;
  for (const auto& [layer, n] : {std::pair<const char*, Index>{"layer0.", 64}, {"layer1.", 32}})
    for (const char* name : {"q", "k", "v"}) {
      std::vector<float> values(std::size_t(n * 8));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 7) - 3;
      tensors.push_back({std::string(layer) + name, {n, 8}, std::move(values)});
    }
  const QString path = folder.filePath("lengths.safetensors");
  write_safetensors(path.toStdString(), tensors, {});
  return path;
}

const QToolButton* cancel_button(Window& window) {
  for (const auto* button : window->findChildren<QToolButton*>())
    if (button->text() == "Cancel") return button;
  return nullptr;
}

bool enlarged(Window& window, int view, int column) {
  return wait_until([&] { return !window->canvas().panel_place(view, column).isEmpty(); });
}

}  // namespace

TEST_CASE("arrow keys step from token to token, wherever the pointer is") {
  Window window("content:" + assets + "/text/fovea.txt");
  window->change("views", [](Session& s) { s.views = {find_view("heatmap")}; });
  REQUIRE(window.settle());
  QWidget* tokens = sequence(window);
  QTest::mouseMove(tokens, {60, 10});
  QTest::mouseClick(tokens, Qt::LeftButton, {}, {60, 10});
  const auto pinned = [&] { return window.study().session().pinned_query.value_or(-1); };
  const Index first = pinned();
  REQUIRE(first >= 0);
  REQUIRE(window.study().hovered_query() == first);
  for (Index step = 1; step <= 3; ++step) {
    QTest::keyClick(tokens, Qt::Key_Right);
    CHECK(pinned() == first + step);
    CHECK(window.study().listed_query() == first + step);
  }
  QTest::keyClick(tokens, Qt::Key_Left);
  CHECK(pinned() == first + 2);
}

TEST_CASE("opening another source ends a search and an unfinished selection") {
  Window window("content:" + assets + "/text/fovea.txt");
  take_focus(window);
  window->change("go", [](Session& s) { s.pinned_query = 60; });
  press(window, Qt::Key_M);
  press(window, Qt::Key_M);  // a corner
  REQUIRE(window.study().selection());
  window.trigger("find");
  auto* line = window->findChild<QLineEdit*>("find_text");
  QTest::keyClicks(line, "the");
  REQUIRE(window.study().session().pinned_query);

  window->open("synthetic:clusters?n=40&d=16&seed=1");
  REQUIRE(wait_until([&] { return window.study().length() == 40; }));
  REQUIRE(window.settle());
  CHECK(line->accessibleDescription() == "No matches");
  CHECK_FALSE(window.study().session().pinned_query);
  window.trigger("find_next");
  CHECK_FALSE(window.study().session().pinned_query);
  line->setText("3");
  CHECK(line->accessibleDescription().contains("1 of 13"));  // 3, 13, 23, 30 .. 39

  window->open("synthetic:clusters?n=30&d=16&seed=1");
  REQUIRE(wait_until([&] { return window.study().length() == 30; }));
  CHECK_FALSE(window.study().session().pinned_query);  // nobody asked to go anywhere
  CHECK(line->accessibleDescription() == "3 matches");
  window.trigger("find_next");
  CHECK(window.study().session().pinned_query == 3);
  QTest::keyClick(line, Qt::Key_Escape);

  window.study().hover(5, 6, 0);
  window.trigger("corner");
  REQUIRE(window.study().selection());
  CHECK(window.study().selection()->first.size() == 1);
}

TEST_CASE("columns of a long head keep their own pictures when they are moved") {
  Window window(small);
  window->open("synthetic:clusters?n=9000&d=4&seed=1");
  REQUIRE(wait_until([&] { return window.study().length() == 9000 && window.study().problem(); }));
  show(window, {find_view("heatmap"), find_view("output")}, {"exact", "h1d", "strided"});
  REQUIRE(wait_until([&] { return window.study().fully_refined(); }, 90000));
  const auto before = window.study().model()->cells[0];
  REQUIRE(before[1].panel);
  REQUIRE(before[2].panel);
  bool wrong = false;
  QObject::connect(&window.study(), &Study::model_changed, &window.study(), [&](auto model) {
    if (window.study().session().columns[1].variant != "strided") return;
    wrong = wrong || model->cells[0][1].panel == before[1].panel ||
            model->cells[0][2].panel == before[2].panel;
  });
  window.study().select_column(2);
  window.trigger("left");
  REQUIRE(wait_until([&] { return window.study().fully_refined(); }, 90000));
  CHECK_FALSE(wrong);
}

TEST_CASE("a layer of another length is shown whole, with nothing pinned or selected") {
  const QTemporaryDir folder;
  Window window(two_lengths(folder));
  REQUIRE(window.study().length() == 64);
  window->change("pin", [](Session& s) {
    s.pinned_query = 50;
    s.viewport = {40, 60, 40, 60};
  });
  window.study().select({40, 60}, {40, 60});
  window->editor().choose_head(1, 0);
  CHECK(window.study().length() == 32);
  CHECK(window.study().session().viewport == Viewport{0, 32, 0, 32});
  CHECK_FALSE(window.study().session().pinned_query);
  CHECK_FALSE(window.study().selection());
  REQUIRE(window.settle());
  CHECK(window.study().model()->lengths == Lengths{32, 32});
  window->change("pin", [](Session& s) { s.pinned_query = 31; });
  QTest::keyClick(sequence(window), Qt::Key_Right);  // there is no token 32
  CHECK(window.study().session().pinned_query == 31);
  window.study().select({0, 8}, {0, 8});
  while (window.study().session().layer == 1) window.trigger("undo");
  CHECK(window.study().session().viewport == Viewport{40, 60, 40, 60});
  CHECK_FALSE(window.study().selection());
  CHECK(window.settle());
}

TEST_CASE("the button and Esc both cancel, and a second Esc clears the selection") {
  Window window(small);
  window->open("synthetic:clusters?n=16384&d=64&seed=1");
  REQUIRE(wait_until([&] { return window.study().length() == 16384 && window.study().problem(); }));
  const auto* button = cancel_button(window);
  REQUIRE(button);
  SUBCASE("while nothing is drawn yet") {}
  SUBCASE("while maps become exact") {
    window->change("columns", [](Session& s) {
      s.views = {find_view("heatmap")};
      s.columns.resize(1);
    });
    REQUIRE(wait_until([&] { return window.study().panels_ready() && window.study().refining(); }));
  }
  CHECK(wait_until([&] { return button->isVisible(); }));
  window.study().select({0, 8}, {0, 8});
  window.trigger("cancel");
  CHECK(window.study().paused());
  CHECK(window.study().selection());
  CHECK(wait_until([&] { return !button->isVisible(); }));
  window.trigger("cancel");
  CHECK_FALSE(window.study().selection());
}

TEST_CASE("the enlarged panel stays with the selected column when columns change") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("output")}, {"exact", "h1d", "strided", "fixed"});
  REQUIRE(window.settle());
  take_focus(window);
  window.trigger("column_3");
  window->canvas().enlarge(0, 2);
  REQUIRE(enlarged(window, 0, 2));
  window.trigger("left");
  CHECK(enlarged(window, 0, 1));
  CHECK(window->canvas().panel_place(0, 2).isEmpty());
  window.trigger("column_4");
  CHECK(enlarged(window, 0, 3));
  window.trigger("remove");
  CHECK(enlarged(window, 0, 2));
  REQUIRE(window.settle());
  CHECK(window->canvas().is_enlarged());
}

TEST_CASE("the inspector forgets the pair where there is no key") {
  Window window(small);
  std::shared_ptr<const PairReading> read;
  QObject::connect(&window.study(), &Study::pair_read, &window.study(),
                   [&](auto reading) { read = reading; });
  window.study().hover(40, 90, 1);
  REQUIRE(wait_until([&] { return read != nullptr; }));
  window.study().hover(40, -1, 1);  // the output strip
  CHECK_FALSE(read);
  CHECK(window.settle());
  CHECK_FALSE(read);
}

TEST_CASE("a search is done again in another source of as many tokens") {
  const QTemporaryDir dir;
  const auto text = [&](const char* name, const char* words) {
    QFile file(dir.filePath(name));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(words);
    return "content:" + file.fileName();
  };
  const QString first = text("first.txt", "one two three four five six seven eight"),
                second = text("second.txt", "eight seven six five four three two one");
  Window window(first);
  REQUIRE(window.study().length() == 8);
  window.trigger("find");
  window->find_bar().findChild<QLineEdit*>("find_text")->setText("two");
  CHECK(window.study().session().pinned_query == 1);
  window->open(second);
  REQUIRE(wait_until([&] { return window.study().session().source == second.toStdString(); }));
  REQUIRE(window.settle());
  REQUIRE(window.study().length() == 8);
  window.trigger("find_next");
  CHECK(window.study().session().pinned_query == 6);
}

TEST_CASE("a search follows the length of the layer, and opening it moves nothing") {
  const QTemporaryDir dir;
  Window window(two_lengths(dir));
  REQUIRE(window.study().source()->layers.size() == 2);
  window.trigger("find");
  auto* text = window->find_bar().findChild<QLineEdit*>("find_text");
  text->setText("35");
  REQUIRE(window.study().session().pinned_query == 35);
  window->editor().choose_head(1, 0);
  REQUIRE(window.settle());
  REQUIRE(window.study().length() == 32);
  window.trigger("find_next");
  CHECK_FALSE(window.study().session().pinned_query);
  text->setText("5");
  REQUIRE(window.study().session().pinned_query == 5);
  window->find_bar().close_bar();
  window->change("pin", [](Session& s) { s.pinned_query = 7; });
  window.trigger("find");  // with the text of the last search
  CHECK(window.study().session().pinned_query == 7);
}

}  // namespace fovea::test
