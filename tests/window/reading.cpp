// Everything in the window can be read: no words are cut, and nothing is blank without a reason.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QSpinBox>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "evaluate/resident_use.h"
#include "figure/painter_ink.h"
#include "io/safetensors_writer.h"
#include "study/background.h"
#include "view_values.h"
#include "views/views.h"
#include "window/docks/pointer_box.h"
#include "window/harness.h"
#include "window/row_settings.h"
#include "window/run_window.h"
#include "window/widgets/fold.h"
#include "window/widgets/info_bar.h"
#include "window/widgets/theme.h"

namespace fovea::test {
namespace {

const QString picture = "content:" + assets + "/image/cat.jpg";

bool patches(Window& window, int patch) {
  return wait_until([&] {
    return window.study().session().patch == patch && !window.study().opening() &&
           window.study().settled();
  });
}

/// Decompositions take seconds and are not what is tested.
void without_ranks(Window& window) {
  window->change("views", [](Session& s) {
    s.views = {find_view("heatmap"), find_view("output")};
  });
}

bool some_label_says(const QWidget& in, const QString& words) {
  const auto labels = in.findChildren<QLabel*>();
  return std::ranges::any_of(labels, [&](const QLabel* label) {
    return label->isVisibleTo(&in) && label->text().contains(words);
  });
}

}  // namespace

TEST_CASE("each file of the command line has a window of its own") {
  const auto windows = open_windows({"synthetic:golden", "synthetic:gaussian?n=24&d=4"}, {},
                                    std::make_shared<Background>());
  REQUIRE(windows.size() == 2);
  for (const auto& window : windows)
    CHECK(wait_until([&] { return window->isVisible() && window->study().settled(); }));
  CHECK(windows[0]->study().length() == 8);
  CHECK(windows[1]->study().length() == 24);
  // A closed window is freed, and the other one goes on.
  const QPointer<MainWindow> closed = windows[0], open = windows[1];
  const QPointer<Study> study = &closed->study();
  closed->close();
  CHECK(wait_until([&] { return !closed; }));
  CHECK_FALSE(study);
  REQUIRE(open);
  CHECK(open->isVisible());
  open->close();
  CHECK(wait_until([&] { return !open; }));
}

TEST_CASE("the patch of an image is chosen in the window, undo and redo open it again") {
  Window window(picture);
  auto* patch = window->findChild<QSpinBox*>("patch");
  REQUIRE(patch);
  CHECK(patch->isVisible());
  CHECK(patch->value() == 8);
  CHECK(window.study().length() == 1024);
  without_ranks(window);
  patch->setValue(16);
  REQUIRE(patches(window, 16));
  CHECK(window.study().length() == 256);
  CHECK(window.study().source()->sequence.grid->rows == 16);
  CHECK(window.study().session().viewport == Viewport{0, 256, 0, 256});
  window.trigger("undo");
  REQUIRE(patches(window, 8));
  CHECK(window.study().length() == 1024);
  CHECK(window.study().session().viewport == Viewport{0, 1024, 0, 1024});
  CHECK(patch->value() == 8);
  window.trigger("redo");
  REQUIRE(patches(window, 16));
  CHECK(window.study().length() == 256);
  CHECK(window.study().session().viewport == Viewport{0, 256, 0, 256});
  window->open(small);
  REQUIRE(wait_until([&] { return window.study().length() == 128; }));
  CHECK_FALSE(patch->isVisible());
}

TEST_CASE("a session keeps the patch size, a session without one has 8") {
  QTemporaryDir dir;
  const QString path = dir.filePath("s.fovea.json");
  Window window(picture);
  without_ranks(window);
  window->findChild<QSpinBox*>("patch")->setValue(32);
  REQUIRE(patches(window, 32));
  REQUIRE(window.save(path));
  const Session saved = window.study().session();
  window->open(small);
  REQUIRE(wait_until([&] { return window.study().length() == 128; }));
  window->open(path);
  REQUIRE(wait_until([&] { return window.study().session() == saved; }));
  CHECK(window.study().length() == 64);

  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  QByteArray text = file.readAll();
  file.close();
  text.replace("\"patch\": 32,", "");
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(text);
  file.close();
  CHECK(read_session(path.toStdString()).session.patch == 8);
}

TEST_CASE("all tools are visible on a screen of 1280 pixels") {
  Window window(small, {1280, 720});
  const auto* bar = window->findChild<QToolBar*>("view_bar");
  CHECK_FALSE(bar->findChild<QToolButton*>("qt_toolbar_ext_button")->isVisible());
  for (const char* name : {"view_Map", "view_Range", "view_Pool"}) {
    const auto* field = window->findChild<QWidget*>(name);
    REQUIRE(field);
    CAPTURE(name);
    CHECK(field->isVisible());
  }
  window.shoot("laptop");
}

TEST_CASE("names of pixels of a long image are not cut among the top keys") {
  const QTemporaryDir directory;
  const QString path = directory.filePath("wide.png");
  REQUIRE(QImage(assets + "/image/cat.jpg").scaled(110, 100).save(path));
  Window window("content:" + path);
  window->findChild<QSpinBox*>("patch")->setValue(1);
  const auto named = [&] {
    return std::ranges::count_if(window->findChildren<QLabel*>(), [](const QLabel* label) {
      return label->text().endsWith("10050 (91, 40)");
    });
  };
  REQUIRE(wait_until([&] { return window.study().length() == 11000; }));
  window->change("pin",
                 [](Session& s) { s.pinned_query = 10050; });  // its largest weight is its own
  CHECK(wait_until([&] { return named() >= 1; }));             // perhaps among the lost keys, too
}

TEST_CASE("on a narrow screen a button offers the tools that do not fit") {
  Window window(small);
  auto* bar = window->findChild<QToolBar*>("view_bar");
  bar->setMaximumWidth(500);
  auto* more = bar->findChild<QToolButton*>("qt_toolbar_ext_button");
  REQUIRE(wait_until([&] { return more->isVisible(); }));
  CHECK(more->text() == "»");
  CHECK(more->toolButtonStyle() == Qt::ToolButtonTextOnly);
  const auto* tool = bar->widgetForAction(window->findChild<QAction*>("export"));
  CHECK_FALSE(tool->isVisible());
  more->click();
  CHECK(wait_until([&] { return tool->isVisible(); }));
}

TEST_CASE("a variant that is fitted to all tokens says so where a query may not see all of them") {
  Window window(small);
  const auto select = [&](const std::string& id) {
    window.study().select_column(column_of(window, id));
    QTest::qWait(50);
  };
  for (const bool causal : {false, true}) {
    window->change("causal", [&](Session& s) { s.conditions.causal = causal; });
    REQUIRE(window.settle());
    for (const char* id : {"tf", "tc", "hyper"}) {
      CAPTURE(id);
      select(id);
      CHECK(some_label_says(*window, "built from all tokens, also from those after a query.") ==
            causal);
    }
    select("strided");
    CHECK_FALSE(some_label_says(*window, "built from all tokens"));
  }
}

TEST_CASE("a mask that no file states is said to be assumed until somebody sets it") {
  const QTemporaryDir dir;
  const std::string path = dir.filePath("heads.safetensors").toStdString();
  std::vector<float> numbers(32 * 4, 0.5f);
  write_safetensors(
      path, {{"q", {32, 4}, numbers}, {"k", {32, 4}, numbers}, {"v", {32, 4}, numbers}}, {});
  Window window(QString::fromStdString(path));
  REQUIRE(window.settle());
  window->findChild<Fold*>("fold_facts")->set_open(true);
  auto* warning = window->findChild<QLabel*>("mask_warning");
  REQUIRE(warning);
  CHECK(warning->isVisibleTo(window->window()));
  CHECK(warning->text().contains("bidirectional is assumed"));
  CHECK(some_label_says(*window, "mask none (bidirectional): not stated"));
  CHECK(some_label_says(*window, "scale 0.5: 1/√d, not stated"));
  emit warning->linkActivated("causal");
  REQUIRE(window.settle());
  CHECK(window.study().problem()->causal);
  CHECK_FALSE(warning->isVisibleTo(window->window()));
  CHECK(some_label_says(*window, "mask causal: set by hand"));
  window->change("causal", [](Session& s) { s.conditions.causal.reset(); });
}

TEST_CASE("the comparison has every measure of every column, is sorted by one and is copied") {
  Window window(small);
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(window.study().columns(), [](const ColumnState& c) {
      return c.metrics && c.time && (c.time->total_speed_up || is_reference(c.column.variant));
    });
  }));
  auto* table = window->findChild<QTableWidget*>("comparison");
  REQUIRE(table);
  window->docks().show("Comparison");
  REQUIRE(wait_until([&] { return table->columnCount() == int(window.study().columns().size()); }));
  const auto row_of_measure = [&](const QString& label) {
    for (int row = 0; row < table->rowCount(); ++row)
      if (table->verticalHeaderItem(row)->text().endsWith(label)) return row;
    return -1;
  };
  const int error = row_of_measure("relative output error");
  REQUIRE(error >= 0);
  int bold = 0;
  for (int c = 0; c < table->columnCount(); ++c) {
    const auto& metrics = window.study().columns()[std::size_t(c)].metrics;
    const bool reference = is_reference(window.study().columns()[std::size_t(c)].column.variant);
    CHECK(table->item(error, c)->text() ==
          (reference ? "" : QString::fromStdString(format_number(metrics->output_rel_fro, 4))));
    bold += table->item(error, c)->font().bold();
  }
  CHECK(bold == 1);
  CHECK(table->verticalHeaderItem(error)->toolTip().contains("Frobenius"));
  for (const char* label : {"total variation, mean", "KL(exact ‖ approximate), nats",
                            "multiply-adds", "time, total", "speed-up, total"})
    CHECK(row_of_measure(label) >= 0);
  // A click sorts the columns, and a second one leads back.
  const QString first = table->horizontalHeaderItem(0)->text();
  emit table->verticalHeader()->sectionClicked(error);
  CHECK(table->item(error, 0)->font().bold());
  CHECK(table->horizontalHeaderItem(0)->text() != first);
  for (int c = 1; c + 1 < table->columnCount(); ++c)
    CHECK(table->item(error, c - 1)->text().toDouble() <= table->item(error, c)->text().toDouble());
  emit table->verticalHeader()->sectionClicked(error);
  CHECK(table->horizontalHeaderItem(0)->text() == first);
  const auto actions = window->findChild<QDockWidget*>("Comparison")->findChildren<QAction*>();
  const auto copy = std::ranges::find(actions, "As &LaTeX", &QAction::text);
  REQUIRE(copy != actions.end());
  (*copy)->trigger();
  CHECK(QApplication::clipboard()->text().startsWith("\\begin{tabular}"));
}

TEST_CASE("timing shows the number of runs") {
  Window window(small);
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(window.study().columns(),
                               [](const ColumnState& c) { return c.time != nullptr; });
  }));
  for (const ColumnState& column : window.study().columns()) {
    CHECK(column.time->timing.total.samples > 0);
    CHECK(column.time->timing.apply_total.median_ms > 0);
  }
}

TEST_CASE("timing shows every number below its heading") {
  Window window(small);
  Study& study = window.study();
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(study.columns(),
                               [](const ColumnState& c) { return c.time != nullptr; });
  }));
  study.cancel();  // no more runs
  const QTableWidget& table = *window->docks().timing;
  const auto cell = [&](int row, const QString& heading) {
    for (int place = 0; place < table.columnCount(); ++place)
      if (table.horizontalHeaderItem(place)->text() == heading)
        return table.item(row, place)->text();
    return QString("no such heading");
  };
  const auto time = [](double ms) { return QString::fromStdString(format_time(ms)); };
  const auto is = [](const QString& shown, const SpeedUp& ratio) {
    return shown.toStdString() == (ratio.equal()       ? "no difference"
                                   : ratio.undecided() ? "not decided"
                                                       : to_text(ratio));
  };
  // Runs that had ended are still taken, and shown.
  REQUIRE(wait_until([&] {
    for (int row = 1; row < table.rowCount(); ++row) {
      const MeasuredTime* known = study.columns()[std::size_t(row)].time.get();
      if (cell(row, "total") != time(known->timing.total.median_ms) ||
          cell(row, "runs") != QString::number(known->timing.total.samples))
        return false;
    }
    return !study.status().busy() && study.settled();
  }));
  for (int row = 1; row < table.rowCount(); ++row) {
    const ColumnState& column = study.columns()[std::size_t(row)];
    const Timing& its = column.time->timing;
    CAPTURE(column.column.variant);
    CHECK(cell(row, "total") == time(its.total.median_ms));
    CHECK(cell(row, "p10 – p90") == time(its.total.p10_ms) + " – " + time(its.total.p90_ms));
    CHECK(cell(row, "apply") == time(its.apply_total.median_ms));
    CHECK(cell(row, "runs") == QString::number(its.total.samples));
    CHECK(is(cell(row, "total ×"), *column.time->total_speed_up));
    CHECK(is(cell(row, "apply ×"), *column.time->apply_speed_up));
    const QString basis = QString::fromStdString(basis_text(*column.time->total_speed_up));
    CHECK(basis.contains("of the ratio"));
    CHECK(table.item(row, 0)->toolTip().contains(basis));
    CHECK(cell(row, "first") == time(column.computation->first_run.total_ms()));
    const bool learns = !find_variant(column.column.variant).learning_stages.empty();
    CHECK(cell(row, "building") == (learns ? time(its.learning.median_ms) : "–"));
    CHECK(cell(row, "memory") ==
          QString::fromStdString(format_bytes(column.computation->cost.bytes)));
    const SpeedUp& ratio = *column.time->total_speed_up;
    if (!ratio.interval || ratio.undecided()) continue;
    // The Answer has the same digits: 1.05 is not 1.0.
    const QString whole = QString::fromStdString(to_text(ratio));
    study.select_column(row);
    CHECK(wait_until([&] {
      const auto labels = window->findChildren<QLabel*>();
      return std::ranges::any_of(labels, [&](const QLabel* label) {
        return label->text() == "as fast " + whole.mid(whole.indexOf('('));
      });
    }));
  }
}

TEST_CASE("timing distinguishes counted memory from measured memory") {
  Window window(small);
  Study& study = window.study();
  REQUIRE(wait_until([&] { return study.columns()[0].time != nullptr; }));
  CHECK(window.timing_text().contains("counted, of plan and operator"));
  REQUIRE(study.columns()[0].memory);              // on Linux, where the tests run
  CHECK(study.columns()[0].memory->before > 1e6);  // a window with its libraries
  CHECK(study.columns()[0].memory->peak >= study.columns()[0].memory->before);
  CHECK(window.timing_text().contains("measured: the peak of the process"));
}

TEST_CASE("a click on a row of the timing dock selects its column") {
  Window window(small);
  QTableWidget& table = *window->docks().timing;
  REQUIRE(table.rowCount() > 2);
  const auto click = [&](int row, int column) {
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                      table.visualItemRect(table.item(row, column)).center());
    return window.study().selected_column();
  };
  CHECK(click(2, 0) == 2);
  CHECK(click(0, 1) == 0);
}

TEST_CASE("a rise of resident memory is measured, and work that allocates nothing raises nothing") {
  const auto none = resident_use_of([] { QThread::msleep(20); });
  REQUIRE(none);
  CHECK(none->rise() < 16 << 20);  // memory of another test may still be released
  const auto much = resident_use_of([] {
    std::vector<char> bytes(256 << 20, 1);  // a new mapping: no heap keeps so much
    QThread::msleep(20);
    CHECK(bytes[bytes.size() / 2] == 1);
  });
  REQUIRE(much);
  CHECK(much->rise() > 0.9 * (256 << 20));
}

TEST_CASE("light and dark follow the desktop unless one is chosen") {
  Window window(small);
  const auto desktop_becomes = [&](bool dark) {
    window->ask_desktop = [dark] { return dark; };
    QEvent event(QEvent::ThemeChange);  // as Qt sends it to every window
    QCoreApplication::sendEvent(window->windowHandle(), &event);
    QTest::qWait(50);
  };
  for (const bool dark : {true, false, true}) {
    desktop_becomes(dark);
    CHECK(window_is_dark() == dark);
    CHECK(qApp->palette().color(QPalette::Window) == qcolor(window_style().ground));
    CHECK(wait_until([&] { return window.study().model()->dark == dark; }));
  }
  for (QAction* action : window->findChildren<QAction*>())
    if (action->text() == "Light") action->trigger();
  CHECK_FALSE(window_is_dark());
  desktop_becomes(true);
  CHECK_FALSE(window_is_dark());
}

TEST_CASE("tiles and rank leaves fit a short text") {
  Window window("synthetic:clusters?n=32&d=16&seed=1");
  const ViewSettings& settings = window.study().session().settings;
  CHECK(view_value(settings, "mask_block") == "2");
  CHECK(view_value(settings, "rank_leaf") == "2");
  const auto shown = [&](const char* view, const char* field) {
    return window.row_settings(find_view(view)).findChild<QComboBox*>(field)->currentText();
  };
  CHECK(shown("mask", "view_Tiles") == "2");
  CHECK(shown("rank", "view_Leaf") == "2");
}

}  // namespace fovea::test
