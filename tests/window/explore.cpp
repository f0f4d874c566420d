// Which attention to use: the answer, error against cost, and the best choice for each head.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <functional>
#include <set>

#include "variants/learned_tree.h"
#include "views/views.h"
#include "window/docks/explore_dock.h"
#include "window/docks/heads_model.h"
#include "window/docks/pareto_plot.h"
#include "window/docks/variant_choice.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

const QString two_heads = "synthetic:clusters?n=96&d=8&heads=2&seed=1";

QDockWidget& place_of(Window& window) {
  return *window->findChild<QDockWidget*>("Which attention?");
}

ExploreDock& open_dock(Window& window, const char* action) {
  window.trigger(action);
  REQUIRE(wait_until([&] { return window->exploration()->is_seen(); }));
  be_still(window);          // it has its height
  constexpr int high = 640;  // points that are near each other can be told apart
  window->resizeDocks({&place_of(window)}, {high}, Qt::Vertical);
  be_still(window);
  return *window->exploration();
}

bool finish(ExploreDock& dock) {
  return wait_until([&] { return dock.run().complete() && !dock.run().running(); }, 120000);
}

/// Chooses what is tried as a person does: in the list, which is then closed.
void choose_tried(ExploreDock& dock, const std::function<void()>& choose) {
  auto& choice = *dock.findChild<VariantChoice*>();
  emit choice.menu()->aboutToShow();
  choose();
  emit choice.menu()->aboutToHide();
}

/// Trees take longer than all the rest.
void learn_no_trees(Window& window) {
  window->findChild<QCheckBox*>("try_learned")->setChecked(false);
}

/// Fewer points, so that some stand alone.
void try_fewer(Window& window) {
  leave_out(window, {Group::selectors, Group::grids, Group::precisions});
}

QString said(ExploreDock& dock, const char* label) {
  return dock.findChild<QLabel*>(label)->text();
}

/// The place of a point of a variant that is on no other.
std::pair<QPointF, std::size_t> point_of(ParetoPlot& plot, const std::string& variant) {
  const auto spots = plot.spots();
  for (const auto& [at, setting] : spots) {
    const auto near = [at = at](const auto& other) {
      return QLineF(at, other.first).length() < 12;
    };
    if (plot.settings()[setting].variant->id == variant && std::ranges::count_if(spots, near) == 1)
      return {at, setting};
  }
  FAIL("no point of " << variant << " stands alone");
  return {};
}

}  // namespace

TEST_CASE("all variants and the columns of the canvas are tried, and what is not tried is said") {
  Window window(two_heads);
  learn_no_trees(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  const Variant& banded = find_variant("longformer");
  Values odd = values_for_length(banded, 96);
  set_value(banded.schema, odd, "width", "14");
  const Variant& tree = find_variant("tf");
  Values learned = values_for_length(tree, 96);
  set_learned(tree, learned, 3);
  window->editor().add_columns(
      {{.variant = banded.id, .values = odd, .seed = 5}, {.variant = tree.id, .values = learned}});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  std::set<const Variant*> tried;
  for (const Trial& trial : *dock.run().trials()) tried.insert(trial.variant);
  CHECK(tried.size() == variants().size());
  const auto own = [&](const Variant& variant, const Values& values) {
    return std::ranges::count_if(dock.plot().settings(), [&](const SettingSpread& setting) {
      return setting.own && setting.variant == &variant && setting.values == values;
    });
  };
  CHECK(own(banded, odd) == 1);
  CHECK(own(tree, learned) == 1);
  CHECK(said(dock, "explore_not_tried").contains("learned trees other than those on the canvas"));
  // Another column is not yet tried: opening the dock tries it.
  set_value(banded.schema, odd, "width", "10");
  window->editor().add_columns({{.variant = banded.id, .values = odd, .seed = 5}});
  REQUIRE(window.settle());
  const std::size_t before = dock.run().trials()->size();
  open_dock(window, "explore");
  REQUIRE(finish(dock));
  CHECK(own(banded, odd) == 1);
  CHECK(dock.run().trials()->size() == before + 1);  // nothing else is tried again
  // Another seed is another setting.
  window->editor().add_columns({{.variant = banded.id, .values = odd, .seed = 6}});
  REQUIRE(window.settle());
  open_dock(window, "explore");
  REQUIRE(finish(dock));
  CHECK(dock.run().trials()->size() == before + 2);
  // Learned trees are tried where they are asked for, which they are at first.
  choose_tried(dock, [&] {
    auto* steps = dock.findChild<QComboBox*>("explore_learned");
    steps->setItemData(0, 2);  // steps, so that it takes no time
    dock.findChild<QCheckBox*>("try_learned")->click();
  });
  REQUIRE(finish(dock));
  CHECK(std::ranges::any_of(*dock.run().trials(), [](const Trial& trial) {
    return learned_steps(*trial.variant, trial.values) == Index{2} && trial.refused.empty();
  }));
  CHECK_FALSE(said(dock, "explore_not_tried").contains("trees"));
}

TEST_CASE("error against cost: points are tried, read and shown as columns by a click") {
  Window window(two_heads);
  learn_no_trees(window);
  try_fewer(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  ParetoPlot& plot = dock.plot();
  std::size_t measured = 0, front = 0;
  for (const SettingSpread& setting : plot.settings()) {
    measured += setting.heads > 0;
    front += setting.on_front;
  }
  CHECK(plot.spots().size() == measured);
  CHECK(measured > variants().size());
  CHECK(front > 1);
  for (const auto& [at, setting] : plot.spots()) CHECK(QRectF(plot.rect()).contains(at));

  const auto point = point_of(plot, "h1d");
  const auto& [at, setting] = point;
  QTest::mouseMove(&plot, at.toPoint());
  REQUIRE(wait_until([&] { return plot.chosen() == point.second; }));
  CHECK(said(dock, "explore_reading").startsWith("H-Transformer-1D, block "));
  CHECK(said(dock, "explore_reading").contains("relative output error"));
  CHECK_FALSE(said(dock, "explore_reading").contains(" – "));  // of one head
  QTest::mouseClick(&plot, Qt::LeftButton, {}, at.toPoint());
  REQUIRE(window.study().session().columns.size() == 2);
  CHECK(window.study().session().columns[1].values == plot.settings()[setting].values);
  CHECK(window.study().selected_column() == 1);
  QTest::mouseClick(&plot, Qt::LeftButton, {}, at.toPoint());  // it is there already
  CHECK(window.study().session().columns.size() == 2);
  // What the point says is what the column measures.
  const auto& shown = [&]() -> const ColumnState& { return window.study().columns()[1]; };
  REQUIRE(wait_until([&] { return shown().metrics && !shown().stale; }));
  CHECK(plot.settings()[setting].y.median ==
        doctest::Approx(shown().metrics->output_rel_fro).epsilon(1e-6));
  window.trigger("undo");
  CHECK(window.study().session().columns.size() == 1);
}

TEST_CASE("a setting that is picked is seen on the canvas, however many columns there are") {
  Window window(two_heads);
  learn_no_trees(window);
  try_fewer(window);
  show(window, {find_view("heatmap")});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  const auto point = point_of(dock.plot(), "longformer");
  QTest::mouseClick(&dock.plot(), Qt::LeftButton, {}, point.first.toPoint());
  const int column = window.study().selected_column();
  REQUIRE(window.settle());
  const Canvas& canvas = window->canvas();
  CHECK(wait_until([&] {
    const QRectF place = canvas.panel_place(0, column);
    return !place.isEmpty() && place.left() >= 0 && place.right() <= canvas.width();
  }));
}

TEST_CASE("error against cost: a rectangle shows all settings within it, if they are few") {
  Window window(two_heads);
  learn_no_trees(window);
  try_fewer(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  ParetoPlot& plot = dock.plot();
  const auto drag = [&](QPoint from, QPoint to) {
    QTest::mousePress(&plot, Qt::LeftButton, {}, from);
    QTest::mouseMove(&plot, (from + to) / 2);
    QTest::mouseMove(&plot, to);
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, to);
  };
  drag({1, 1}, {plot.width() - 2, plot.height() - 2});
  CHECK(window.study().session().columns.size() == 1);
  CHECK(said(dock, "explore_state").contains("draw a smaller one"));
  const QPoint place = point_of(plot, "h1d").first.toPoint();
  drag(place - QPoint(7, 7), place + QPoint(7, 7));
  CHECK(window.study().session().columns.size() == 2);
  // By the keys: along the axis of cost, and Enter.
  plot.choose(std::nullopt);
  QTest::keyClick(&plot, Qt::Key_Right);
  QTest::keyClick(&plot, Qt::Key_Right);
  REQUIRE(plot.chosen());
  const Values wanted = plot.settings()[*plot.chosen()].values;
  QTest::keyClick(&plot, Qt::Key_Return);
  CHECK(window.study().session().columns.back().values == wanted);
}

TEST_CASE("error against cost: other measures need no new trials, times do") {
  Window window(two_heads);
  learn_no_trees(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  const auto choices = dock.findChildren<QComboBox*>();
  const auto choose = [&](const char* id) {
    for (QComboBox* choice : choices)
      if (const int place = choice->findData(QString(id)); place >= 0)
        return choice->setCurrentIndex(place);
    FAIL("no measure " << id);
  };
  CHECK(dock.plot().x().measure().id == "ratio_to_exact");  // at first
  choose("mass_kept");
  CHECK_FALSE(dock.run().running());
  CHECK(dock.plot().y().measure().id == "mass_kept");
  choose("bytes");
  CHECK_FALSE(dock.run().running());
  choose("total_ms");
  CHECK(dock.run().running());
  CHECK(dock.run().options().timed);
  dock.findChild<QPushButton*>("explore_start")->click();
  CHECK_FALSE(dock.run().running());
  CHECK(said(dock, "explore_state").contains("Stopped"));
}

TEST_CASE("heads × variants: the best choice under a budget, shown by a double click, exported") {
  Window window(two_heads);
  learn_no_trees(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "heads");
  REQUIRE(finish(dock));
  CHECK(dock.run().heads().size() == 2);
  QAbstractItemModel& table = *dock.heads().model();
  REQUIRE(table.rowCount() == 2);
  const auto column = [&](const QString& title) {
    for (int c = 0; c < table.columnCount(); ++c)
      if (table.headerData(c, Qt::Horizontal).toString() == title) return c;
    FAIL("no column " << title.toStdString());
    return -1;
  };
  const auto text = [&](int row, const QString& title) {
    return table.index(row, column(title)).data().toString();
  };
  auto* budget_of = dock.findChild<QComboBox*>("explore_budget_of");
  budget_of->setCurrentIndex(1);  // an error
  auto* budget = dock.findChild<QDoubleSpinBox*>("explore_error");
  budget->setValue(0);
  for (int row = 0; row < 2; ++row) {
    CHECK(text(row, "best choice") == "Exact");  // only exact makes no error
    CHECK(text(row, "relative output error") == "0");
    CHECK(text(row, "H-Transformer-1D") == "–");
  }
  budget->setValue(10);  // anything will do: the cheapest
  const QString cheapest = text(1, "best choice");
  CHECK(cheapest != "Exact");
  CHECK(text(1, "H-Transformer-1D") != "–");
  const double least = text(1, "multiply-adds / exact").toDouble();
  for (const Variant* variant : variants_of(Group::papers))
    if (!variant->reference)
      CHECK(text(1, QString::fromStdString(variant->label)).toDouble() >= least);
  CHECK(said(dock, "explore_sum").startsWith("All 2 heads fit the budget; together "));

  // Sorted by a heading, dear heads last or first.
  const int error = column("relative output error");
  dock.heads().sortByColumn(error, Qt::AscendingOrder);
  CHECK(text(0, "relative output error").toDouble() <= text(1, "relative output error").toDouble());
  dock.heads().sortByColumn(error, Qt::DescendingOrder);
  CHECK(text(0, "relative output error").toDouble() >= text(1, "relative output error").toDouble());

  const int row = text(0, "head") == "1" ? 0 : 1;
  emit dock.heads().activated(table.index(row, column("best choice")));
  CHECK(window.study().session().head == 1);
  REQUIRE(window.study().session().columns.size() == 2);
  CHECK(QString::fromStdString(find_variant(window.study().session().columns[1].variant).label) ==
        cheapest);

  const QTemporaryDir folder;
  const auto export_to = [&](const QString& name) {
    dock.export_heads(folder.filePath(name));
    CHECK(wait_until([&] { return dock.message_text().startsWith("Wrote"); }));
    QFile file(folder.filePath(name));
    REQUIRE(file.open(QIODevice::ReadOnly));
    return file.readAll();
  };
  const auto heads = QJsonDocument::fromJson(export_to("heads.json")).object()["heads"].toArray();
  REQUIRE(heads.size() == 2);
  for (const auto& head : heads) {
    CHECK(head.toObject()["within_budget"].toBool());
    CHECK(head.toObject()["parameters"].isObject());
  }
  dock.copy();
  CHECK(QApplication::clipboard()->text() == QString::fromUtf8(export_to("heads.csv")));
  CHECK(QApplication::clipboard()->text().count('\n') == 3);
}

TEST_CASE("settings are tried while the window stays in use") {
  Window window("synthetic:clusters?n=1024&d=32&heads=3&seed=1");
  learn_no_trees(window);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  auto* scope = dock.findChild<QComboBox*>("explore_scope");
  scope->setCurrentIndex(2);
  auto* settings = dock.findChild<QComboBox*>("explore_settings");
  settings->setCurrentIndex(2);
  emit settings->activated(2);
  REQUIRE(dock.run().running());
  REQUIRE(wait_until([&] { return !dock.run().trials()->empty(); }));
  bool read = false;
  QObject::connect(&window.study(), &Study::pair_read, &dock,
                   [&](std::shared_ptr<const PairReading> reading) { read = read || reading; });
  window.study().hover(100, 200, 0);
  CHECK(wait_until([&] { return read; }));
  window->change("head", [](Session& s) { s.head = 2; });
  REQUIRE(window.settle());
  CHECK(dock.run().running());  // of all heads, for some 20 s
  // Stopped, it keeps what it has, also while the table is looked at, and goes on.
  auto* button = dock.findChild<QPushButton*>("explore_start");
  button->click();
  const std::size_t kept = dock.run().done();
  window.trigger("heads");
  CHECK_FALSE(dock.run().running());
  CHECK(dock.run().done() == kept);
  emit settings->activated(2);  // the same again
  CHECK_FALSE(dock.run().running());
  CHECK(button->text().contains("Continue"));
  button->click();
  REQUIRE(wait_until([&] { return dock.run().done() > kept; }));
  scope->setCurrentIndex(0);
  settings->setCurrentIndex(0);
  emit settings->activated(0);
  REQUIRE(finish(dock));
  CHECK_FALSE(dock.run().stale());
  CHECK(said(dock, "explore_state").contains("CPU"));
}

TEST_CASE("a source without Q, K and V has no settings to try, and the dock says why") {
  Window window("synthetic:hmatrix");
  learn_no_trees(window);
  ExploreDock& dock = open_dock(window, "explore");
  CHECK_FALSE(dock.run().running());
  CHECK_FALSE(dock.findChild<QPushButton*>("explore_start")->isEnabled());
  // Settings of another source do not become columns of this one.
  window->open(two_heads);
  REQUIRE(wait_until([&] { return window.study().length() == 96 && window.study().settled(); }));
  window.trigger("explore");
  REQUIRE(finish(dock));
  CHECK_FALSE(dock.plot().spots().empty());
  window->open("synthetic:hmatrix");
  REQUIRE(wait_until([&] { return window.study().shows_matrix() && window.study().settled(); }));
  CHECK(dock.plot().spots().empty());
  CHECK(said(dock, "explore_state").contains("Another file was opened"));
  CHECK(dock.plot().accessibleDescription().contains("only an attention matrix"));
  place_of(window).close();
}

TEST_CASE("a closed dock holds no source that is no longer shown") {
  Window window(two_heads);
  learn_no_trees(window);
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  auto* pages = dock.findChild<QTabWidget*>();
  for (int page = pages->count() - 1; page >= 0; --page) pages->setCurrentIndex(page);
  const std::weak_ptr tried = window.study().source();
  place_of(window).close();
  window->open("synthetic:clusters?n=64&d=8&seed=2");
  REQUIRE(wait_until([&] { return window.study().length() == 64 && window.study().settled(); }));
  CHECK(wait_until([&] { return tried.expired(); }));
}

TEST_CASE("the answer, the line in the plot, the field and the table have one budget") {
  Window window(two_heads);
  learn_no_trees(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  auto* field = dock.findChild<QDoubleSpinBox*>("explore_cost");
  field->setValue(0.5);
  REQUIRE(dock.answer().best);
  CHECK(dock.answer().best->x.median <= 0.5);
  CHECK(said(dock, "explore_answer").contains(" of the cost of exact attention."));
  ParetoPlot& plot = dock.plot();
  const auto line = plot.budget_line();
  REQUIRE(line);
  // It is dragged by the mouse, and moved by keys.
  const QPoint from(int(line->x1()), int(line->y1()) + 3), to(from.x() - 60, from.y() + 20);
  QTest::mousePress(&plot, Qt::LeftButton, {}, from);
  QTest::mouseMove(&plot, to);
  QTest::mouseRelease(&plot, Qt::LeftButton, {}, to);
  const double dragged = field->value();
  CHECK(dragged < 0.5);
  CHECK(plot.budget_line()->x1() == doctest::Approx(to.x()).epsilon(0.01));
  CHECK(dock.answer().at_most == dragged);
  CHECK(window.study().session().columns.size() == 1);  // nothing was picked
  const QString before = said(dock, "explore_answer");
  QTest::keyClick(&plot, Qt::Key_Up);
  CHECK(field->value() == doctest::Approx(1.1 * dragged).epsilon(0.01));
  field->setValue(0.001);
  CHECK(said(dock, "explore_answer").startsWith("Nothing that was tried costs at most 0.1 %"));
  CHECK(said(dock, "explore_answer") != before);
  field->setValue(0.3);
  window.trigger("heads");
  REQUIRE(finish(dock));
  CHECK(said(dock, "explore_sum").contains("fit the budget; together "));
  field->setValue(0);
  CHECK(said(dock, "explore_sum").startsWith("0 of 2 heads fit the budget, all take exact"));
  // With another cost on the axis there is no line.
  window.trigger("explore");
  for (QComboBox* choice : dock.findChildren<QComboBox*>())
    if (const int place = choice->findData("bytes"); place >= 0) choice->setCurrentIndex(place);
  CHECK_FALSE(plot.budget_line());
}

TEST_CASE("error against cost: the wheel zooms, the right button moves, a double click goes back") {
  Window window(two_heads);
  learn_no_trees(window);
  try_fewer(window);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  ParetoPlot& plot = dock.plot();
  const auto first = plot.spots();
  const QPointF about = point_of(plot, "h1d").first;
  QWheelEvent wheel(about, plot.mapToGlobal(about), {}, {0, 240}, {}, {}, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&plot, &wheel);
  const auto place = [&](std::size_t spot) { return plot.spots()[spot].first; };
  std::size_t fixed = 0;
  for (std::size_t s = 0; s < first.size(); ++s)
    if (QLineF(first[s].first, about).length() < 0.5) fixed = s;
  CHECK(QLineF(place(fixed), about).length() < 1);  // the place under the pointer stays
  CHECK(std::ranges::any_of(plot.spots(), [&](const auto& s) { return plot.is_beyond(s.second); }));
  for (const auto& [at, setting] : plot.spots()) CHECK(QRectF(plot.rect()).contains(at));
  QTest::mousePress(&plot, Qt::RightButton, {}, about.toPoint());
  QTest::mouseMove(&plot, about.toPoint() + QPoint(20, -10));
  QTest::mouseRelease(&plot, Qt::RightButton, {}, about.toPoint() + QPoint(20, -10));
  CHECK(QLineF(place(fixed), about + QPointF(20, -10)).length() < 2);
  QTest::keyClick(&plot, Qt::Key_0);
  CHECK(plot.spots() == first);
  plot.zoom(0.5, about);
  QTest::mouseDClick(&plot, Qt::LeftButton, {}, {plot.width() / 2, 3});
  CHECK(plot.spots() == first);
}

TEST_CASE("what is tried is chosen in a check list, which is remembered") {
  Window window(two_heads);
  learn_no_trees(window);
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  choose_tried(dock, [&] { dock.findChild<QCheckBox*>("try_hyper")->click(); });
  REQUIRE(finish(dock));
  CHECK(std::ranges::none_of(*dock.run().trials(), [](const Trial& trial) {
    return trial.variant->id == "hyper" && !trial.own;
  }));
  CHECK(said(dock, "explore_not_tried").contains("Not tried: HyperAttention, learned trees"));
  const VariantChoice again;
  CHECK(again.left_out() == std::vector<const Variant*>{&find_variant("hyper")});
  CHECK(again.learned_steps() == 0);
}

TEST_CASE("columns of the canvas have frames while they are there") {
  Window window(two_heads);
  learn_no_trees(window);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(finish(dock));
  const auto framed = [&] {
    return std::ranges::count_if(dock.plot().settings(),
                                 [](const SettingSpread& setting) { return setting.own; });
  };
  CHECK(framed() == 1);
  window->editor().remove_column();
  REQUIRE(window.settle());
  CHECK(wait_until([&] { return framed() == 0; }));
}

TEST_CASE("the dock is closed at first, has room when it is opened, and stops when it is closed") {
  Window window("synthetic:clusters?n=2048&d=32&heads=3&seed=1");
  learn_no_trees(window);
  REQUIRE(window.settle());
  CHECK_FALSE(window->exploration()->is_seen());
  CHECK(window->exploration()->run().total() == 0);
  ExploreDock& dock = open_dock(window, "explore");
  REQUIRE(dock.run().running());
  CHECK(dock.plot().height() >= 150);
  window->docks().show("Timing");  // in its place
  CHECK(wait_until([&] { return !dock.is_seen(); }));
  CHECK_FALSE(dock.run().running());
  window.trigger("explore");
  CHECK(dock.findChild<QPushButton*>("explore_start")->text().contains("Continue"));
}

TEST_CASE("tables keep the names of heads in sight when they are scrolled") {
  Window window(two_heads);
  learn_no_trees(window);
  REQUIRE(window.settle());
  ExploreDock& dock = open_dock(window, "heads");
  REQUIRE(finish(dock));
  QTableView& table = dock.heads();
  auto* frozen = table.findChild<QTableView*>("frozen_columns");
  REQUIRE(frozen);
  table.horizontalScrollBar()->setValue(table.horizontalScrollBar()->maximum());
  CHECK(frozen->isVisible());
  CHECK(frozen->mapTo(&table, QPoint(0, 0)).x() >= 0);
  CHECK_FALSE(frozen->isColumnHidden(1));
  CHECK(frozen->isColumnHidden(2));
  CHECK(frozen->columnWidth(1) == table.columnWidth(1));
}

}  // namespace fovea::test
