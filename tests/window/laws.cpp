// What the window promises: inputs, sessions, exports and back ends.
#include <doctest/doctest.h>

#include <QAction>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include "data/error.h"
#include "figure/figure.h"
#include "study/background.h"
#include "window/backend.h"
#include "window/harness.h"
#include "window/widgets/info_bar.h"

namespace fovea::test {
namespace {

/// A device that was there when the window opened and fails at the first plan it is given.
class LostDevice : public CpuLike {
 public:
  std::string id() const override { return "lost"; }
  std::string device() const override { return "a device that is gone"; }
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan>, const Problem&, Run&) const override {
    throw DeviceLostError("the device does not answer");
  }
};

std::size_t pictures(const Study& study) {
  std::size_t count = 0;
  for (const auto& row : study.model()->cells)
    for (const CanvasCell& cell : row) count += cell.panel && !cell.stale;
  return count;
}

std::size_t cells(const Study& study) {
  return study.session().columns.size() * study.session().views.size();
}

}  // namespace

TEST_CASE("every kind of input is drawn in every cell") {
  for (const QString& what :
       {small, QString("synthetic:golden"), "content:" + assets + "/text/fovea.txt",
        "content:" + assets + "/image/cat.jpg", assets + "/text/fovea.txt",
        assets + "/image/cat.jpg", assets + "/minilm/minilm-l6.safetensors"}) {
    CAPTURE(what.toStdString());
    Window window(what);
    CHECK(window.study().settled());
    REQUIRE(window.study().model());
    CHECK(pictures(window.study()) == cells(window.study()));
    CHECK(window->info_bar().message().isEmpty());
    window.shoot("open_" + QFileInfo(what.section('?', 0, 0)).baseName().section(':', -1));
  }
}

TEST_CASE("columns are added and removed, and undo brings them back") {
  Window window(small);
  const auto before = window.study().session();
  window->change("add", [](Session& s) { s.columns.push_back(s.columns.back()); });
  REQUIRE(window.settle());
  CHECK(window.study().session().columns.size() == before.columns.size() + 1);
  CHECK(pictures(window.study()) == cells(window.study()));
  window.study().select_column(0);
  window.trigger("remove");
  REQUIRE(window.settle());
  CHECK(window.study().session().columns.size() == before.columns.size());
  window.trigger("undo");
  window.trigger("undo");
  CHECK(window.study().session() == before);
  window.trigger("redo");
  CHECK(window.study().session().columns.size() == before.columns.size() + 1);
}

TEST_CASE("a slider dragged is one step of undo") {
  Window window(small);
  const auto before = window.study().session();
  for (int floor = 2; floor < 9; ++floor)
    window->change("settings", [&](Session& s) { s.settings.log_floor = 0.01 * floor; });
  window.trigger("undo");
  CHECK(window.study().session() == before);
}

TEST_CASE("hovering reads the pair, and pinning reads the row") {
  Window window(small);
  std::shared_ptr<const PairReading> pair;
  std::shared_ptr<const RowReading> row;
  QObject::connect(&window.study(), &Study::pair_read, [&](auto reading) { pair = reading; });
  QObject::connect(&window.study(), &Study::row_read, [&](auto reading) { row = reading; });
  emit window->canvas().hovered(5, 7, 1, 0);
  CHECK(wait_until([&] { return pair && pair->query == 5 && pair->key == 7; }));
  emit window->canvas().hovered(-1, -1, 0, 0);
  emit window->canvas().query_pinned(9);
  CHECK(wait_until([&] { return row && row->query == 9; }));
  CHECK(window.study().session().pinned_query == 9);
  double sum = 0;
  for (float p : row->values) sum += p;
  CHECK(sum == doctest::Approx(1).epsilon(1e-5));  // 128 rounded numbers
}

TEST_CASE("zooming requests the visible part, fitting requests everything") {
  Window window(small);
  window.trigger("zoom_in");
  REQUIRE(window.settle());
  const auto& panel = *window.study().model()->cells[0][0].panel;
  REQUIRE(std::holds_alternative<Raster>(panel.body));
  CHECK(std::get<Raster>(panel.body).rows.size() < 128);
  window.trigger("fit");
  CHECK(window.study().session().viewport == Viewport{0, 128, 0, 128});
}

TEST_CASE("a bad file is reported and the old picture stays") {
  QTemporaryDir dir;
  const QString path = dir.filePath("bad.safetensors");
  QFile file(path);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write("not tensors at all");
  file.close();
  Window window(small);
  drop(window, path);
  CHECK(wait_until([&] { return window->info_bar().message().contains("bad.safetensors"); }));
  REQUIRE(window.settle());
  CHECK(window.study().source()->path == small.toStdString());
  CHECK(pictures(window.study()) == cells(window.study()));
  window.shoot("bad_file");
}

TEST_CASE("export writes all three formats, and reports when it cannot") {
  QTemporaryDir dir;
  Window window(small);
  for (const char* name : {"f.png", "f.svg", "f.pdf"}) {
    CHECK(window.export_to(dir.filePath(name), FigureStyle{}));
    CHECK(QFile(dir.filePath(name)).size() > 1000);
  }
  CHECK_FALSE(window.export_to("/nowhere/f.png", FigureStyle{}));
  CHECK_FALSE(window->info_bar().message().isEmpty());
}

TEST_CASE("a session saved and opened is the same session") {
  QTemporaryDir dir;
  const QString path = dir.filePath("s.fovea.json");
  Window window("content:" + assets + "/text/fovea.txt");
  window->change("test", [](Session& s) {
    s.pinned_query = 3;
    s.conditions.causal = true;
    s.settings.norm = Norm::linear;
    s.columns.back().seed = 18446744073709551615u;
  });
  REQUIRE(wait_until([&] { return !window.study().content_hash().empty(); }));
  const Session saved = window.study().session();
  REQUIRE(window.save(path));
  CHECK(read_session(path.toStdString()).content_hash == window.study().content_hash());
  window->open(small);
  REQUIRE(wait_until([&] { return window.study().session().source == small.toStdString(); }));
  window->open(path);
  REQUIRE(wait_until([&] { return window.study().session() == saved; }));
  CHECK(window->info_bar().message().isEmpty());
}

TEST_CASE("a broken session file says what was expected") {
  QTemporaryDir dir;
  const auto refused = [&](const QByteArray& text, const std::string& word) {
    const QString path = dir.filePath("s.json");
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return false;
    file.write(text);
    file.close();
    try {
      read_session(path.toStdString());
    } catch (const InputError& error) {
      return std::string(error.what()).find(word) != std::string::npos;
    }
    return false;
  };
  CHECK(refused("{", "s.json"));
  CHECK(refused("[]", "an object"));
  CHECK(refused(R"({"fovea_session": 99})", "version 99"));
  CHECK(refused(R"({"fovea_session": 1, "content_sha256": 4})", "content_sha256"));
}

TEST_CASE("cancel stops the work and keeps what is there, and opening starts it again") {
  Window window(small);
  window->open("synthetic:clusters?n=16384&d=64&seed=1");
  REQUIRE(wait_until(
      [&] { return window.study().session().source.find("16384") != std::string::npos; }));
  window.trigger("cancel");
  CHECK(wait_until([&] { return !window.study().status().busy(); }));
  CHECK(window.study().paused());
  window->open(small);
  CHECK(window.settle());
}

TEST_CASE("a source that cannot be opened is reported over an empty canvas in the window's look") {
  QSettings().setValue("look", "light");
  MainWindow window(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  window.resize(1200, 800);
  window.show();
  window.open("/nonesuch/file.safetensors");
  REQUIRE(wait_until([&] {
    return !window.study().opening() && window.findChild<InfoBar*>()->isVisible() &&
           window.study().model();
  }));
  CHECK(!window.study().model()->dark);
  CHECK(window.study().model()->is_empty());
  QSettings().setValue("look", "dark");
}

TEST_CASE("another back end computes everything again, and the session stays") {
  Window window("synthetic:clusters?n=128&d=32&seed=1");
  REQUIRE(window.settle());
  Study& study = window.study();
  const Session before = study.session();
  const auto old = study.columns().front().computation;
  study.use_backend(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  CHECK(study.columns().front().computation == nullptr);
  REQUIRE(window.settle());
  CHECK(study.session() == before);
  CHECK(study.backend().device().find("1 thread") != std::string::npos);
  REQUIRE(study.columns().front().computation);
  CHECK(study.columns().front().computation != old);
  CHECK(study.columns().front().computation->device == study.backend().device());
}

TEST_CASE("a file that is being opened is opened in spite of a change of back end") {
  Window window(small);
  window->open("synthetic:clusters?n=200&d=32&seed=1");
  window.study().use_backend(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  CHECK(window.study().opening());
  REQUIRE(wait_until([&] { return window.study().length() == 200; }));
  CHECK(window.settle());
}

TEST_CASE("a lost device is reported, and everything is computed on the CPU") {
  Window window(small);
  Study& study = window.study();
  QStringList said;
  QObject::connect(&study, &Study::reported, &study, [&](const QString& text) { said << text; });
  study.use_backend(std::make_unique<LostDevice>());
  REQUIRE(wait_until([&] { return study.backend().id() == "cpu"; }));
  REQUIRE(window.settle());
  CHECK(pictures(study) == cells(study));
  REQUIRE(said.size() == 1);
  CHECK(said[0].startsWith("the device does not answer"));
  CHECK(said[0].contains("computed again on the CPU"));
  CHECK(said[0].contains("Compute > Back end starts the GPU again"));
}

}  // namespace fovea::test
