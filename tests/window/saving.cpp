// Which file is written, and under which name.
#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QInputDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>

#include "input/open_source.h"
#include "input/session_file.h"
#include "io/safetensors_writer.h"
#include "study/background.h"
#include "temporary_directory.h"
#include "views/views.h"
#include "window/dialogs/questions.h"
#include "window/pointer.h"
#include "window/run_window.h"
#include "window/widgets/text.h"

namespace fovea::test {
namespace {

/// Handles modal dialogs as they appear, until it ends; also one that another one opens.
class Answers {
 public:
  explicit Answers(std::function<void(QWidget&)> answer) : answer_(std::move(answer)) { look(); }

 private:
  void look() {
    QTimer::singleShot(50, &context_, [this] {
      look();  // first: the answer may wait for another dialog
      if (QWidget* dialog = QApplication::activeModalWidget()) answer_(*dialog);
    });
  }

  std::function<void(QWidget&)> answer_;
  QObject context_;
};

void type_name(QFileDialog& dialog, const QString& name) {
  auto* line = dialog.findChild<QLineEdit*>();
  line->setText(name);
  dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save)->click();
}

}  // namespace

TEST_CASE("a session that does not open is not overwritten by the one that stays") {
  const QTemporaryDir dir;
  const QString text = dir.filePath("a.txt"), gone = dir.filePath("gone.fovea.json"),
                broken = dir.filePath("broken.fovea.json"), own = dir.filePath("own.fovea.json");
  REQUIRE(QFile::copy(assets + "/text/fovea.txt", text));
  {
    Window window(text);
    REQUIRE(window.save(gone));
  }
  REQUIRE(QFile::remove(text));
  write_bytes(broken.toStdString(), R"({"fovea_session": 99})");
  Window window(small);
  REQUIRE(window.save(own));
  for (const QString& other : {gone, broken}) {
    const std::string before = read_bytes(other.toStdString());
    window->open(other);
    REQUIRE_FALSE(window->info_bar().message().isEmpty());
    QFile::remove(own);
    window.trigger("save");
    CHECK(wait_until([&] { return QFile::exists(own); }));  // of what is shown
    CHECK(read_bytes(other.toStdString()) == before);
  }
}

TEST_CASE("while a session opens, saving writes the one that is still shown to its own file") {
  const QTemporaryDir dir;
  const QString first = dir.filePath("1.fovea.json"), second = dir.filePath("2.fovea.json");
  Window window("content:" + assets + "/text/fovea.txt");
  REQUIRE(window.save(second));
  window->open(small);
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  REQUIRE(window.settle());
  REQUIRE(window.save(first));
  window->open(second);
  REQUIRE(window.study().opening());
  REQUIRE(QFile::remove(first));
  window.trigger("save");
  CHECK(wait_until([&] { return QFile::exists(first); }));
  CHECK(read_session(first.toStdString()).session.source == small.toStdString());
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  REQUIRE(QFile::remove(second));
  window.trigger("save");
  CHECK(wait_until([&] { return QFile::exists(second); }));
}

TEST_CASE("where nothing is open no session is saved, and the window says so") {
  MainWindow window(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  window.show();
  bool asked = false;
  Answers answers([&](QWidget& dialog) {
    asked = true;
    dialog.close();
  });
  for (const char* action : {"save", "save_as"}) {
    window.statusBar()->clearMessage();
    window.findChild<QAction*>(action)->trigger();
    CHECK(window.statusBar()->currentMessage() == "There is nothing to save yet");
  }
  CHECK_FALSE(asked);
}

TEST_CASE("a name without an ending gets it before it is asked whether to replace a file") {
  const QTemporaryDir dir;
  write_bytes(dir.filePath("taken.pdf").toStdString(), "mine");
  QWidget parent;
  bool asked = false, typed = false;
  Answers answers([&](QWidget& dialog) {
    if (auto* question = qobject_cast<QMessageBox*>(&dialog)) {
      asked = true;
      return question->button(QMessageBox::No)->click();
    }
    auto* files = qobject_cast<QFileDialog*>(&dialog);
    if (!files) return;
    if (typed) return files->reject();
    typed = true;
    type_name(*files, dir.filePath("taken"));
  });
  CHECK(ask_new_file(parent, "Export", dir.filePath("a.pdf"), {"PDF (*.pdf)"}).isEmpty());
  CHECK(asked);
}

TEST_CASE("the chosen kind of file is the one that is written") {
  const QTemporaryDir dir;
  QWidget parent;
  Answers answers([&](QWidget& dialog) {
    auto* files = qobject_cast<QFileDialog*>(&dialog);
    if (!files) return;
    files->setDirectory(dir.path());
    auto* kinds = files->findChild<QComboBox*>("fileTypeCombo");
    kinds->setFocus();
    QTest::keyClick(kinds, Qt::Key_Down);
    files->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save)->click();
  });
  const QString path =
      ask_new_file(parent, "Export", dir.filePath("attention.pdf"), {"PDF (*.pdf)", "PNG (*.png)"});
  CHECK(QFileInfo(path).fileName().toStdString() == "attention.png");
}

TEST_CASE("a name with dots keeps them, and gets the ending of the kind of file") {
  const QTemporaryDir dir;
  QWidget parent;
  QString typed;
  bool other_kind = false;
  Answers answers([&](QWidget& dialog) {
    auto* files = qobject_cast<QFileDialog*>(&dialog);
    if (!files) return;
    files->setDirectory(dir.path());
    auto* line = files->findChild<QLineEdit*>();
    line->setText(typed);
    auto* kinds = files->findChild<QComboBox*>("fileTypeCombo");
    kinds->setFocus();
    if (other_kind) QTest::keyClick(kinds, Qt::Key_Down);
    type_name(*files, line->text());
  });
  const auto answer = [&](const QString& name, const QStringList& filters) {
    typed = name;
    const QString path = ask_new_file(parent, "Save", dir.filePath("a"), filters);
    return QFileInfo(path).fileName().toStdString();
  };
  const QStringList session{"Sessions (*.fovea.json *.json)"},
      figures{"PDF (*.pdf)", "SVG (*.svg)"};
  CHECK(answer("run1.5", session) == "run1.5.fovea.json");
  CHECK(answer("run1.json", session) == "run1.json");
  CHECK(answer("fig.v2", figures) == "fig.v2.pdf");
  CHECK(answer("fig.svg", figures) == "fig.svg");
  other_kind = true;
  CHECK(answer("fig.v2", figures) == "fig.v2.svg");
  CHECK(answer("fig.v2.pdf", figures) == "fig.v2.svg");
}

TEST_CASE("after a session that could not be written, saving writes the one before") {
  const QTemporaryDir dir;
  const QString own = dir.filePath("own.fovea.json");
  Window window(small);
  REQUIRE(window.save(own));
  REQUIRE_FALSE(window.save(dir.filePath("missing/s.fovea.json")));
  REQUIRE(QFile::remove(own));
  window.trigger("save");
  CHECK(wait_until([&] { return QFile::exists(own); }));
}

TEST_CASE("a directory that is no longer there is looked for as one, whatever its name") {
  const QTemporaryDir dir;
  const QString source = dir.filePath("layer0.head3"), session = dir.filePath("s.fovea.json");
  REQUIRE(QDir().mkdir(source));
  write_session(
      session.toStdString(),
      {.session = standard_session(source.toStdString(), 64), .content_hash = {}, .layout = {}});
  REQUIRE(QDir().rmdir(source));
  Window window(small);
  window->open(session);
  bool as_directory = false;
  window->files().ask_for_source = [&](const QString&, bool directory) {
    as_directory = directory;
    return QString();
  };
  window->findChild<QPushButton*>("remedy")->click();
  CHECK(as_directory);
}

TEST_CASE("what cannot be written when the program ends is said on the standard error stream") {
  static QStringList said;
  said.clear();
  const auto before = qInstallMessageHandler(
      [](QtMsgType, const QMessageLogContext&, const QString& message) { said << message; });
  auto background = std::make_shared<Background>();
  {
    QObject window;
    background->files.run([] { throw std::runtime_error("disk full"); }, &window,
                          [](const std::string&) { FAIL("there is no window"); });
    QTest::qSleep(50);  // the error waits for a window that ends
  }
  end_background(std::move(background));
  qInstallMessageHandler(before);
  CHECK(said.join("\n").contains("disk full"));
}

TEST_CASE("recent files are remembered by their whole paths") {
  const QString before = QDir::currentPath();
  REQUIRE(QDir::setCurrent(assets + "/text"));
  {
    Window window("fovea.txt");
    CHECK(QSettings().value("recent").toStringList().front() ==
          to_qt(address_of((assets + "/text/fovea.txt").toStdString())));
  }
  QDir::setCurrent(before);
}

TEST_CASE("sessions are among the recent files, and the selected column comes back with them") {
  const QTemporaryDir dir;
  const QString path = dir.filePath("a&b.fovea.json");
  {
    Window window("synthetic:clusters?n=64&d=8&seed=1");
    REQUIRE(window.study().columns().size() > 3);
    window.study().select_column(3);
    REQUIRE(window.save(path));
  }
  CHECK(QSettings().value("recent").toStringList().front() == path);
  {
    Window window("synthetic:golden");
    window->files().open(path);
    REQUIRE(wait_until([&] { return window.study().session().source != "synthetic:golden"; }));
    CHECK(window.study().selected_column() == 3);
    CHECK(QSettings().value("recent").toStringList().front() == path);
  }
  CHECK(QSettings().value("directory").toString() == dir.path());
  // In a menu a single & would mark a key.
  CHECK(escaped("a&b") == "a&&b");
}

TEST_CASE("a head made by a formula can be opened by its address") {
  Window window("synthetic:golden");
  Answers answers([&](QWidget& dialog) {
    auto* question = qobject_cast<QInputDialog*>(&dialog);
    REQUIRE(question);
    CHECK(question->textValue() == "synthetic:golden");
    question->setTextValue(" synthetic:needle?n=48&d=4&seed=3 ");
    question->accept();
  });
  window.trigger("open_address");
  REQUIRE(wait_until([&] { return window.study().length() == 48; }));
  CHECK(window.study().session().source == "synthetic:needle?n=48&d=4&seed=3");
}

TEST_CASE("a mask and a scale that were set by hand stay with their file") {
  const std::string one = "synthetic:clusters?n=64&d=8&seed=1";
  const auto opened = [](Window& window, Index n) {
    return wait_until([&] { return window.study().length() == n && !window.study().opening(); });
  };
  {
    Window window(QString::fromStdString(one));
    window->change("causal", [](Session& s) { s.conditions.causal = true; });
    window->change("scale", [](Session& s) { s.conditions.scale = 0.25; });
    window->open("synthetic:golden");
    REQUIRE(opened(window, 8));
    CHECK_FALSE(window.study().session().conditions.causal);
    CHECK_FALSE(window.study().session().conditions.scale);
    window->open(QString::fromStdString(one));
    REQUIRE(opened(window, 64));
    CHECK(window.study().session().conditions.causal == true);
    CHECK(window.study().session().conditions.scale == 0.25);
    window->change("causal", [](Session& s) { s.conditions.causal.reset(); });
    window->change("scale", [](Session& s) { s.conditions.scale.reset(); });
  }
  Window window("synthetic:golden");
  window->open(QString::fromStdString(one));
  REQUIRE(opened(window, 64));
  CHECK_FALSE(window.study().session().conditions.causal);
}

TEST_CASE(
    "a mask that was set belongs to the file itself, however it is named, and not to sessions") {
  const QTemporaryDir folder;
  const QString here = QDir::currentPath();
  std::vector<float> head(24 * 4);
  for (std::size_t i = 0; i < head.size(); ++i) head[i] = float(i % 5) - 2;
  for (const char* name : {"a", "b"}) {
    QDir(folder.path()).mkdir(name);
    write_safetensors(folder.filePath(name + QString("/q.safetensors")).toStdString(),
                      {{"q", {24, 4}, head}, {"k", {24, 4}, head}, {"v", {24, 4}, head}}, {});
  }
  const QString session = folder.filePath("old.fovea.json");
  Window window(small);
  const auto causal_in = [&](const QString& what) {
    window->open(what);
    REQUIRE(wait_until([&] { return window.study().length() == 24 && !window.study().opening(); }));
    const std::optional<bool> causal = window.study().session().conditions.causal;
    window->open(small);
    REQUIRE(wait_until([&] { return window.study().length() == 128; }));
    return causal;
  };
  QDir::setCurrent(folder.filePath("a"));
  window->open("q.safetensors");
  REQUIRE(wait_until([&] { return window.study().length() == 24 && window.study().settled(); }));
  CHECK(window.save(session));  // without a mask of its own
  window->change("causal", [](Session& s) { s.conditions.causal = true; });
  window->open(small);
  REQUIRE(wait_until([&] { return window.study().length() == 128; }));
  QDir::setCurrent(folder.filePath("b"));  // another file of that name
  CHECK_FALSE(causal_in("q.safetensors"));
  CHECK(causal_in(folder.filePath("a/q.safetensors")) == true);
  CHECK_FALSE(causal_in(session));
  CHECK(causal_in(folder.filePath("a/q.safetensors")) == true);
  QDir::setCurrent(here);
}

}  // namespace fovea::test
