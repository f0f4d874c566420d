// What heads do: the table, the points, and the bars over the pictures of heads.
#include <doctest/doctest.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QSettings>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>
#include <cmath>

#include "io/safetensors_writer.h"
#include "report/measured_heads.h"
#include "session/measured_source.h"
#include "temporary_directory.h"
#include "window/docks/explore_dock.h"
#include "window/docks/head_gallery.h"
#include "window/docks/head_scatter_plot.h"
#include "window/docks/measures_model.h"
#include "window/docks/measures_page.h"
#include "window/harness.h"
#include "window/widgets/sorted_table.h"

namespace fovea::test {
namespace {

const QString three_heads = "synthetic:clusters?n=96&d=8&heads=3&seed=1";

ExploreDock& open_measures(Window& window) {
  window.trigger("measures");
  ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return !dock.measures().state().progress; }));
  return dock;
}

MeasuredHead measured(Window& window, Index head) {
  Profile profile;
  Run run{profile};
  return measure_head(*window.study().source(), {.layer = 0, .head = head},
                      window.study().backend(), run);
}

int column_of(const std::string& id) {
  return MeasuresModel::first_measure + int(*head_measure_with(id));
}

}  // namespace

TEST_CASE("what heads do: a table of all heads, measured without trying any setting") {
  Window window(three_heads);
  REQUIRE(window.settle());
  ExploreDock& dock = open_measures(window);
  CHECK(dock.run().total() == 0);
  const QAbstractItemModel& table = *dock.measures().table().model();
  REQUIRE(table.rowCount() == 3);
  REQUIRE(table.columnCount() == column_of("previous_token") + int(head_measures().size()));
  for (int row = 0; row < 3; ++row) {
    const MeasuredHead expected = measured(window, row);
    for (std::size_t m = 0; m < head_measures().size(); ++m)
      CHECK(table.index(row, MeasuresModel::first_measure + int(m)).data().toString() ==
            QString::fromStdString(to_text(head_measures()[m], expected.values[m].estimate)));
  }
  const QModelIndex induction = table.index(0, column_of("induction"));
  CHECK(induction.data().toString() == "–");
  CHECK(induction.data(Qt::ToolTipRole).toString().contains("does not name its tokens"));

  QTableView& view = dock.measures().table();
  view.sortByColumn(column_of("entropy"), Qt::DescendingOrder);
  const auto entropy = [&](int row) {
    return table.index(row, column_of("entropy")).data(MeasuresModel::sort_role).toDouble();
  };
  CHECK(entropy(0) >= entropy(1));
  CHECK(entropy(1) >= entropy(2));
  CHECK_FALSE(table.index(0, column_of("induction")).data(MeasuresModel::sort_role).isValid());
  const int head = table.index(2, 1).data().toInt();
  emit view.activated(table.index(2, 0));
  CHECK(window.study().session().head == head);

  dock.copy();
  CHECK(QApplication::clipboard()->text().startsWith("layer,layer_label,head,inputs"));
  CHECK(QApplication::clipboard()->text().count('\n') == 4);
  window->findChild<QDockWidget*>("Which attention?")->close();
}

TEST_CASE("what heads do: heads are points by any two measures, and a click opens one") {
  Window window(three_heads);
  REQUIRE(window.settle());
  ExploreDock& dock = open_measures(window);
  HeadScatterPlot& plot = dock.measures().plot();
  auto* across = dock.findChild<QComboBox*>("measure_across");
  across->setCurrentIndex(int(*head_measure_with("effective_rank")));
  REQUIRE(plot.spots().size() == 3);
  for (const HeadPoint& point : plot.scatter().points) {
    const MeasuredHead expected = measured(window, point.head);
    CHECK(point.x == expected.values[*head_measure_with("effective_rank")].estimate.value);
    CHECK(point.y == expected.values[*head_measure_with("entropy")].estimate.value);
  }
  // The rightmost point has the largest rank.
  const auto spots = plot.spots();
  const auto right = std::ranges::max_element(spots, {}, &QPointF::x) - spots.begin();
  for (const HeadPoint& point : plot.scatter().points)
    CHECK(point.x <= plot.scatter().points[std::size_t(right)].x);
  const HeadPoint wanted = plot.scatter().points[std::size_t(right)];
  QTest::mouseMove(&plot, spots[std::size_t(right)].toPoint());
  REQUIRE(wait_until([&] { return plot.chosen().has_value(); }));
  CHECK(dock.findChild<QLabel*>("measure_reading")
            ->text()
            .contains(QString("head %1").arg(wanted.head)));
  QTest::mouseClick(&plot, Qt::LeftButton, {}, spots[std::size_t(right)].toPoint());
  CHECK(window.study().session().head == wanted.head);
  // A measure that no head has says why.
  across->setCurrentIndex(int(*head_measure_with("induction")));
  CHECK(plot.spots().empty());
  CHECK(plot.accessibleDescription() == "The source does not name its tokens.");
  window->findChild<QDockWidget*>("Which attention?")->close();
}

TEST_CASE("what heads do: another source is measured in its place, a given matrix too") {
  Window window(three_heads);
  REQUIRE(window.settle());
  ExploreDock& dock = open_measures(window);
  window->open("synthetic:hmatrix");
  REQUIRE(wait_until([&] { return window.study().shows_matrix() && window.study().settled(); }));
  const QAbstractItemModel& table = *dock.measures().table().model();
  REQUIRE(wait_until([&] { return table.rowCount() == 1 && !dock.measures().state().progress; }));
  CHECK(table.index(0, column_of("effective_rank")).data().toString() != "–");
  window->findChild<QDockWidget*>("Which attention?")->close();
}

TEST_CASE("rows without a value come last, whichever way they are sorted") {
  QStandardItemModel source(5, 1);
  const std::vector<QVariant> values{{}, 2.0, {}, -1.0, INFINITY};
  for (int row = 0; row < 5; ++row) source.setData(source.index(row, 0), values[row], Qt::UserRole);
  SortedRows sorted(source, Qt::UserRole, nullptr);
  const auto order = [&] {
    std::vector<int> rows;
    for (int row = 0; row < 5; ++row)
      rows.push_back(sorted.mapToSource(sorted.index(row, 0)).row());
    return rows;
  };
  sorted.sort(0, Qt::AscendingOrder);
  CHECK(order() == std::vector{3, 1, 4, 0, 2});
  sorted.sort(0, Qt::DescendingOrder);
  CHECK(order() == std::vector{4, 1, 3, 0, 2});
}

TEST_CASE("what heads do: a head that cannot be measured says why, and is not waited for") {
  const TemporaryDirectory folder;
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"}) {
    std::vector<float> numbers(2 * 16 * 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i % 7) / 7;
    numbers.back() = std::nanf("");  // of the second head
    tensors.push_back({name, {2, 16, 4}, std::move(numbers)});
  }
  const std::string file = folder / "broken.safetensors";
  write_safetensors(file, tensors, {});
  Window window(QString::fromStdString(file));
  REQUIRE(window.settle());
  ExploreDock& dock = open_measures(window);
  const QAbstractItemModel& table = *dock.measures().table().model();
  REQUIRE(table.rowCount() == 2);
  CHECK(table.index(0, column_of("entropy")).data().toString() != "–");
  const QModelIndex broken = table.index(1, column_of("entropy"));
  CHECK(broken.data().toString() == "–");
  CHECK(broken.data(Qt::ToolTipRole).toString().contains("NaN"));
  CHECK(dock.measures().state().text.contains("1 of 2 heads cannot be measured"));
  CHECK(dock.measures().state().can_export);
  window->findChild<QDockWidget*>("Which attention?")->close();
}

TEST_CASE("heads have bars of a measure, and are only measured while these are shown") {
  Window window(three_heads);
  REQUIRE(window.settle());
  CHECK_FALSE(window.study().measured_head(0, 0));
  auto* bars = window->findChild<QComboBox*>("head_bars");
  auto* gallery = window->findChild<HeadGallery*>("heads");
  bars->setCurrentIndex(1 + int(*head_measure_with("entropy")));
  REQUIRE(wait_until([&] {
    for (Index h = 0; h < 3; ++h)
      if (!window.study().measured_head(0, h)) return false;
    return true;
  }));
  const MeasuredHead expected = measured(window, 1);
  const std::size_t entropy = *head_measure_with("entropy");
  const QString text = QString::fromStdString(
      "entropy, nats " + to_text(head_measures()[entropy], expected.values[entropy].estimate));
  REQUIRE(wait_until([&] { return window.study().card(0, 1) != nullptr; }));
  CHECK(gallery->model()->index(0, 1).data(Qt::ToolTipRole).toString().contains(text));
  bars->setCurrentIndex(0);
  CHECK_FALSE(
      gallery->model()->index(0, 1).data(Qt::ToolTipRole).toString().contains("entropy, n"));
}

}  // namespace fovea::test
