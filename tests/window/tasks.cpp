// The fourteen tasks of tests/gui/tasks.md, with the gestures that they name.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>

#include "io/safetensors_writer.h"
#include "variants/learned_tree.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/head_gallery.h"
#include "window/docks/pareto_plot.h"
#include "window/open_triage.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

const QString example = assets + "/minilm/minilm-l6.safetensors";

void choose(QComboBox& box, int place) {
  box.setCurrentIndex(place);
  emit box.activated(place);
}

QString text_of(Window& window, const char* label) {
  return window->findChild<QLabel*>(label)->text();
}

/// A bidirectional head of 64 tokens whose values, and so outputs, are 1, with results of a kernel.
void write_head_of_ones(const QString& path, std::vector<OutTensor> results) {
  std::vector<OutTensor> tensors = std::move(results);
  for (const auto& [name, value] : {std::pair{"q", 0.0f}, {"k", 0.0f}, {"v", 1.0f}})
    tensors.push_back({name, {1, 64, 8}, std::vector(64 * 8, value)});
  write_safetensors(path.toStdString(), tensors, {{"causal", "false"}});
}

void select_by_click(Window& window, const std::string& variant) {
  click(window, at(window, find_view("heatmap"), column_of(window, variant), 0.5, 0.5));
  REQUIRE(window.study().selected_column() == column_of(window, variant));
}

}  // namespace

TEST_CASE("task 1: the head where HyperAttention fails worst, its worst token, and why") {
  Window window(example);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "hyper"});
  REQUIRE(window.settle());
  select_by_click(window, "hyper");
  window->findChild<QCheckBox*>("all_layers")->click();
  choose(*window->findChild<QComboBox*>("head_order"), 1);
  auto* gallery = window->findChild<HeadGallery*>();
  const auto error = [&](int i) {
    return window.study().head_error(gallery->head(i).first, gallery->head(i).second);
  };
  const auto sorted = [&] {
    for (int i = 1; i < gallery->count(); ++i)
      if (!error(i) || *error(i) > error(i - 1)) return false;
    return true;
  };
  REQUIRE(wait_until(sorted));
  QTest::mouseClick(gallery->viewport(), Qt::LeftButton, {}, {10, 10});
  REQUIRE(window.settle());
  const auto& hyper = [&]() -> const ColumnState& { return window.study().columns()[1]; };
  REQUIRE(wait_until([&] { return hyper().metrics && !hyper().stale; }));
  take_focus(window);
  press(window, Qt::Key_Q);
  const auto& errors = hyper().metrics->token_error;
  const auto worst = std::ranges::max_element(errors) - errors.begin();
  CHECK(window.study().session().pinned_query == worst);
  choose(*window->findChild<QComboBox*>("shade"), 1);
  CHECK(text_of(window, "query_note").contains("output error |z̃ − z| of HyperAttention"));
  // Its top keys, exact and approximate.
  CHECK(wait_until([&] {
    for (const auto* label : window->docks().column->findChildren<QLabel*>())
      if (label->text().startsWith(QString("Top keys of query %1 ").arg(worst))) return true;
    return false;
  }));
}

TEST_CASE("task 2: which attention to use for a quarter of the cost, and how sure that is") {
  Window window(example);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  window.trigger("explore");
  ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return dock.run().complete(); }, 150000));
  CHECK(text_of(window, "explore_answer").contains(" of the cost of exact attention."));
  CHECK(text_of(window, "explore_answer").contains(" Next best: "));
  REQUIRE(dock.answer().best);
  const SettingSpread best = *dock.answer().best;
  CHECK(best.x.median <= 0.25);
  // A learned tree makes less error than all that need no learning.
  CHECK(learned_steps(*best.variant, best.values));
  ParetoPlot& plot = dock.plot();
  const auto spots = plot.spots();
  const auto spot = std::ranges::find_if(spots, [&](const auto& s) {
    const SettingSpread& setting = plot.settings()[s.second];
    return setting.variant == best.variant && setting.values == best.values;
  });
  REQUIRE(spot != spots.end());
  QTest::mouseMove(&plot, spot->first.toPoint());
  QTest::mouseClick(&plot, Qt::LeftButton, {}, spot->first.toPoint());
  REQUIRE(window.settle());
  REQUIRE(window.study().columns().size() == 2);
  const Cost& cost = window.study().columns()[1].computation->cost;
  CHECK(cost.multiply_adds <= 0.25 * cost.exact_multiply_adds);
}

TEST_CASE("task 3: the attention that each head should have, for another program") {
  Window window(example);
  // On 48 heads all of them would take minutes.
  window->findChild<QCheckBox*>("try_learned")->setChecked(false);
  leave_out(window, {Group::baselines, Group::selectors, Group::grids, Group::precisions});
  window.trigger("heads");
  ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return dock.run().complete(); }, 150000));
  CHECK(dock.heads().model()->rowCount() == 48);
  dock.findChild<QDoubleSpinBox*>("explore_cost")->setValue(0.1);
  CHECK(text_of(window, "explore_sum").startsWith("All 48 heads fit the budget; together "));
  dock.heads().sortByColumn(4, Qt::DescendingOrder);
  const QTemporaryDir folder;
  dock.export_heads(folder.filePath("heads.json"));
  CHECK(wait_until([&] { return dock.message_text().startsWith("Wrote"); }));
  const QModelIndex worst = dock.heads().model()->index(0, 1);
  emit dock.heads().activated(worst);
  CHECK(window.study().session().head == worst.data().toInt());
}

TEST_CASE("task 4: a figure of what the canvas shows") {
  Window window(example);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  click(window, at_pair(window, find_view("heatmap"), 1, 100, 120));
  REQUIRE(window.study().session().pinned_query);
  const QTemporaryDir folder;
  CHECK(window.export_to(folder.filePath("plain.png"), {.width = 504}));
  CHECK(window.export_to(folder.filePath("figure.pdf"), {.width = 504}));
  window->change("unpin", [](Session& s) { s.pinned_query.reset(); });
  REQUIRE(window.settle());
  CHECK(window.export_to(folder.filePath("unpinned.png"), {.width = 504}));
  const QImage pinned(folder.filePath("plain.png")), not_pinned(folder.filePath("unpinned.png"));
  CHECK(pinned.height() > not_pinned.height());  // a line says which query is framed
}

TEST_CASE("task 5: what a word attends to") {
  Window window(example);
  REQUIRE(window.settle());
  window.trigger("find");
  auto* line = window->find_bar().findChild<QLineEdit*>();
  const QString word = QString::fromStdString(window.study().source()->sequence.label(5));
  QTest::keyClicks(line, word);
  QTest::keyClick(line, Qt::Key_Return);
  CHECK(wait_until([&] {
    const auto found = window.study().session().pinned_query;
    return found && QString::fromStdString(window.study().source()->sequence.label(*found))
                        .contains(word, Qt::CaseInsensitive);
  }));
  CHECK(wait_until([&] {
    return text_of(window, "query_note").startsWith("shaded by the attention of query");
  }));
}

TEST_CASE("task 6: exact attention in place, and the mass of a rectangle") {
  Window window(example);
  show(window, {find_view("heatmap")}, {"exact", "fixed"});
  REQUIRE(window.settle());
  select_by_click(window, "fixed");
  take_focus(window);
  const QImage before = picture_of(window, find_view("heatmap"), 1);
  QTest::keyPress(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, find_view("heatmap"), 1) != before);
  QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, find_view("heatmap"), 1) == before);
  const QPoint from = at_pair(window, find_view("heatmap"), 1, 40, 40),
               to = at_pair(window, find_view("heatmap"), 1, 120, 160);
  QTest::mousePress(&window->canvas(), Qt::LeftButton, {}, from);
  QTest::mouseMove(&window->canvas(), (from + to) / 2);
  QTest::mouseMove(&window->canvas(), to);
  QTest::mouseRelease(&window->canvas(), Qt::LeftButton, {}, to);
  CHECK(wait_until([&] { return said(window, "mass per row").contains("→"); }));
}

TEST_CASE("task 7: the length from which on an approximation is faster") {
  Window window("synthetic:clusters?n=1024&d=32&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  window.trigger("sweep");
  SweepDialog& dialog = *window->sweep();
  REQUIRE(wait_until([&] { return dialog.run().complete(); }, 90000));
  dialog.copy_table();
  CHECK(QApplication::clipboard()->text().count('\n') >= 5);
}

TEST_CASE("task 8: whether a time can be trusted, and all measures for a paper") {
  Window window(small);
  const auto timed = [&] {
    return std::ranges::all_of(window.study().columns(), [](const ColumnState& c) {
      return c.time && c.time->timing.total.samples >= enough_samples;
    });
  };
  REQUIRE(wait_until(timed));
  window.trigger("again");
  CHECK(wait_until([&] { return !timed(); }));  // F5 measures all of them again
  CHECK(wait_until(timed));
  auto* dock = window->findChild<QDockWidget*>("Comparison");
  window->docks().show("Comparison");
  const auto actions = dock->findChildren<QAction*>();
  const auto copy = std::ranges::find(actions, "As &LaTeX", &QAction::text);
  REQUIRE(copy != actions.end());
  auto* table = window->findChild<QTableWidget*>("comparison");
  REQUIRE(wait_until([&] { return table->rowCount() > 10; }));
  (*copy)->trigger();
  CHECK(QApplication::clipboard()->text().contains("relative output error"));
}

TEST_CASE("task 9: a long head, from the whole to single entries") {
  Window window(small);
  window->open("synthetic:clusters?n=16384&d=16&seed=1");  // 131072 takes a minute to be exact
  REQUIRE(wait_until([&] { return window.study().length() == 16384; }));
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  const auto shown = [&] {
    const Viewport& v = window.study().session().viewport;
    return v.col_end - v.col_begin;
  };
  const QPoint place = at(window, find_view("heatmap"), 1, 0.5, 0.5);
  point(window, place);
  for (int i = 0; i < 60 && shown() > 64; ++i) {
    QWheelEvent wheel(place, window->canvas().mapToGlobal(place), {}, {0, 240}, {}, {},
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&window->canvas(), &wheel);
    QTest::qWait(5);
  }
  CHECK(shown() <= 64);
  REQUIRE(window.settle());
  const auto* raster = std::get_if<Raster>(&panel(window, find_view("heatmap"), 1).body);
  REQUIRE(raster);
  CHECK(raster->rows.size() <= raster->values.rows());  // an entry a pixel, or finer
}

TEST_CASE("task 10: the mask of a capture is set, saved and found again") {
  Window window(example);
  REQUIRE(window.settle());
  auto* warning = window->findChild<QLabel*>("mask_warning");
  const QTemporaryDir folder;
  const QString path = folder.filePath("mine.fovea.json");
  if (warning->isVisibleTo(&*window)) emit warning->linkActivated("causal");
  window->change("causal", [](Session& s) { s.conditions.causal = true; });
  window->change("viewport", [](Session& s) { s.viewport = {10, 90, 20, 100}; });
  REQUIRE(window.settle());
  CHECK(window.study().problem()->causal);
  CHECK(window.save(path));
  const Session left = window.study().session();
  window.close();
  Window again(path);
  REQUIRE(again.settle());
  CHECK(again.study().problem()->causal);
  CHECK(again.study().session().viewport == left.viewport);
  CHECK(again.study().session().columns == left.columns);
}

TEST_CASE("task 11: the wrong tile of a kernel") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("kernel.safetensors");
  std::vector<float> z(64 * 8, 1.0f);
  std::fill(z.begin() + 32 * 8, z.begin() + 48 * 8, 0.5f);
  z[40 * 8] = -1;
  write_head_of_ones(path, {{"z", {1, 64, 8}, z}, {"kept", {64, 64}, std::vector(64 * 64, 1.0f)}});
  Window window(path);
  show(window, {find_view("heatmap"), find_view("tiles")}, {"exact", "imported"});
  REQUIRE(window.settle());
  select_by_click(window, "imported");
  REQUIRE(window.settle());
  const std::string caption = panel(window, find_view("tiles"), 1).caption;
  CAPTURE(caption);
  CHECK(caption.find("wrong in rows of tiles 8 to 11") != std::string::npos);
  CAPTURE(text_of(window, "column_warnings").toStdString());
  CHECK(text_of(window, "column_warnings")
            .startsWith("z is not what the kept pairs give, in rows 32 to 47: rounding to F32 does "
                        "not explain it"));
  take_focus(window);
  press(window, Qt::Key_Q);
  CHECK(window.study().session().pinned_query == 40);
}

TEST_CASE("task 12: a mask drawn by hand, its error, and a file for a kernel") {
  const QTemporaryDir folder;
  Window window(small);
  show(window, {find_view("heatmap"), find_view("mask")}, {"exact", "window"});
  REQUIRE(window.settle());
  take_focus(window);
  const QPoint from = at_pair(window, find_view("heatmap"), 0, 0, 0),
               to = at_pair(window, find_view("heatmap"), 0, 60, 30);
  QTest::mousePress(&window->canvas(), Qt::LeftButton, {}, from);
  QTest::mouseMove(&window->canvas(), (from + to) / 2);
  QTest::mouseMove(&window->canvas(), to);
  QTest::mouseRelease(&window->canvas(), Qt::LeftButton, {}, to);
  REQUIRE(wait_until([&] { return window.study().selection().has_value(); }));
  press(window, Qt::Key_I);
  REQUIRE(window.settle());
  REQUIRE(window.study().session().columns.at(1).variant == "drawn");
  CHECK(window.study().columns()[1].metrics);
  const QString path = folder.filePath("mine.safetensors");
  window->exports().save_pairs_to(path, {SelectionForm::blocks, {16, 16}});
  CHECK(wait_until([&] { return QFileInfo::exists(path); }));
}

TEST_CASE("task 13: a kernel that does not give the same result each time") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("runs.safetensors");
  std::vector<float> runs(3 * 64 * 8, 1.0f);
  std::fill(runs.begin() + 2 * 64 * 8 + 16 * 8, runs.begin() + 2 * 64 * 8 + 24 * 8, 0.9f);
  write_head_of_ones(path, {{"z_runs", {3, 1, 64, 8}, runs}});
  Window window(path);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "imported"});
  REQUIRE(window.settle());
  select_by_click(window, "imported");
  REQUIRE(window.settle());
  CAPTURE(text_of(window, "column_warnings").toStdString());
  CHECK(
      text_of(window, "column_warnings")
          .contains("3 runs of one input differ by more than rounding explains in rows 16 to 23"));
}

TEST_CASE("task 14: the heads that can run sparse, and the file for a runtime") {
  const QTemporaryDir folder;
  Window window("synthetic:clusters?n=256&d=8&heads=2&seed=3");
  REQUIRE(window.settle());
  ExploreDock& dock = open_triage(window);
  const TriageRun& run = dock.triage().run();
  dock.findChild<QDoubleSpinBox*>("triage_budget")->setValue(0.5);
  dock.findChild<QDoubleSpinBox*>("triage_keep")->setValue(0.1);
  REQUIRE(wait_until(
      [&] { return run.rule() == TriageRule{.budget = 0.5, .keep = 0.1} && is_triaged(run); }));
  QTableView& table = dock.triage().table();
  REQUIRE(table.model()->rowCount() == 2);
  emit table.activated(table.model()->index(1, 2));
  CHECK(window.study().session().head == 1);
  const QString path = folder.filePath("minference.json");
  dock.export_config(path);
  CHECK(wait_until([&] { return QFileInfo::exists(path); }));
}

}  // namespace fovea::test
