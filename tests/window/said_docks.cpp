// What the docks that try settings and measure heads say and paint, once their work is done,
// against what is kept in tests/window/said.
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QTest>

#include "kept_lines.h"
#include "tiny_text_model.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/effect_dock.h"
#include "window/docks/effect_grid.h"
#include "window/docks/explore_dock.h"
#include "window/docks/head_scatter_plot.h"
#include "window/docks/pareto_plot.h"
#include "window/pointer.h"
#include "window/what_is_said.h"
#include "window/widgets/readings.h"

namespace fovea::test {
namespace {

/// Paints each of its widgets that paints by itself, in a size of its own.
void add_painted(Lines& to, QWidget& root, const std::vector<const char*>& classes) {
  for (QWidget* widget : root.findChildren<QWidget*>())
    for (const char* name : classes)
      if (QString(widget->metaObject()->className()).endsWith(name) && widget->isVisibleTo(&root)) {
        const QSize size = widget->size();
        add(to, std::string("painted ") + name, painted_by(*widget, {420, 260}));
        widget->resize(size);
      }
}

bool finished(ExploreDock& dock) {
  return wait_until([&] { return dock.run().complete() && !dock.run().running(); });
}

}  // namespace

TEST_CASE("what the pages of Which attention? say once all is tried is as it was") {
  Window window("synthetic:clusters?n=96&d=8&heads=2&seed=1");
  window->findChild<QCheckBox*>("try_learned")->setChecked(false);
  leave_out(window, {Group::selectors, Group::grids, Group::precisions, Group::baselines});
  show(window, {find_view("heatmap")}, {"exact", "window"});
  REQUIRE(window.settle());
  Lines lines;
  ExploreDock& dock = *window->exploration();
  const auto say = [&](const std::string& title) {
    QTest::qWait(100);
    add(lines, title, said_by(dock));
  };
  window.trigger("explore");
  REQUIRE(finished(dock));
  say("plot");
  add_painted(lines, dock, {"ParetoPlot"});
  const auto spots = dock.plot().spots();
  REQUIRE(spots.size() > 3);
  for (const std::size_t which : {std::size_t{0}, spots.size() / 2, spots.size() - 1}) {
    QTest::mouseMove(&dock.plot(), spots[which].first.toPoint());
    say("a point");
  }
  for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Left, Qt::Key_Up, Qt::Key_Plus,
                            Qt::Key_Minus, Qt::Key_0}) {
    QTest::keyClick(&dock.plot(), key);
    lines.push_back("chosen " +
                    (dock.plot().chosen() ? std::to_string(*dock.plot().chosen()) : "none"));
  }
  window->findChild<QDoubleSpinBox*>("explore_cost")->setValue(0.2);
  say("a budget");
  window.trigger("heads");
  REQUIRE(finished(dock));
  say("heads");
  add_painted(lines, dock, {"TableView"});
  window.trigger("measures");
  REQUIRE(wait_until([&] { return window.settle() && !window.study().status().busy(); }));
  say("measures");
  add_painted(lines, dock, {"TableView"});
  add_painted(lines, dock, {"HeadScatterPlot"});
  for (auto* plot : dock.findChildren<HeadScatterPlot*>())
    for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Left, Qt::Key_Return}) {
      QTest::keyClick(plot, key);
      say("a head by key");
    }
  window->change("", [](Session& s) { s.conditions.causal = true; });
  REQUIRE(window.settle());
  window.trigger("triage");
  QTest::qWait(300);
  REQUIRE(wait_until([&] { return window.settle() && !window.study().status().busy(); }));
  say("triage");
  add_painted(lines, dock, {"TableView"});
  check_kept("window/said/exploration.txt", lines);
}

TEST_CASE(
    "what the dock and the grid of the effect say and paint once it is measured is as it was") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat sat. a b c")));
  REQUIRE(window.settle());
  show(window, {find_view("heatmap")}, {"exact", "window", "fixed"});
  window.study().select_column(1);
  window->docks().show("Effect");
  EffectRun& run = window->effect();
  auto* dock = window->findChild<EffectDock*>();
  auto* grid = dock->findChild<EffectGrid*>("effect_grid");
  const auto ends = [&] {
    return wait_until([&] { return run.found().effect && !run.stale() && !run.running(); });
  };
  Lines lines;
  const auto say = [&](const std::string& title) {
    REQUIRE(ends());
    QTest::qWait(100);
    add(lines, title, said_by(*dock));
    for (const auto colours :
         {EffectGrid::Colours::chosen, EffectGrid::Colours::change, EffectGrid::Colours::policy}) {
      grid->set_colours(colours);
      lines.push_back("scale: " + grid->scale().toStdString());
      const QSize size = grid->size();
      add(lines, "painted", painted_by(*grid, {300, 200}));
      grid->resize(size);
    }
  };
  say("measured");
  run.choose(ChosenHeads("0.1,1", 2, 2));
  say("some heads");
  run.measure_alone(UnitKind::layer);
  say("layers alone");
  run.measure_alone(UnitKind::head);
  say("heads alone");
  grid->setFocus();
  for (const Qt::Key key :
       {Qt::Key_Down, Qt::Key_Right, Qt::Key_Space, Qt::Key_Up, Qt::Key_Left, Qt::Key_Space}) {
    QTest::keyClick(grid, key);
    lines.push_back("heads " + run.chosen()->text());
  }
  say("by keys");
  // Each cell is painted alone where one of another row and column is chosen.
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 2; ++head) {
      run.choose(ChosenHeads("0.1", 2, 2));
      QTest::mouseClick(grid, Qt::LeftButton, {}, grid->centre_of(layer, head));
      lines.push_back("cell " + std::to_string(layer) + "." + std::to_string(head) + ": heads " +
                      run.chosen()->text());
    }
  run.find_policy(run.candidates(), {.change = 100.0, .cost = {}}, UnitKind::layer);
  say("a policy");
  check_kept("window/said/effect.txt", lines);
}

TEST_CASE("what the sweep over n, the comparison and the learning dock say is as it was") {
  Window window("synthetic:clusters?n=96&d=8&heads=2&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "window", "tf"});
  REQUIRE(window.settle());
  Lines lines;
  window->docks().show("Comparison");
  auto* dock = window->findChild<QDockWidget*>("Comparison")->widget();
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(window.study().columns(), [](const ColumnState& c) {
      return c.metrics || is_reference(c.column.variant);
    });
  }));
  QTest::qWait(200);
  add(lines, "comparison", said_by(*dock));
  for (const char* name : {"Spans", "Learning"}) {
    window->docks().show(name);
    REQUIRE(wait_until([&] { return window.settle() && !window.study().status().busy(); }));
    QTest::qWait(200);
    QWidget& body = *window->findChild<QDockWidget*>(name)->widget();
    add(lines, name, said_by(body));
    add_painted(lines, body, {"TableView", "FigureWidget"});
  }
  window->show_sweep();
  REQUIRE(wait_until([&] { return window->sweep() && window->sweep()->isVisible(); }));
  add(lines, "sweep", said_by(*window->sweep()));
  window->sweep()->close();
  check_kept("window/said/others.txt", lines);
}

TEST_CASE("what widgets paint of tokens, heads and figures is as it was") {
  for (const auto& source :
       {std::pair<std::string, QString>{"heads", "synthetic:clusters?n=96&d=8&heads=2&seed=1"},
        {"text", "content:" + assets + "/text/fovea.txt"},
        {"image", "content:" + assets + "/image/cat.jpg"}}) {
    Window window(source.second);
    window.study().select_column(1);
    window->change("", [](Session& s) { s.pinned_query = 5; });
    REQUIRE(wait_until([&] { return window.settle() && !window.study().status().busy(); }));
    be_still(window);
    Lines lines;
    add_painted(lines, *window,
                {"SequenceView", "HeadGallery", "ShareBar", "Slider", "SingularValues"});
    check_kept("window/said/painted_" + source.first + ".txt", lines);
  }
}

}  // namespace fovea::test
