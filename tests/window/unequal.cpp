// Heads with other numbers of keys than of queries, as in cross attention.
#include <doctest/doctest.h>

#include <QApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <algorithm>

#include "data/source.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

const QString cross = QString(FOVEA_TESTS) + "/captures/t5.safetensors";

/// The first layer of cross attention: 7 queries, 13 keys.
struct Opened {
  Window window{cross};

  Opened() {
    const auto& layers = window.study().source()->layers;
    for (Index l = 0; l < std::ssize(layers); ++l)
      if (layers[static_cast<std::size_t>(l)].name == "cross.layer0")
        window->change({}, [l](Session& s) { s.layer = l; });
    REQUIRE(window.settle());
    REQUIRE(window.study().lengths() == Lengths{7, 13});
  }
};

}  // namespace

TEST_CASE("a head of cross attention is shown whole, with its queries and its keys") {
  Opened opened;
  Window& window = opened.window;
  CHECK(window.study().session().viewport == Viewport{0, 7, 0, 13});
  const Raster& raster = std::get<Raster>(panel(window, find_view("heatmap"), 0).body);
  CHECK(raster.values.rows() == 7);
  CHECK(raster.values.cols() == 13);
  CHECK(window->findChild<QWidget*>("key_tokens")->isVisible());
  const auto& model = *window.study().model();
  CHECK(std::ssize(model.sequence->tokens) == 7);
  CHECK(std::ssize(model.key_sequence->tokens) == 13);
  window.shoot("unequal");
}

TEST_CASE("each variant that has no form for cross attention says so, and the others go on") {
  Opened opened;
  Window& window = opened.window;
  show(window,
       {find_view("heatmap"), find_view("error"), find_view("mask"), find_view("rank"),
        find_view("row"), find_view("output")},
       {"exact", "tf", "tc", "h1d", "window"});
  window->change({}, [](Session& s) { s.pinned_query = 6; });
  REQUIRE(window.settle());
  for (const auto& row : window.study().model()->cells) {
    for (const std::size_t c : {0, 1, 2}) CHECK_FALSE(row[c].failed);
    CHECK(row[3].status.find("has no form for 7 queries, 13 keys") != std::string::npos);
    CHECK(row[4].status.find("expected fewer queries than keys under a causal mask") !=
          std::string::npos);
  }
}

TEST_CASE("compressed entries stand behind the tokens, and variants of one sequence say so") {
  Window window(QString(FOVEA_TESTS) + "/captures/deepseek_v4.safetensors");
  window->change({}, [](Session& s) { s.layer = 1; });
  show(window, {find_view("heatmap"), find_view("spread")}, {"exact", "dsa", "window"});
  REQUIRE(window.settle());
  REQUIRE(window.study().lengths() == Lengths{27, 33});
  const auto& model = *window.study().model();
  CHECK(model.causal);
  CHECK(model.key_sequence->numbered(28) == "entry 1: tokens 0–7");
  CHECK(model.key_sequence->label(26) == model.sequence->label(26));
  for (const auto& row : model.cells) {
    for (const std::size_t c : {0, 1}) CHECK_FALSE(row[c].failed);
    CHECK(row[2].status.find("takes all keys for the tokens of a sequence") != std::string::npos);
  }
  CHECK(window->findChild<QWidget*>("key_tokens")->isVisible());
  const auto& spread = std::get<Raster>(panel(window, find_view("spread"), 0).body);
  CHECK(spread.cols == IndexRange{0, 27});
  window.shoot("compressed");
}

TEST_CASE("one goes to a compressed entry by its number or by its name") {
  Window window(QString(FOVEA_TESTS) + "/captures/deepseek_v4.safetensors");
  window->change({}, [](Session& s) { s.layer = 1; });
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  const auto key_of = [&](const QString& text) {
    window.study().hover(0, 0, 0);
    QTimer::singleShot(200, [text] {
      auto* dialog = QApplication::activeModalWidget();
      if (!dialog) return;
      dialog->findChild<QLineEdit*>()->setText(text);
      QTest::keyClick(dialog, Qt::Key_Return);
    });
    window.trigger("goto");
    return window.study().hovered_key();
  };
  CHECK(key_of("20, 29") == 29);
  CHECK(key_of("20 e2") == 29);
  CHECK(key_of("20, Entry 2") == 29);
  CHECK(key_of("20") == 20);
  CHECK(key_of("20, e6") == 0);  // there are six
  CHECK(key_of("20, x2") == 0);
}

TEST_CASE("a search finds queries and keys by their own tokens") {
  Opened opened;
  Window& window = opened.window;
  window.trigger("find");
  auto* line = window->findChild<QLineEdit*>("find_text");
  line->setText(QString::fromStdString(window.study().key_sequence().label(12)));
  QStringList seen;
  for (int step = 0; step < 20; ++step, window->find_bar().step(1))
    seen << line->accessibleDescription().section(": ", 1);
  CHECK(seen.contains("key 12"));
  for (const QString& match : seen)
    if (match.startsWith("query"))
      CHECK(window.study().sequence().label(match.section(' ', 1).toLongLong()) ==
            window.study().key_sequence().label(12));
}

TEST_CASE("a sweep over n is not begun on a head of cross attention") {
  Opened opened;
  Window& window = opened.window;
  window->show_sweep();
  SweepDialog& dialog = *window->sweep();
  CHECK_FALSE(dialog.findChild<QPushButton*>("sweep_measure")->isEnabled());
  CHECK_FALSE(dialog.run().running());
}

}  // namespace fovea::test
