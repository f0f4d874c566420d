// A view that is only in the table is a row of the window, with its settings in the bar and menus.
#include <doctest/doctest.h>

#include <QAction>
#include <QComboBox>

#include "view_values.h"
#include "window/harness.h"
#include "window/row_settings.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the menu of rows shows the toy view, and undo hides it") {
  Window window(small);
  const View toy = find_view("toy");
  for (QAction* action : window->findChildren<QAction*>())
    if (action->text() == "Toy distance") action->trigger();
  REQUIRE(row_of(window, toy) == 4);
  REQUIRE(window.settle());
  const Panel& shown = panel(window, toy, 1);
  CHECK(shown.caption == "power 1");
  CHECK(std::get<Raster>(shown.body).quantity == "toy distance");
  const Matrix& all = std::get<Raster>(shown.body).values;
  const std::vector<float> before{all(0, all.cols() - 1)};
  auto* side = window.row_settings(toy).findChild<QComboBox*>("view_Side");
  REQUIRE(side);
  CHECK(side->isEnabled());
  side->setCurrentIndex(1);
  emit side->activated(1);
  CHECK(view_value(window.study().session().settings, "toy_side") == "before");
  REQUIRE(window.settle());
  const Matrix& values = std::get<Raster>(panel(window, toy, 1).body).values;
  CHECK(values(0, values.cols() - 1) == 0);  // a key after the query
  CHECK(before.front() > 0);
  window.shoot("toy view");
  window.trigger("undo");
  window.trigger("undo");
  CHECK(row_of(window, toy) == 4);  // their number: it is not there
  CHECK(window.study().session().views.size() == 4);
}
