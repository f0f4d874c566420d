// A model whose layers come one by one, in the window.
#include <doctest/doctest.h>

#include <QCheckBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QStatusBar>
#include <QTableView>
#include <algorithm>

#include "model_elsewhere.h"
#include "views/views.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

bool says_in_status_line(Window& window, const QString& words) {
  return wait_until([&] {
    return std::ranges::any_of(window->statusBar()->findChildren<QLabel*>(),
                               [&](QLabel* label) { return label->text().contains(words); });
  });
}

}  // namespace

TEST_CASE("layers of a model that are still to come have rows, and the status line counts them") {
  const ModelElsewhere model("waits");
  Window window(QString::fromStdString(model.address("one two three")));
  show(window, {find_view("heatmap")}, {"exact"});
  window->findChild<QCheckBox*>("all_layers")->setChecked(true);
  REQUIRE(window.settle());
  auto* gallery = window->findChild<QTableView*>("heads");
  REQUIRE(gallery);
  CHECK(window.study().source()->layers.size() == 1);
  CHECK(gallery->model()->rowCount() == 3);
  CHECK(gallery->model()->columnCount() == 2);
  CHECK(says_in_status_line(window, "layer 1 of 3"));
  const int side = gallery->rowHeight(0);
  int resets = 0;
  QObject::connect(gallery->model(), &QAbstractItemModel::modelReset, gallery, [&] { ++resets; });
  const auto is_enabled = [&](int row) {
    return gallery->model()->flags(gallery->model()->index(row, 1)).testFlag(Qt::ItemIsEnabled);
  };
  CHECK(is_enabled(0));
  CHECK_FALSE(is_enabled(1));
  for (const int layer : {1, 2}) {
    model.let(layer);
    REQUIRE(wait_until([&] { return is_enabled(layer); }));
  }
  REQUIRE(wait_until([&] { return !window.study().growing(); }));
  CHECK(gallery->model()->rowCount() == 3);
  CHECK(gallery->rowHeight(0) == side);
  CHECK(resets == 0);
  window->editor().choose_head(2, 1);
  REQUIRE(window.settle());
  CHECK(window.study().problem()->head == 1);
  CHECK(window->info_bar().message().isEmpty());
}

}  // namespace fovea::test
