// Where an approximation fails: tokens shaded by their output error, the worst queries, and the
// keys that a query attends to most.
#include <doctest/doctest.h>

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QStatusBar>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "analysis/worst_queries.h"
#include "views/views.h"
#include "window/docks/failure_box.h"
#include "window/harness.h"
#include "window/widgets/fold.h"
#include "window/widgets/readings.h"

namespace fovea::test {
namespace {

/// With exact attention and one approximation, which is selected and measured.
Window open_with_errors() {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "hyper"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  REQUIRE(wait_until([&] { return window.study().columns()[1].metrics != nullptr; }));
  return window;
}

std::vector<Index> worst_first(const Study& study) {
  const std::vector<float>& errors = study.columns()[1].metrics->token_error;
  std::vector<Index> order;
  for (Index i = 0; i < std::ssize(errors); ++i) order.push_back(i);
  std::ranges::stable_sort(
      order, [&](Index a, Index b) { return errors[std::size_t(a)] > errors[std::size_t(b)]; });
  return order;
}

}  // namespace

TEST_CASE("tokens are shaded by the output error of the selected column") {
  Window window = open_with_errors();
  auto* shade = window->findChild<QComboBox*>("shade");
  auto* note = window->findChild<QLabel*>("query_note");
  SequenceView& tokens = *window->docks().sequence;
  REQUIRE(wait_until([&] { return note->text().contains("attention of query"); }));
  const QImage by_attention = tokens.grab().toImage();
  shade->setCurrentIndex(1);
  CHECK(note->text().contains("output error |z̃ − z| of HyperAttention"));
  const QImage by_error = tokens.grab().toImage();
  CHECK(by_error != by_attention);
  // Another seed has other errors.
  window->change("seed", [](Session& s) { s.columns[1].seed = 5; });
  REQUIRE(wait_until([&] {
    return window.study().columns()[1].key.column.seed == 5 && window.study().columns()[1].metrics;
  }));
  CHECK(tokens.grab().toImage() != by_error);
  window.study().select_column(0);
  CHECK(wait_until([&] { return note->text().contains("makes no error"); }));
  shade->setCurrentIndex(0);
  CHECK_FALSE(note->text().contains("error"));
}

TEST_CASE("a key goes from the worst query to the next worst, and back") {
  Window window = open_with_errors();
  const std::vector<Index> order = worst_first(window.study());
  for (const Index wanted : {order[0], order[1], order[2]}) {
    window.trigger("worst");
    CHECK(window.study().session().pinned_query == wanted);
  }
  CHECK(window->statusBar()->currentMessage().contains(
      "the 3rd worst of 128 queries for HyperAttention"));
  window.trigger("less_bad");
  CHECK(window.study().session().pinned_query == order[1]);
  // By the errors of other parameters the worst one comes first again.
  window->change("seed", [](Session& s) { s.columns[1].seed = 3; });
  REQUIRE(wait_until([&] {
    const ColumnState& column = window.study().columns()[1];
    return column.key.column.seed == 3 && column.metrics && !column.stale;
  }));
  window.trigger("worst");
  const Index worst = worst_first(window.study())[0];
  CHECK(window.study().session().pinned_query == worst);
  window.study().select_column(0);
  window.trigger("worst");
  CHECK(window.study().session().pinned_query == worst);
  CHECK(window->statusBar()->currentMessage().contains("Exact attention makes no error"));
}

TEST_CASE("a click on a top key goes to its pair") {
  Window window = open_with_errors();
  window->change("pin", [](Session& s) { s.pinned_query = 17; });
  const auto links = [&] {
    std::vector<QLabel*> found;
    for (QLabel* label : window->docks().column->findChildren<QLabel*>())
      if (label->isVisibleTo(window->docks().column) && label->property("style") == "key")
        found.push_back(label);
    return found;
  };
  const auto heading = [&] {
    for (const QLabel* label : window->docks().column->findChildren<QLabel*>())
      if (label->text().startsWith("Top keys of query 17")) return true;
    return false;
  };
  REQUIRE(wait_until([&] { return heading() && links().size() >= 6; }));
  QLabel* label = links()[1];
  const Index key = label->text().remove(QChar(0x200E)).section(' ', 0, 0).toLongLong();
  QTest::mouseClick(label, Qt::LeftButton);
  CHECK(window.study().session().pinned_query == 17);
  CHECK(window.study().hovered_query() == 17);
  CHECK(window.study().hovered_key() == key);
}

TEST_CASE("the keys that a query lost and gained most weight at are listed") {
  Window window = open_with_errors();
  window->change("pin", [](Session& s) { s.pinned_query = 17; });
  const auto row_below = [&](const QString& heading) {
    QStringList texts;
    for (const auto* readings : window->docks().column->findChildren<Readings*>())
      if (readings->accessibleName() == heading)
        for (const auto* label : readings->findChildren<QLabel*>())
          if (!label->isHidden()) texts << label->text();
    return texts;
  };
  std::shared_ptr<const RowReading> row, exact;
  QObject::connect(&window.study(), &Study::row_read, [&](auto r) { row = r; });
  QObject::connect(&window.study(), &Study::exact_row_read, [&](auto r) { exact = r; });
  window.study().hover(-1, -1, -1);
  window->change("pin", [](Session& s) { s.pinned_query = 18; });
  REQUIRE(wait_until([&] { return row && exact && row->query == 18 && exact->query == 18; }));
  REQUIRE(wait_until([&] { return row_below("Lost keys").size() == 8; }));
  Index most = 0;
  for (Index j = 0; j < std::ssize(row->values); ++j) {
    const auto lost = [&](Index k) {
      return exact->values[std::size_t(k)] - row->values[std::size_t(k)];
    };
    if (lost(j) > lost(most)) most = j;
  }
  CHECK(row_below("Lost keys")[0].remove(QChar(0x200E)).section(' ', 0, 0).toLongLong() == most);
  CHECK(row_below("Gained keys").size() == 8);
  window.study().select_column(0);  // exact attention loses nothing
  CHECK(wait_until([&] { return row_below("Lost keys").isEmpty(); }));
}

TEST_CASE("the docks return to their first layout") {
  Window window(small);
  const auto docks = window->findChildren<QDockWidget*>();
  REQUIRE(docks.size() == 8);
  auto* column = window->findChild<QDockWidget*>("Column");
  auto* timing = window->findChild<QDockWidget*>("Timing");
  column->setFloating(true);
  timing->show();
  window->addDockWidget(Qt::LeftDockWidgetArea, timing);
  window.trigger("reset_layout");
  for (QDockWidget* dock : docks) {
    CHECK_FALSE(dock->isFloating());
    const bool beside = dock == column || dock->objectName() == "Input";
    CHECK(dock->isVisibleTo(&*window) == beside);
  }
  CHECK(window->dockWidgetArea(column) == Qt::RightDockWidgetArea);
  CHECK(window->dockWidgetArea(timing) == Qt::BottomDockWidgetArea);
}

TEST_CASE("the strip opens one dock below the canvas at a time, and closes it again") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")});  // as at first
  REQUIRE(window.settle());
  const auto press = [&](const QString& name) {
    for (auto* button : window->docks().strip->findChildren<QToolButton*>())
      if (button->text() == name) button->click();
    QTest::qWait(50);
  };
  const auto is_open = [&](const char* name) {
    return window->findChild<QDockWidget*>(name)->isVisible();
  };
  const QRectF panel = window->canvas().panel_place(0, 1);
  press("Timing");
  CHECK(is_open("Timing"));
  CHECK(window->canvas().panel_place(0, 1) == panel);  // nothing moves
  const int height = window->findChild<QDockWidget*>("Timing")->height();
  press("Comparison");
  CHECK(is_open("Comparison"));
  CHECK_FALSE(is_open("Timing"));
  CHECK(window->findChild<QDockWidget*>("Comparison")->height() == height);
  press("Comparison");
  CHECK_FALSE(is_open("Comparison"));
  // One that floats stays beside the others.
  press("Spans");
  window->findChild<QDockWidget*>("Spans")->setFloating(true);
  press("Timing");
  CHECK(is_open("Spans"));
  CHECK(is_open("Timing"));
  window.trigger("canvas_alone");
  CHECK_FALSE(is_open("Timing"));
  window.trigger("canvas_alone");
  CHECK(is_open("Timing"));
}

TEST_CASE("the column's dock leads with error, cost and time, and folds stay as they were left") {
  {
    Window window(small);
    window.study().select_column(column_of(window, "fixed"));
    REQUIRE(window.settle());
    const auto says = [&](const QString& text) {
      return std::ranges::any_of(
          window->docks().column->findChildren<QLabel*>(), [&](const QLabel* label) {
            return label->isVisibleTo(window->docks().column) && label->text().contains(text);
          });
    };
    const auto& column = window.study().columns()[std::size_t(column_of(window, "fixed"))];
    REQUIRE(column.metrics);
    CHECK(says(
        QString::fromStdString(format_number(column.metrics->output_rel_fro, 3, Zeros::keep))));
    CHECK(says(QString::fromStdString(format_share(column.computation->cost.ratio_to_exact()))));
    CHECK(says("relative output error"));
    auto* fold = window->docks().column->findChild<Fold*>("fold_failure");
    REQUIRE(fold->is_open());
    CHECK(says("worst: "));
    fold->set_open(false);
    CHECK_FALSE(says("worst: "));
    window.study().select_column(0);
    CHECK(says("This is the reference."));
  }
  MainWindow again(make_low_priority_backend());
  CHECK_FALSE(again.docks().column->findChild<Fold*>("fold_failure")->is_open());
}

TEST_CASE("the worst query is listed at first, and a click pins it at the key that it has lost") {
  Window window(small);
  window.study().select_column(column_of(window, "hyper"));
  REQUIRE(wait_until([&] {
    const auto& column = window.study().columns()[std::size_t(window.study().selected_column())];
    return column.metrics && column.metrics->of_outputs();
  }));
  const auto& column = window.study().columns()[std::size_t(window.study().selected_column())];
  const Index worst = worst_queries(column.metrics->token_error).front();
  FailureBox& failure = window->docks().column->failure();
  REQUIRE(wait_until([&] { return failure.most_lost() && failure.most_lost()->first == worst; }));
  const Index lost = failure.most_lost()->second;

  emit failure.query_chosen(worst);
  CHECK(window.study().session().pinned_query == worst);
  CHECK(window.study().hovered_query() == worst);
  CHECK(window.study().hovered_key() == lost);
}

TEST_CASE("Q puts the crosshair on the key that the worst query has lost, once it is known") {
  Window window(small);
  window.study().select_column(column_of(window, "hyper"));
  const auto& column = window.study().columns()[std::size_t(window.study().selected_column())];
  REQUIRE(wait_until([&] { return column.metrics && column.metrics->of_outputs(); }));
  const auto order = worst_queries(column.metrics->token_error);
  FailureBox& failure = window->docks().column->failure();
  for (std::size_t place = 0; place < 2; ++place) {  // the second one is not listed yet
    window->navigation().step_worst(1);
    REQUIRE(wait_until(
        [&] { return failure.most_lost() && failure.most_lost()->first == order[place]; }));
    CHECK(window.study().hovered_query() == order[place]);
    CHECK(window.study().hovered_key() == failure.most_lost()->second);
  }
}

}  // namespace fovea::test
