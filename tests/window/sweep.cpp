// The sweep over n: opened by its key, it grows beside what a person does, and says what it found.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "figure/painter_ink.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/dialogs/sweep_plot.h"
#include "window/harness.h"
#include "window/widgets/theme.h"

namespace fovea::test {
namespace {

const QString long_enough = "synthetic:clusters?n=4096&d=64&seed=1";

SweepDialog& open_sweep(Window& window, int seconds = 10) {
  QSettings().setValue("sweep/seconds", seconds);
  QTest::keyClick(&*window, Qt::Key_T, Qt::ControlModifier);
  if (!window->sweep()) window.trigger("sweep");  // without a window manager: no focus, no keys
  return *window->sweep();
}

void choose_columns(Window& window, const std::vector<std::string>& ids) {
  show(window, {find_view("heatmap")}, ids);
  REQUIRE(window.settle());
}

/// Whether the picture has the colour within a few pixels of the place.
bool drawn_at(const QImage& picture, QPointF at, QColor colour) {
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx) {
      const QPoint place = at.toPoint() + QPoint(dx, dy);
      if (!picture.valid(place)) continue;
      const QColor there = picture.pixelColor(place);
      const int distance = std::abs(there.red() - colour.red()) +
                           std::abs(there.green() - colour.green()) +
                           std::abs(there.blue() - colour.blue());
      if (distance < 30) return true;
    }
  return false;
}

void shoot(SweepDialog& dialog, const QString& name) {
  QDir().mkpath(FOVEA_SHOTS);
  dialog.grab().save(QString(FOVEA_SHOTS) + "/" + name + ".png");
}

}  // namespace

TEST_CASE("the sweep over n is measured, drawn in its colours and says where variants overtake") {
  Window window(long_enough);
  choose_columns(window, {"exact", "h1d", "strided"});
  SweepDialog& dialog = open_sweep(window);
  REQUIRE(dialog.isVisible());
  CHECK(dialog.run().running());
  const auto some = [&] { return dialog.run().sweep().series[0].points.size() >= 2; };
  CHECK(wait_until(some));  // it grows while it runs
  CHECK_FALSE(dialog.run().complete());
  shoot(dialog, "sweep-growing");
  REQUIRE(wait_until([&] { return dialog.run().complete(); }, 90000));

  const Sweep& sweep = dialog.run().sweep();
  REQUIRE(sweep.series.size() == 3);
  for (const SweepSeries& series : sweep.series) CHECK(series.points.size() == 5);  // 256 .. 4096
  // At 4096 tokens a hierarchy in blocks of 16 does a hundredth of the work of exact; at 256 it
  // does two thirds, in pieces that are dearer each. Only where between depends on the machine.
  const Crossover crossover = crossover_of(sweep, 1, SweepTime::total);
  CHECK(crossover.kind != Crossover::Kind::never);
  CHECK(dialog.plot().accessibleDescription().contains(
      QString::fromStdString("H-Transformer-1D: " + to_text(crossover))));
  CHECK(dialog.message_text().contains("AVX") == (sweep.device.find("AVX") != std::string::npos));

  for (const char* look : {"dark", "light"}) {
    apply_theme(*qApp, QString(look) == "dark");
    QTest::qWait(50);
    const QImage picture = dialog.plot().grab().toImage();
    const auto spots = dialog.plot().spots();
    CHECK(spots.size() == 5 * (3 + 3 + 2));
    std::size_t hidden = 0;
    for (const auto& [at, spot] : spots) {
      CHECK(QRectF(picture.rect()).contains(at));
      hidden += !drawn_at(
          picture, at,
          qcolor(drawing::screen_style(QString(look) == "dark").series_colour(spot.series)));
    }
    CHECK(hidden <= spots.size() / 4);  // where curves meet, one marker covers another
    shoot(dialog, QString("sweep-") + look);
  }
}

TEST_CASE("the sweep is read by mouse and keys, copied as a table and exported") {
  Window window("synthetic:clusters?n=512&d=32&seed=1");
  choose_columns(window, {"exact", "tf", "hyper"});
  SweepDialog& dialog = open_sweep(window);
  REQUIRE(wait_until([&] { return dialog.run().complete(); }));
  const auto* reading = dialog.findChild<QLabel*>("sweep_reading");
  dialog.plot().choose(std::nullopt);
  QTest::keyClick(&dialog.plot(), Qt::Key_Right);
  CHECK(reading->text().startsWith("Exact, n = 64: "));
  QTest::keyClick(&dialog.plot(), Qt::Key_Down);
  QTest::keyClick(&dialog.plot(), Qt::Key_Down);
  CHECK(reading->text().startsWith("HyperAttention, n = 64: "));
  CHECK(reading->text().contains("fitted to this n: block 8"));
  QTest::keyClick(&dialog.plot(), Qt::Key_Left);  // there is nothing shorter
  CHECK(reading->text().startsWith("HyperAttention, n = 64: "));
  const auto [at, spot] = dialog.plot().spots().front();
  QTest::mouseMove(&dialog.plot(), at.toPoint());
  CHECK(wait_until([&] { return reading->text().startsWith("Exact, n = 64: "); }));

  dialog.copy_table();
  const QString table = QApplication::clipboard()->text();
  CHECK(table.count('\n') == 1 + 3 * 4);
  CHECK(table.contains("output_rel_fro"));
  const QTemporaryDir folder;
  FigureStyle style;
  style.width = 504;
  for (const char* name : {"sweep.png", "sweep.svg", "sweep.pdf"}) {
    dialog.export_to(folder.filePath(name), style);
    CHECK(wait_until([&] { return dialog.message_text().startsWith("Wrote"); }));
    CHECK(QFileInfo(folder.filePath(name)).size() > 5000);
  }
  dialog.export_to(folder.filePath("sweep.txt"), style);
  CHECK(wait_until([&] { return dialog.message_text().contains(".png, .svg, .pdf or .pgf"); }));

  // Apply alone is another picture of the same measurements.
  const QImage before = dialog.plot().grab().toImage();
  dialog.findChildren<QComboBox*>().front()->setCurrentIndex(1);
  CHECK(dialog.plot().grab().toImage() != before);
  CHECK(dialog.run().complete());
}

TEST_CASE("the outcome of an export stays while the sweep goes on") {
  Window window(long_enough);
  choose_columns(window, {"exact", "h1d"});
  SweepDialog& dialog = open_sweep(window, 20);
  REQUIRE(wait_until([&] { return !dialog.run().sweep().series[0].points.empty(); }));
  const QTemporaryDir folder;
  const auto says = [&](const char* words) { return dialog.message_text().contains(words); };
  dialog.export_to(folder.filePath("sweep.png"), FigureStyle{});
  REQUIRE(wait_until([&] { return says("Wrote"); }));
  QSignalSpy progress(&dialog.run(), &SweepRun::changed);
  REQUIRE(wait_until([&] { return progress.count() >= 2; }));
  CHECK(says("Wrote"));
  dialog.run().stop();
  dialog.findChild<QPushButton*>("sweep_measure")->click();
  CHECK_FALSE(says("Wrote"));  // another sweep
}

TEST_CASE("the sweep yields to other requests, ends with its head and says when it is stale") {
  Window window(long_enough);
  choose_columns(window, {"exact", "h1d"});
  SweepDialog& dialog = open_sweep(window, 20);
  REQUIRE(wait_until([&] { return !dialog.run().sweep().series[0].points.empty(); }));
  // A reading is answered while the sweep goes on.
  bool read = false;
  QObject::connect(&window.study(), &Study::pair_read, &dialog,
                   [&](std::shared_ptr<const PairReading> reading) { read = read || reading; });
  window.study().hover(100, 200, 0);
  CHECK(wait_until([&] { return read; }));
  CHECK(dialog.run().running());
  // Another parameter: the sweep goes on, and is marked as stale.
  window->change("block", [](Session& s) {
    set_value(find_variant("h1d").schema, s.columns[1].values, "block", "64");
  });
  REQUIRE(window.settle());
  CHECK(dialog.run().running());
  CHECK(dialog.run().stale());
  REQUIRE(wait_until([&] { return dialog.run().complete(); }, 90000));
  CHECK(dialog.message_text().contains("measure again"));
  dialog.findChild<QPushButton*>("sweep_measure")->click();
  CHECK(dialog.run().running());
  CHECK_FALSE(dialog.run().stale());
  // Cancelled, it keeps what it has.
  REQUIRE(wait_until([&] { return dialog.run().sweep().series[1].points.size() >= 2; }));
  dialog.findChild<QPushButton*>("sweep_measure")->click();
  CHECK_FALSE(dialog.run().running());
  CHECK(dialog.run().sweep().series[1].points.size() >= 2);
  CHECK(dialog.message_text().contains("Stopped"));
  dialog.findChild<QPushButton*>("sweep_measure")->click();
  window->change("causal", [](Session& s) { s.conditions.causal = true; });
  CHECK(wait_until([&] { return !dialog.run().running(); }));
  CHECK(dialog.run().stale());
}

TEST_CASE("a sweep counts the columns that it leaves out, which hold a head of their own") {
  Window window("synthetic:clusters?n=256&d=8&heads=2&seed=1");
  choose_columns(window, {"exact", "h1d", "strided"});
  window.study().select_column(2);
  window->editor().hold_head(true);
  REQUIRE(window.settle());
  SweepDialog& dialog = open_sweep(window, 20);
  REQUIRE(wait_until([&] { return dialog.run().complete(); }, 90000));
  CHECK(dialog.run().sweep().series.size() == 2);
  CHECK(dialog.message_text().contains("columns left out because they hold a head: 1"));
}

TEST_CASE("a sweep without a head says why, and the window closes while one runs") {
  {
    Window window("synthetic:hmatrix");
    SweepDialog& dialog = open_sweep(window);
    CHECK_FALSE(dialog.run().running());
    CHECK(dialog.plot().accessibleDescription().contains("only an attention matrix"));
    CHECK_FALSE(dialog.findChild<QPushButton*>("sweep_measure")->isEnabled());
    shoot(dialog, "sweep-nothing");
  }
  Window window(long_enough);
  choose_columns(window, {"exact", "h1d"});
  SweepDialog& dialog = open_sweep(window, 300);
  wait_until([&] { return dialog.run().sweep().series[0].points.size() >= 4; });
  CHECK(dialog.run().running());
  window.close();
}

}  // namespace fovea::test
