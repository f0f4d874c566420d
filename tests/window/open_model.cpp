// Models that are opened by the dialog, dropped, listed as recent, or looked for.
#include <doctest/doctest.h>

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QTest>

#include "data/model_address.h"
#include "fake_model_cache.h"
#include "gguf_bytes.h"
#include "input/session_file.h"
#include "views/views.h"
#include "window/dialogs/model_dialog.h"
#include "window/harness.h"
#include "window/opening_menus.h"
#include "worker/interpreter.h"

namespace fovea::test {
namespace {

/// The dialog of a window, which has listed the cache.
class OpenedDialog {
 public:
  explicit OpenedDialog(Window& window) {
    window.trigger("open_model");
    dialog_ = window->findChild<ModelDialog*>();
    REQUIRE(dialog_);
    REQUIRE(wait_until([&] { return !about().startsWith("Looking"); }));
  }
  ModelDialog* operator->() { return dialog_; }
  QTableWidget& list() { return *dialog_->findChild<QTableWidget*>("models"); }
  QLineEdit& name() { return *dialog_->findChild<QLineEdit*>("model_name"); }
  QPlainTextEdit& text() { return *dialog_->findChild<QPlainTextEdit*>("text_for_model"); }
  QLineEdit& image() { return *dialog_->findChild<QLineEdit*>("image_for_model"); }
  QPushButton& button(const char* button_name) {
    return *dialog_->findChild<QPushButton*>(button_name);
  }
  QString about() { return dialog_->findChild<QLabel*>("about_models")->text(); }
  QString finding() { return dialog_->findChild<QLabel*>("model_finding")->text(); }
  /// What it says of a name, which is typed.
  QString finding(const QString& typed) {
    name().setText(typed);
    CHECK_FALSE(button("open_model_now").isEnabled());
    const QString before = finding();
    wait_until([&] { return finding() != before; });
    return finding();
  }
  QString row(int number) {
    QStringList texts;
    for (int field = 0; field < list().columnCount(); ++field)
      texts << list().item(number, field)->text();
    return texts.join("|");
  }

 private:
  ModelDialog* dialog_;
};

std::vector<std::string> shown_tokens(Window& window) {
  return window.study().sequence().tokens;
}

}  // namespace

TEST_CASE("a model of the cache opens by the keyboard, with the text that is typed") {
  const FakeModelCache cache;
  cache.add_model("some-org--tiny");
  cache.add_file("o--broken", "aaa", "config.json", R"({"model_type": "llama"})");
  Window window(small);
  OpenedDialog dialog(window);
  REQUIRE(dialog.list().rowCount() == 2);
  CHECK(dialog.row(0).startsWith("some-org/tiny|bert|2 × 2|"));
  CHECK(dialog.row(0).endsWith(" kB|Fovea"));
  CHECK(dialog.row(1) == "o/broken|llama|||incomplete");
  CHECK(dialog.list().item(1, 0)->toolTip().contains("hf download o/broken"));
  CHECK(dialog.about().contains(QString::fromStdString(cache.path())));
  CHECK_FALSE(dialog.button("open_model_now").isEnabled());
  CHECK(dialog.text().toPlainText().startsWith("Hold a page at arm's length"));
  QTest::keyClick(&dialog.name(), Qt::Key_Down);
  CHECK(dialog.name().text() == "some-org/tiny");
  REQUIRE(wait_until([&] { return dialog.button("open_model_now").isEnabled(); }));
  CHECK(dialog.finding() == "bert, 2 layers × 2 heads: computed by Fovea itself");
  dialog.text().setPlainText("the cat sat");
  QTest::keyClick(&dialog.list(), Qt::Key_Return);
  CHECK_FALSE(dialog->isVisible());
  REQUIRE(wait_until([&] { return window.study().source()->kind == "model"; }));
  REQUIRE(window.settle());
  CHECK(window.study().source()->name == "tiny: “the cat sat”");
  CHECK(window.study().session().source ==
        to_text(ModelAddress{.folder = "some-org/tiny", .text = "the cat sat"}));
  CHECK(window->windowTitle().contains("tiny: “the cat sat”"));
  // What is shown is proposed when the dialog opens again.
  OpenedDialog again(window);
  CHECK(again.text().toPlainText() == "the cat sat");
}

TEST_CASE("the dialog says what is wrong with a name, and what will compute a model") {
  const FakeModelCache cache;
  const TemporaryDirectory scratch;
  Window window(small);
  OpenedDialog dialog(window);
  CHECK(dialog.list().rowCount() == 0);
  CHECK(dialog.about().contains("has no models"));
  CHECK(dialog.about().contains("hf download"));
  CHECK(dialog.finding("some/model").contains("neither a file nor in the local cache"));
  CHECK_FALSE(dialog.button("open_model_now").isEnabled());
  CHECK(dialog.finding(QString::fromStdString(scratch.write("m.onnx", "x"))).contains("ONNX"));
  qputenv("FOVEA_PYTHON", "/nowhere/python");
  const QString gguf = QString::fromStdString(scratch.write("m.gguf", small_gguf().bytes()));
  const QString missing = dialog.finding(gguf);
  CHECK(missing.startsWith("llama, 30 layers × 9 heads: FOVEA_PYTHON names"));
  qunsetenv("FOVEA_PYTHON");
  dialog->ask_for_interpreter = [] { return QString("/bin/sh"); };
  dialog.button("choose_python").click();
  REQUIRE(wait_until([&] { return dialog.finding() != missing; }));
  CHECK(dialog.finding() ==
        "llama, 30 layers × 9 heads: computed by Python: /bin/sh (from the setting)");
  set_interpreter_setting("");
  use_kept_interpreter();  // as the next start does
  CHECK(find_interpreter().path == "/bin/sh");
  set_interpreter_setting("");
}

TEST_CASE("a model of images asks for an image") {
  const TemporaryDirectory scratch;
  std::filesystem::copy(FOVEA_TESTS "/model/fixtures/vit", scratch.path() + "/vit");
  Window window(small);
  OpenedDialog dialog(window);
  dialog->ask_for_model = [&] {
    return QString::fromStdString(scratch.path() + "/vit/config.json");
  };
  dialog.button("browse_models").click();
  REQUIRE(wait_until([&] { return dialog.button("open_model_now").isEnabled(); }));
  CHECK(dialog.image().isVisible());
  CHECK_FALSE(dialog.text().isVisible());
  CHECK(dialog.image().text().endsWith("/cat.jpg"));
  dialog->ask_for_image = [] { return QString("/a/b.png"); };
  dialog.button("browse_images").click();
  CHECK(dialog.image().text() == "/a/b.png");
}

TEST_CASE("a model that is dropped reads an example, or the text that is shown") {
  const TinyTextModel model;
  Window window(small);
  REQUIRE(drop(window, QString::fromStdString(model.folder() + "/config.json")));
  REQUIRE(wait_until([&] { return window.study().source()->kind == "model"; }));
  REQUIRE(window.settle());
  CHECK(shown_tokens(window).size() == 20);  // of the example, as many as it has positions for
  CHECK(window.study().source()->name.starts_with("tiny: “Hold a page at arm's length"));
  const std::string words = model.file("words.txt", "the cat sat");
  REQUIRE(drop(window, QString::fromStdString(words)));
  REQUIRE(wait_until([&] { return shown_tokens(window).size() == 5; }));
  const TinyTextModel other;
  REQUIRE(drop(window, QString::fromStdString(other.folder())));
  const std::string reads = to_text(ModelAddress{.folder = other.folder(), .input = words});
  REQUIRE(wait_until([&] { return window.study().session().source == reads; }));
  CHECK(shown_tokens(window) == std::vector<std::string>{"[CLS]", "the", "cat", "sat", "[SEP]"});
  CHECK(window.study().source()->name == "tiny: words.txt");
  REQUIRE(drop(window, QString::fromStdString(model.file("m.ckpt", "x"))));
  REQUIRE(wait_until([&] { return !window->info_bar().message().isEmpty(); }));
  CHECK(window->info_bar().message().contains("is a pickle"));
}

TEST_CASE("a recent model is listed by its name and text, and its folder is in the tip") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat, the cat: 100 %")));
  REQUIRE(window.settle());
  QMenu menu;
  make_recent_menu(menu, window->files());
  emit menu.aboutToShow();
  REQUIRE(menu.actions().size() == 3);
  CHECK(menu.actions()[0]->text() == "tiny: “the cat, the cat: 100 %”");
  CHECK(menu.actions()[0]->toolTip() ==
        QString::fromStdString(model.folder()) + ": “the cat, the cat: 100 %”");
  CHECK(menu.toolTipsVisible());
}

TEST_CASE("a session whose model has moved keeps its text and settings where it is found") {
  const TinyTextModel model;
  const TemporaryDirectory scratch;
  const auto address = [](const std::string& folder) {
    return to_text(ModelAddress{.folder = folder, .text = "the cat", .most_tokens = 12});
  };
  const std::string gone = scratch / "gone", path = scratch / "s.fovea.json";
  SessionFile file{.session = standard_session(address(gone), 4), .content_hash = {}, .layout = {}};
  file.session.columns[0].held = HeldHead{.source = address(gone), .layer = 1};
  file.session.pinned_query = 2;
  write_session(path, file);
  Window window(small);
  window->open(QString::fromStdString(path));
  CHECK(window->info_bar().message().contains("The session's model is not there: "));
  QString asked;
  bool as_directory = false;
  window->files().ask_for_source = [&](const QString& missing, bool directory) {
    asked = missing;
    as_directory = directory;
    return QString::fromStdString(model.folder());
  };
  window->findChild<QPushButton*>("remedy")->click();
  CHECK(asked == QString::fromStdString(gone));
  CHECK(as_directory);
  REQUIRE(wait_until([&] { return window.study().source()->kind == "model"; }));
  REQUIRE(window.settle());
  const Session& session = window.study().session();
  CHECK(session.source == address(model.folder()));
  CHECK(session.columns[0].held->source == address(model.folder()));
  CHECK(session.pinned_query == 2);
}

TEST_CASE("a session whose model reads a file that has moved asks for that file") {
  const TinyTextModel model;
  const TemporaryDirectory scratch;
  const auto address = [&](const std::string& input) {
    return to_text(ModelAddress{.folder = model.folder(), .input = input});
  };
  const std::string gone = scratch / "gone.txt", path = scratch / "s.fovea.json",
                    found = scratch.write("found.txt", "the cat");
  write_session(path,
                {.session = standard_session(address(gone), 4), .content_hash = {}, .layout = {}});
  Window window(small);
  window->open(QString::fromStdString(path));
  CHECK(window->info_bar().message().startsWith(QString::fromStdString(gone)));
  window->files().ask_for_source = [&](const QString&, bool) {
    return QString::fromStdString(found);
  };
  window->findChild<QPushButton*>("remedy")->click();
  REQUIRE(wait_until([&] { return window.study().session().source == address(found); }));
}

}  // namespace fovea::test
