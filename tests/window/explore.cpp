// Which attention to use: error against cost, and the best choice for each head.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <set>

#include "variants/learned_tree.h"
#include "views/views.h"
#include "window/dialogs/explore_dialog.h"
#include "window/dialogs/heads_model.h"
#include "window/dialogs/pareto_plot.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

const QString two_heads = "synthetic:clusters?n=96&d=8&heads=2&seed=1";

ExploreDialog& open_dialog(Window& window, const char* action) {
  QSettings().remove("explore/geometry");
  window.trigger(action);
  REQUIRE(window->exploration());
  REQUIRE(window->exploration()->isVisible());
  return *window->exploration();
}

bool finish(ExploreDialog& dialog) {
  return wait_until([&] { return dialog.run().complete() && !dialog.run().running(); });
}

QString said(ExploreDialog& dialog, const char* label) {
  return dialog.findChild<QLabel*>(label)->text();
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
  ExploreDialog& dialog = open_dialog(window, "explore");
  REQUIRE(finish(dialog));
  std::set<const Variant*> tried;
  for (const Trial& trial : *dialog.run().trials()) tried.insert(trial.variant);
  CHECK(tried.size() == variants().size());
  const auto own = [&](const Variant& variant, const Values& values) {
    return std::ranges::count_if(dialog.plot().settings(), [&](const SettingSpread& setting) {
      return setting.own && setting.variant == &variant && setting.values == values;
    });
  };
  CHECK(own(banded, odd) == 1);
  CHECK(own(tree, learned) == 1);
  CHECK(said(dialog, "explore_not_tried").contains("learned trees other than those on the canvas"));
  // Another column is not yet tried: opening the dialog tries it.
  set_value(banded.schema, odd, "width", "10");
  window->editor().add_columns({{.variant = banded.id, .values = odd, .seed = 5}});
  REQUIRE(window.settle());
  const std::size_t before = dialog.run().trials()->size();
  open_dialog(window, "explore");
  REQUIRE(finish(dialog));
  CHECK(own(banded, odd) == 1);
  CHECK(dialog.run().trials()->size() == before + 1);  // nothing else is tried again
  // Learned trees are tried where they are asked for.
  auto* trees = dialog.findChild<QComboBox*>("explore_learned");
  trees->setItemData(1, 2);  // steps, so that it takes no time
  trees->setCurrentIndex(1);
  emit trees->activated(1);
  REQUIRE(finish(dialog));
  CHECK(std::ranges::any_of(*dialog.run().trials(), [](const Trial& trial) {
    return learned_steps(*trial.variant, trial.values) == Index{2} && trial.refused.empty();
  }));
  CHECK_FALSE(said(dialog, "explore_not_tried").contains("trees"));
}

TEST_CASE("error against cost: points are tried, read and shown as columns by a click") {
  Window window(two_heads);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDialog& dialog = open_dialog(window, "explore");
  REQUIRE(finish(dialog));
  ParetoPlot& plot = dialog.plot();
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
  CHECK(said(dialog, "explore_reading").startsWith("H-Transformer-1D, block "));
  CHECK(said(dialog, "explore_reading").contains("relative output error"));
  QTest::mouseClick(&plot, Qt::LeftButton, {}, at.toPoint());
  REQUIRE(window.study().session().columns.size() == 2);
  CHECK(window.study().session().columns[1].values == plot.settings()[setting].values);
  CHECK(window.study().selected_column() == 1);
  QTest::mouseClick(&plot, Qt::LeftButton, {}, at.toPoint());  // it is there already
  CHECK(window.study().session().columns.size() == 2);
  // What the point says is what the column measures.
  REQUIRE(wait_until([&] { return window.study().columns()[1].metrics != nullptr; }));
  CHECK(plot.settings()[setting].y.median ==
        doctest::Approx(window.study().columns()[1].metrics->output_rel_fro).epsilon(1e-6));
  window.trigger("undo");
  CHECK(window.study().session().columns.size() == 1);
}

TEST_CASE("error against cost: a rectangle shows all settings within it, if they are few") {
  Window window(two_heads);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDialog& dialog = open_dialog(window, "explore");
  REQUIRE(finish(dialog));
  ParetoPlot& plot = dialog.plot();
  const auto drag = [&](QPoint from, QPoint to) {
    QTest::mousePress(&plot, Qt::LeftButton, {}, from);
    QTest::mouseMove(&plot, (from + to) / 2);
    QTest::mouseMove(&plot, to);
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, to);
  };
  drag({1, 1}, {plot.width() - 2, plot.height() - 2});
  CHECK(window.study().session().columns.size() == 1);
  CHECK(said(dialog, "explore_state").contains("draw a smaller one"));
  const QPoint place = point_of(plot, "h1d").first.toPoint();
  drag(place - QPoint(11, 11), place + QPoint(11, 11));
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
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDialog& dialog = open_dialog(window, "explore");
  REQUIRE(finish(dialog));
  const auto choices = dialog.findChildren<QComboBox*>();
  const auto choose = [&](const char* id) {
    for (QComboBox* choice : choices)
      if (const int place = choice->findData(QString(id)); place >= 0)
        return choice->setCurrentIndex(place);
    FAIL("no measure " << id);
  };
  choose("mass_kept");
  CHECK_FALSE(dialog.run().running());
  CHECK(dialog.plot().y().measure().id == "mass_kept");
  choose("bytes");
  CHECK_FALSE(dialog.run().running());
  choose("total_ms");
  CHECK(dialog.run().running());
  CHECK(dialog.run().options().timed);
  dialog.findChild<QPushButton*>("explore_start")->click();
  CHECK_FALSE(dialog.run().running());
  CHECK(said(dialog, "explore_state").contains("Stopped"));
}

TEST_CASE("heads × variants: the best choice under a budget, shown by a double click, exported") {
  Window window(two_heads);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  ExploreDialog& dialog = open_dialog(window, "heads");
  REQUIRE(finish(dialog));
  CHECK(dialog.run().heads().size() == 2);
  QAbstractItemModel& table = *dialog.heads().model();
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
  auto* budget_of = dialog.findChild<QComboBox*>("explore_budget_of");
  budget_of->setCurrentIndex(1);  // an error
  auto* budget = dialog.findChild<QDoubleSpinBox*>("explore_budget");
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
  CHECK(said(dialog, "explore_sum").contains("2 of 2 heads by a variant"));

  // Sorted by a heading, dear heads last or first.
  const int error = column("relative output error");
  dialog.heads().sortByColumn(error, Qt::AscendingOrder);
  CHECK(text(0, "relative output error").toDouble() <= text(1, "relative output error").toDouble());
  dialog.heads().sortByColumn(error, Qt::DescendingOrder);
  CHECK(text(0, "relative output error").toDouble() >= text(1, "relative output error").toDouble());

  const int row = text(0, "head") == "1" ? 0 : 1;
  emit dialog.heads().activated(table.index(row, column("best choice")));
  CHECK(window.study().session().head == 1);
  REQUIRE(window.study().session().columns.size() == 2);
  CHECK(QString::fromStdString(find_variant(window.study().session().columns[1].variant).label) ==
        cheapest);

  const QTemporaryDir folder;
  const auto export_to = [&](const QString& name) {
    dialog.export_heads(folder.filePath(name));
    CHECK(wait_until([&] { return dialog.message_text().startsWith("Wrote"); }));
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
  dialog.copy();
  CHECK(QApplication::clipboard()->text() == QString::fromUtf8(export_to("heads.csv")));
  CHECK(QApplication::clipboard()->text().count('\n') == 3);
}

TEST_CASE("settings are tried while the window stays in use") {
  Window window("synthetic:clusters?n=1024&d=32&heads=3&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  ExploreDialog& dialog = open_dialog(window, "explore");
  auto* scope = dialog.findChild<QComboBox*>("explore_scope");
  scope->setCurrentIndex(2);
  auto* settings = dialog.findChild<QComboBox*>("explore_settings");
  settings->setCurrentIndex(2);
  emit settings->activated(2);
  REQUIRE(dialog.run().running());
  REQUIRE(wait_until([&] { return !dialog.run().trials()->empty(); }));
  bool read = false;
  QObject::connect(&window.study(), &Study::pair_read, &dialog,
                   [&](std::shared_ptr<const PairReading> reading) { read = read || reading; });
  window.study().hover(100, 200, 0);
  CHECK(wait_until([&] { return read; }));
  window->change("head", [](Session& s) { s.head = 2; });
  REQUIRE(window.settle());
  CHECK(dialog.run().running());  // of all heads, for some 20 s
  // Stopped, it keeps what it has, also while the table is looked at, and goes on.
  auto* button = dialog.findChild<QPushButton*>("explore_start");
  button->click();
  const std::size_t kept = dialog.run().done();
  window.trigger("heads");
  CHECK_FALSE(dialog.run().running());
  CHECK(dialog.run().done() == kept);
  emit settings->activated(2);  // the same again
  CHECK_FALSE(dialog.run().running());
  CHECK(button->text().contains("Go on"));
  button->click();
  REQUIRE(wait_until([&] { return dialog.run().done() > kept; }));
  settings->setCurrentIndex(0);
  emit settings->activated(0);
  REQUIRE(finish(dialog));
  CHECK_FALSE(dialog.run().stale());
  CHECK(said(dialog, "explore_state").contains("CPU"));
}

TEST_CASE("a source without Q, K and V has no settings to try, and the dialog says why") {
  Window window("synthetic:hmatrix");
  ExploreDialog& dialog = open_dialog(window, "explore");
  CHECK_FALSE(dialog.run().running());
  CHECK_FALSE(dialog.findChild<QPushButton*>("explore_start")->isEnabled());
  // Settings of another source do not become columns of this one.
  window->open(two_heads);
  REQUIRE(wait_until([&] { return window.study().length() == 96 && window.study().settled(); }));
  window.trigger("explore");
  REQUIRE(finish(dialog));
  CHECK_FALSE(dialog.plot().spots().empty());
  window->open("synthetic:hmatrix");
  REQUIRE(wait_until([&] { return window.study().shows_matrix() && window.study().settled(); }));
  CHECK(dialog.plot().spots().empty());
  CHECK(said(dialog, "explore_state").contains("Another file was opened"));
  CHECK(dialog.plot().accessibleDescription().contains("only an attention matrix"));
  dialog.close();
}

TEST_CASE("a closed dialog holds no source that is no longer shown") {
  Window window(two_heads);
  REQUIRE(window.settle());
  ExploreDialog& dialog = open_dialog(window, "explore");
  REQUIRE(finish(dialog));
  auto* pages = dialog.findChild<QTabWidget*>();
  for (int page = pages->count() - 1; page >= 0; --page) pages->setCurrentIndex(page);
  const std::weak_ptr tried = window.study().source();
  dialog.close();
  window->open("synthetic:clusters?n=64&d=8&seed=2");
  REQUIRE(wait_until([&] { return window.study().length() == 64 && window.study().settled(); }));
  CHECK(wait_until([&] { return tried.expired(); }));
}

}  // namespace fovea::test
