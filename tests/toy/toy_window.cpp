// A view that is only in the table is a row of the window, with its settings in the bar and menus.
#include <doctest/doctest.h>

#include <QAction>
#include <QComboBox>

#include "view_values.h"
#include "window/harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the menu of rows shows the toy view, and undo hides it") {
  Window window(small);
  const View toy = find_view("toy");
  for (QAction* action : window->findChildren<QAction*>())
    if (action->text() == "Toy distance") action->trigger();
  REQUIRE(row_of(window, toy) == 4);
  REQUIRE(window.settle());
  const Panel& before = panel(window, toy, 1);
  CHECK(before.caption == "power 1");
  CHECK(std::get<Raster>(before.body).quantity == "toy distance");
  const float high = float(std::get<Raster>(before.body).high);
  auto* side = window->findChild<QComboBox*>("view_Side");
  REQUIRE(side);
  CHECK(side->isEnabled());
  side->setCurrentIndex(1);
  emit side->activated(1);
  CHECK(view_value(window.study().session().settings, "toy_side") == "before");
  REQUIRE(window.settle());
  CHECK(float(std::get<Raster>(panel(window, toy, 1).body).high) <= high);
  window.shoot("toy view");
  window.trigger("undo");
  window.trigger("undo");
  CHECK(row_of(window, toy) == 4);  // their number: it is not there
  CHECK(window.study().session().views.size() == 4);
}
