// A model in the window: what is typed or dropped is what it reads.
#include <doctest/doctest.h>

#include <QElapsedTimer>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "input/assets.h"
#include "study/background.h"
#include "tiny_text_model.h"
#include "views/views.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

using Tokens = std::vector<std::string>;

const Tokens the_cat{"[CLS]", "the", "cat", "[SEP]"},
    the_cat_sat{"[CLS]", "the", "cat", "sat", "[SEP]"};

Tokens tokens_in(Window& window) {
  return window.study().sequence().tokens;
}

/// A window whose model has read "the cat", and what was typed into its field.
struct Typing {
  TinyTextModel model;
  Window window{QString::fromStdString(model.address("the cat"))};
  QPlainTextEdit* field = window->findChild<QPlainTextEdit*>("model_text");
  int opened = 0;

  Typing() {
    show(window, {find_view("heatmap")}, {"exact", "h1d"});
    REQUIRE(window.settle());
    REQUIRE(field);
    QObject::connect(&window.study(), &Study::opened, field, [this] { ++opened; });
  }
  /// Not read yet: no event is handled.
  void type(const QString& text) {
    field->setPlainText(text);
    REQUIRE(window.study().opening());
  }
  bool ends() {
    return wait_until([&] { return !window.study().opening(); });
  }
};

}  // namespace

TEST_CASE("the pinned query and named spans stay with their words while the text is edited") {
  Typing typing;
  const auto session = [&]() -> const Session& { return typing.window.study().session(); };
  constexpr Index cat = 2;
  typing.window->editor().pin(cat);
  typing.window->change("spans", [](Session& s) { s.spans = {{"animal", {cat, cat + 1}}}; });
  typing.type("sat the cat");
  REQUIRE(typing.ends());
  CHECK(session().pinned_query == 3);
  CHECK(session().spans == std::vector<Span>{{"animal", {3, 4}}});
  // Two edits of which the first was not read yet.
  typing.type("sat the cat.");
  typing.type("the cat");  // the words before the edited ones are others, those after it the same
  REQUIRE(typing.ends());
  CHECK(session().pinned_query == 2);
  CHECK(session().spans == std::vector<Span>{{"animal", {2, 3}}});
  typing.type("the sat.");  // the word is not there any more
  REQUIRE(typing.ends());
  CHECK_FALSE(session().pinned_query);
  CHECK(session().spans.empty());
  typing.window.trigger("undo");
  REQUIRE(wait_until([&] { return session().source == typing.model.address("the cat"); }));
  CHECK(session().pinned_query == cat);
  CHECK(session().spans.size() == 1);
}

TEST_CASE("while a text is edited its pictures stay until there are others") {
  Typing typing;
  QElapsedTimer since;
  double first_blank_ms = INFINITY;
  QObject::connect(&typing.window.study(), &Study::opened, typing.field, [&] { since.start(); });
  QObject::connect(&typing.window.study(), &Study::model_changed, typing.field, [&](auto model) {
    const auto is_blank = [](const CanvasCell& cell) { return !cell.panel; };
    if (since.isValid() && std::ranges::any_of(model->cells[0], is_blank))
      first_blank_ms = std::min(first_blank_ms, double(since.elapsed()));
  });
  typing.window->editor().pin(2);  // which is pinned again
  typing.type("the cat sat");
  REQUIRE(typing.ends());
  REQUIRE(typing.window.settle());
  CHECK(typing.window.study().model()->lengths == Lengths{5, 5});
  // Results that take longer than 400 ms are waited for in sight; some of these may be over before
  // the source is said to be there.
  CHECK(first_blank_ms >= 100);
}

TEST_CASE("a text that is typed is what the model reads, and undo brings the old one back") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat")));
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
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

TEST_CASE("typing on ends the reading of the text before") {
  Typing t;
  t.type("the cat sa");
  t.type("the cat sat");
  REQUIRE(t.ends());
  CHECK(t.opened == 1);
  CHECK(tokens_in(t.window) == the_cat_sat);
  t.window.trigger("undo");  // one step, as fast as it was typed
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat);
}

TEST_CASE("the hash of a model is found once, whatever is typed") {
  Typing t;
  REQUIRE(wait_until([&] { return !t.window.study().content_hash().empty(); }));
  const std::string hash = t.window.study().content_hash();
  std::string at_once;
  QObject::connect(&t.window.study(), &Study::opened, t.field,
                   [&] { at_once = t.window.study().content_hash(); });
  t.type("the cat sat");
  REQUIRE(t.ends());
  CHECK(at_once == hash);
  CHECK(t.window->files().session_file().content_hash == hash);
}

TEST_CASE("a text that a model still reads is in the session that is saved, and in the last one") {
  const QTemporaryDir dir;
  Typing t;
  t.type("the cat sat");
  const std::string path = dir.filePath("s.fovea.json").toStdString();
  SUBCASE("by hand") {
    t.window->files().save_session_to(QString::fromStdString(path));
    REQUIRE(wait_until([&] { return QFile::exists(QString::fromStdString(path)); }));
    CHECK(read_session(path).session.source == t.model.address("the cat sat"));
    t.window->open(QString::fromStdString(path));
    REQUIRE(t.ends());
    CHECK(tokens_in(t.window) == the_cat_sat);
  }
  SUBCASE("as the window closes") {
    t.window.close();
    MainWindow again(make_low_priority_backend());
    REQUIRE(again.files().open_last());
    REQUIRE(wait_until([&] { return again.study().source() != nullptr; }));
    CHECK(again.study().sequence().tokens == the_cat_sat);
  }
  SUBCASE("a figure carries the text that it shows") {
    write_bytes(path, t.window->workspace().session_text());
    CHECK(read_session(path).session.source == t.model.address("the cat"));
  }
}

TEST_CASE("a text that a model still reads is there after undo of what was opened meanwhile") {
  Typing t;
  t.type("the cat sat");
  t.window->open(small);
  REQUIRE(t.ends());
  CHECK(t.window.study().session().source == small.toStdString());
  t.window.trigger("undo");
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat_sat);
  CHECK(t.field->toPlainText() == "the cat sat");
  t.window.trigger("undo");
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat);
  for (int step = 0; step < 2; ++step) {
    t.window.trigger("redo");
    REQUIRE(t.ends());
  }
  CHECK(t.window.study().session().source == small.toStdString());
}

TEST_CASE("a file that does not open leaves the text that was typed before, or meanwhile") {
  Typing t;
  const QString nowhere = "/nowhere.npz";
  SUBCASE("before") {
    t.type("the cat sat");
    t.window->open(nowhere);
  }
  SUBCASE("meanwhile") {
    t.window->open(nowhere);
    t.type("the cat sat");
  }
  REQUIRE(t.ends());
  CHECK(t.window->info_bar().message().contains("nowhere.npz"));
  CHECK(tokens_in(t.window) == the_cat_sat);
  t.window.trigger("undo");
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat);
}

TEST_CASE("a model that is damaged while it is open is refused, and read again once it is whole") {
  Typing t;
  const std::string path = t.model.folder() + "/vocab.txt", words = read_bytes(path);
  std::filesystem::remove(path);
  t.type("the cat sa");
  REQUIRE(t.ends());
  CHECK(t.window->info_bar().message().contains("expected tokenizer.json, vocab.txt"));
  CHECK(tokens_in(t.window) == the_cat);
  CHECK(t.window.study().session().source == t.model.address("the cat"));
  CHECK(t.field->toPlainText() == "the cat sa");
  write_bytes(path, words);
  t.type("the cat sat");
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat_sat);
  CHECK(t.window->info_bar().message().isEmpty());
  t.window.trigger("undo");
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat);
}

TEST_CASE("another text keeps columns that hold a head, and marks of tokens that it has, too") {
  Typing t;
  t.window->editor().add_column_of(1, 0);
  t.window->editor().pin(3);
  CHECK(t.window->editor().name_span({"cat", {2, 3}}).empty());
  t.window->change("viewport", [](Session& s) { s.viewport = {1, 3, 1, 3}; });
  t.type("the cat sat");
  REQUIRE(t.ends());
  REQUIRE(t.window.settle());
  const Session& session = t.window.study().session();
  REQUIRE(session.columns.size() == 3);
  CHECK(session.columns[2].held == HeldHead{.source = {}, .layer = 1, .head = 0});
  CHECK(t.window.study().columns()[2].error.empty());
  CHECK(session.pinned_query == 4);  // "[SEP]", behind the new word
  CHECK(session.spans == std::vector<Span>{{"cat", {2, 3}}});
  CHECK(session.viewport == whole({5, 5}));
  t.window.trigger("undo");
  REQUIRE(t.ends());
  CHECK(session.pinned_query == 3);
  CHECK(session.spans.size() == 1);
}

TEST_CASE("a mask that was set by hand belongs to the model, whatever it reads") {
  QSettings().clear();
  Typing t;
  t.window->editor().change({}, [](Session& s) { s.conditions.causal = true; });
  t.window->open(small);
  REQUIRE(t.ends());
  CHECK_FALSE(t.window.study().session().conditions.causal);
  t.window->open(QString::fromStdString(t.model.address("sat")));
  REQUIRE(t.ends());
  CHECK(t.window.study().session().conditions.causal == true);
}

TEST_CASE("a text that is too long is read as far as it is saved, and that is said") {
  Typing t;
  auto* note = t.window->findChild<QLabel*>("model_text_note");
  const QString longest = QString("the ").repeated(25000);
  t.type(longest);
  CHECK_FALSE(note->isVisibleTo(&*t.window));
  t.type(longest + "cat");
  CHECK(note->isVisibleTo(&*t.window));
  CHECK(note->text().contains("first 100,000 characters"));
  REQUIRE(t.ends());
  CHECK(t.window.study().session().source == t.model.address(longest.toStdString()));
  t.type("the cat sat");
  CHECK_FALSE(note->isVisibleTo(&*t.window));
}

TEST_CASE("keys in the text are letters, and undo is the window's where the text has none") {
  Typing t;
  t.window->activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(&*t.window));
  t.window->editor().add_column("linear");
  t.field->setFocus();
  const Session before = t.window.study().session();
  QTest::keyClick(t.field, Qt::Key_Z, Qt::ControlModifier);
  CHECK(t.window.study().session().columns.size() == before.columns.size() - 1);
  QTest::keyClick(t.field, Qt::Key_Y, Qt::ControlModifier);
  QTest::keyClick(t.field, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(t.window.study().session() == before);
  t.field->moveCursor(QTextCursor::End);
  REQUIRE(t.window.settle());
  be_still(t.window);
  // Shift shows exact attention in place, but not while its letters are typed.
  const auto while_shift_is_held = [&](QWidget* in) {
    in->setFocus();
    QTest::keyPress(in, Qt::Key_Shift);
    be_still(t.window);
    const QImage picture = picture_of(t.window, find_view("heatmap"), 2);
    QTest::keyRelease(in, Qt::Key_Shift);
    be_still(t.window);
    return picture;
  };
  const QImage own = picture_of(t.window, find_view("heatmap"), 2);
  CHECK(while_shift_is_held(&t.window->canvas()) != own);
  CHECK(while_shift_is_held(t.field) == own);
  const QString letters = "aAbBcCdDfFgGhHlLqQvVxX?+-12";
  QTest::keyClicks(t.field, letters);
  CHECK(t.field->toPlainText() == "the cat" + letters);
  REQUIRE(t.ends());
  CHECK(t.window.study().session().columns == before.columns);
  CHECK(t.window.study().session().views == before.views);
  QTest::keyClick(t.field, Qt::Key_Z, Qt::ControlModifier);  // the field's own
  CHECK(t.field->toPlainText() == "the cat");
  REQUIRE(t.ends());
  CHECK(tokens_in(t.window) == the_cat);
}

TEST_CASE("a text file that is dropped on a model is read by it, another file is opened") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat")));
  REQUIRE(window.settle());
  const std::string words = model.file("Words.TXT", "sat sat sat");
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
  CHECK(field->toPlainText().startsWith("The Fovea"));
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
  CHECK(window->findChild<QPlainTextEdit*>("model_text")->toPlainText().startsWith("The Fovea"));
}

TEST_CASE("content similarity says in amber that it is not for choosing an attention") {
  Window window("content:" + assets + "/text/fovea.txt");
  auto* label = window->findChild<QLabel*>("content");
  CHECK(label->isVisibleTo(&*window));
  CHECK(label->text().endsWith("a toy embedding, not for choosing an attention"));
  CHECK(label->property("style") == "warning");
}

}  // namespace fovea::test
