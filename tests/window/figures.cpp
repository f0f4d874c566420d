// What an exported figure takes from the canvas.
#include <QCheckBox>
#include <QDir>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>

#include "everything_in.h"
#include "figure/figure.h"
#include "figure/pgf_file.h"
#include "input/session_file.h"
#include "temporary_directory.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/explore_dock.h"
#include "window/pointer.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("an exported figure names the tokens and has the output errors beside error maps") {
  Window window("content:" + assets + "/text/fovea.txt");
  show(window, {find_view("error")});
  const auto compared = [&] {
    return std::ranges::all_of(window.study().columns(), [](const ColumnState& c) {
      return c.metrics || is_reference(c.column.variant);
    });
  };
  REQUIRE(wait_until(compared));
  const auto& tokens = window.study().source()->sequence.tokens;
  QTemporaryDir folder;
  const QString path = folder.filePath("f.svg");
  FigureStyle style;
  // Wide enough that every token has room for its name.
  style.width = 10.0 * std::ssize(tokens) * std::ssize(window.study().columns());
  style.dpi = 10;
  REQUIRE(window.export_to(path, style));
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  const QString svg = QString::fromUtf8(file.readAll());
  check_svg(svg.toStdString());
  for (const char* name : {">sees<", ">the<"}) CHECK(svg.contains(name));
  CHECK(svg.contains("strip: output error |z̃ − z|, at most "));
}

TEST_CASE("an exported figure is dropped on the window to continue from it") {
  QTemporaryDir folder;
  for (const char* name : {"f.png", "f.svg", "f.pdf"}) {
    CAPTURE(name);
    const QString path = folder.filePath(name);
    Window window(small);
    show(window, {find_view("heatmap"), find_view("mask")}, {"exact", "hyper"});
    REQUIRE(window.settle());
    REQUIRE(window.export_to(path, FigureStyle{}));
    const Session before = window.study().session();
    CHECK(read_session(path.toStdString()).session == before);
    const std::string bytes = read_bytes(path.toStdString());
    window->open("synthetic:golden");
    REQUIRE(wait_until([&] { return window.study().session().source == "synthetic:golden"; }));
    REQUIRE(drop(window, path));
    REQUIRE(wait_until([&] { return window.study().session().source == before.source; }));
    CHECK(window.study().session() == before);
    CHECK(read_bytes(path.toStdString()) == bytes);
  }
}

TEST_CASE("the numbers of a panel are written as the panel has them") {
  QTemporaryDir folder;
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "hyper"});
  REQUIRE(window.settle());
  const QString path = folder.filePath("p.csv");
  window->exports().save_numbers_to(path, 0, 1);
  REQUIRE(wait_until([&] { return QFile::exists(path); }));
  const auto& raster = std::get<Raster>(panel(window, find_view("heatmap"), 1).body);
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  const QStringList lines = QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts);
  REQUIRE(lines.size() == raster.values.rows() + 1);
  for (Index r = 0; r < raster.values.rows(); ++r) {
    const QStringList cells = lines[r + 1].split(',');
    REQUIRE(cells.size() == raster.values.cols() + 1);
    for (Index c = 0; c < raster.values.cols(); ++c)
      CHECK(cells[c + 1].toFloat() == raster.values(r, c));
  }
}

TEST_CASE("a figure that carries no session names no source, path or user, whatever writes it") {
  const QTemporaryDir folder;
  const QString home = folder.filePath("alice_smith");
  REQUIRE(QDir().mkpath(home));
  const QString source = home + "/bobs_thesis.txt", other = home + "/carols_head.txt";
  for (const QString& file : {source, other})
    REQUIRE(QFile::copy(assets + "/text/fovea.txt", file));
  Window window("content:" + source);
  show(window, {find_view("heatmap")}, {"exact", "exact"});
  window->change("hold", [&](Session& s) {
    s.columns[1].held = HeldHead{.source = "content:" + other.toStdString(), .layer = 0, .head = 0};
  });
  REQUIRE(window.settle());
  QSettings().setValue("sweep/seconds", 10);
  window.trigger("sweep");
  SweepDialog& sweep = *window->sweep();
  REQUIRE(wait_until([&] { return sweep.run().complete(); }, 60000));
  window->findChild<QCheckBox*>("try_learned")->setChecked(false);
  window.trigger("explore");
  ExploreDock& explore = *window->exploration();
  REQUIRE(wait_until([&] { return explore.run().complete(); }, 60000));
  using Write = std::function<void(const QString& path, bool carries_session)>;
  const Write writes[] = {
      [&](const QString& path, bool carries) { window->exports().export_to(path, {}, carries); },
      [&](const QString& path, bool carries) {
        window->exports().export_panel_to(path, 0, 1, {}, carries);
      },
      [&](const QString& path, bool carries) { sweep.export_to(path, {}, carries); },
      [&](const QString& path, bool carries) { explore.export_plot(path, {}, carries); }};
  for (const Write& write : writes)
    for (const char* name : {"f.png", "f.svg", "f.pdf", "f.pgf"})
      for (const bool carries : {true, false}) {
        CAPTURE(&write - writes);
        CAPTURE(name);
        CAPTURE(carries);
        const QString path = folder.filePath(name);
        QFile::remove(path);
        write(path, carries);
        REQUIRE(wait_until([&] { return QFile::exists(path); }));
        QByteArray bytes = QByteArray::fromStdString(read_bytes(path.toStdString()));
        if (path.endsWith(".svg")) check_svg(bytes.toStdString());
        if (path.endsWith(".pgf"))
          bytes =
              everything_in(bytes) +
              everything_in(QByteArray::fromStdString(read_bytes(pgf_body(path.toStdString()))));
        const bool named = holds(bytes, "alice_smith") || holds(bytes, "bobs_thesis") ||
                           holds(bytes, "carols_head");
        CHECK(named == carries);
      }
}
