// A model in the window: what is typed or dropped is what it reads.
#include <doctest/doctest.h>

#include <QLabel>
#include <QPlainTextEdit>
#include <QTest>

#include "input/assets.h"
#include "tiny_text_model.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

std::vector<std::string> tokens_in(Window& window) {
  return window.study().sequence().tokens;
}

}  // namespace

TEST_CASE("a text that is typed is what the model reads, and undo brings the old one back") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat")));
  show(window, {View::heatmap}, {"exact", "h1d"});
  REQUIRE(window.settle());
  auto* field = window->findChild<QPlainTextEdit*>("model_text");
  REQUIRE(field);
  CHECK(field->isVisibleTo(&*window));
  CHECK(field->toPlainText() == "the cat");
  CHECK(tokens_in(window) == std::vector<std::string>{"[CLS]", "the", "cat", "[SEP]"});
  const auto source = window.study().source();
  field->setFocus();
  field->moveCursor(QTextCursor::End);
  QTest::keyClicks(field, " sat.");
  REQUIRE(wait_until([&] { return tokens_in(window).size() == 6; }));
  REQUIRE(window.settle());
  CHECK(tokens_in(window) == std::vector<std::string>{"[CLS]", "the", "cat", "sat", ".", "[SEP]"});
  CHECK(field->toPlainText() == "the cat sat.");
  CHECK(window.study().columns().size() == 2);  // the canvas is as it was
  CHECK(wait_until([&] { return window.study().columns()[1].metrics != nullptr; }));
  CHECK(window.study().session().source == model.address("the cat sat."));
  window.trigger("undo");
  REQUIRE(wait_until([&] { return tokens_in(window).size() == 4; }));
  CHECK(field->toPlainText() == "the cat");
  // A text without a word is not read: the window keeps what it had, and the field what was typed.
  field->setPlainText("\u200b");
  QTest::qWait(400);
  REQUIRE(window.settle());
  CHECK(tokens_in(window).size() == 4);
  CHECK(field->toPlainText() == "\u200b");
  CHECK_FALSE(field->acceptDrops());
}

TEST_CASE("a text file that is dropped on a model is read by it, another file is opened") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat")));
  REQUIRE(window.settle());
  const std::string words = model.file("words.txt", "sat sat sat");
  REQUIRE(drop(window, QString::fromStdString(words)));
  REQUIRE(wait_until([&] { return tokens_in(window).size() == 5; }));
  CHECK(window.study().source()->kind == "model");
  CHECK(window.study().session().source ==
        to_text(ModelAddress{.folder = model.folder(), .input = words}));
  REQUIRE(drop(window, QString::fromStdString(FOVEA_ASSETS "/image/cat.jpg")));
  REQUIRE(wait_until([&] { return window.study().source()->picture != nullptr; }));
  CHECK(window.study().source()->sequence.grid->rows == 37);
  CHECK_FALSE(window->findChild<QPlainTextEdit*>("model_text")->isVisibleTo(&*window));
}

TEST_CASE("an image that is dropped on a model of images is read by it") {
  const TemporaryDirectory scratch;
  std::filesystem::copy(FOVEA_TESTS "/model/fixtures/vit", scratch.path() + "/vit");
  scratch.write("vit/preprocessor_config.json",
                R"({"do_resize": true, "size": {"height": 16, "width": 16}, "resample": 2,
                    "do_rescale": true, "do_normalize": true, "image_mean": [0.5, 0.5, 0.5],
                    "image_std": [0.5, 0.5, 0.5]})");
  const auto picture = [&](const std::string& name, int width) {
    std::string pixels = "P3\n" + std::to_string(width) + " 20\n255\n";
    for (int i = 0; i < width * 20; ++i) pixels += std::to_string(i % 256) + " 40 200\n";
    return scratch.write(name, pixels);
  };
  Window window(QString::fromStdString(
      to_text(ModelAddress{.folder = scratch.path() + "/vit", .input = picture("a.ppm", 20)})));
  REQUIRE(window.settle());
  CHECK(window.study().source()->picture->width == 20);
  CHECK_FALSE(window->findChild<QPlainTextEdit*>("model_text")->isVisibleTo(&*window));
  REQUIRE(drop(window, QString::fromStdString(picture("b.ppm", 31))));
  REQUIRE(wait_until([&] { return window.study().source()->picture->width == 31; }));
  CHECK(window.study().source()->kind == "model");
}

TEST_CASE("the first example is the bundled model with a text that can be edited") {
  Window window(QString::fromStdString(standard_example()));
  REQUIRE(window.settle());
  const Session& session = window.study().session();
  CHECK(window.study().source()->layers.size() == 6);
  CHECK(window.study().source()->layers[std::size_t(session.layer)].name == "layer4");
  CHECK(session.head == 10);
  auto* field = window->findChild<QPlainTextEdit*>("model_text");
  CHECK(field->toPlainText().startsWith("The fovea"));
  field->setFocus();
  field->selectAll();
  QTest::keyClicks(field, "The cat sat.");
  REQUIRE(wait_until([&] { return tokens_in(window).size() == 6; }));
  REQUIRE(window.settle());
  CHECK(tokens_in(window) == std::vector<std::string>{"[CLS]", "The", "cat", "sat", ".", "[SEP]"});
  CHECK(wait_until([&] { return window.study().columns()[1].metrics != nullptr; }));
}

TEST_CASE("an image that is dropped on a model of texts shows the bundled model of images") {
  Window window(QString::fromStdString(standard_example()));
  REQUIRE(drop(window, assets + "/image/cat.jpg"));
  REQUIRE(wait_until([&] { return window.study().source()->picture != nullptr; }));
  REQUIRE(window.settle());
  CHECK(window.study().source()->sequence.grid == ImageGrid{37, 37, 1});
  CHECK(window->findChild<QLabel*>("content")->isHidden());
  for (const char* of_others : {"patch", "model_text"})
    CHECK_FALSE(window->findChild<QWidget*>(of_others)->isVisibleTo(&*window));
  // And a text brings the model of texts back, with the text of the file in its field.
  REQUIRE(drop(window, assets + "/text/fovea.txt"));
  REQUIRE(wait_until([&] { return !window.study().source()->picture; }));
  CHECK(window->findChild<QPlainTextEdit*>("model_text")->toPlainText().startsWith("The fovea"));
}

TEST_CASE("content similarity says in amber that it is not for choosing an attention") {
  Window window("content:" + assets + "/text/fovea.txt");
  auto* label = window->findChild<QLabel*>("content");
  CHECK(label->isVisibleTo(&*window));
  CHECK(label->text().endsWith("a toy embedding, not for choosing an attention"));
  CHECK(label->property("style") == "warning");
}

}  // namespace fovea::test
