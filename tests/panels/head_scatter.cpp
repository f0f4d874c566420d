// All heads by two of their measures.
#include "panels/head_scatter.h"

#include <doctest/doctest.h>

#include "views/views.h"

using namespace fovea;

TEST_CASE(
    "heads by two measures: each is a point of its layer, of a stronger colour in later ones") {
  const std::size_t x = *head_measure_with("induction"), y = *head_measure_with("entropy");
  HeadScatter scatter{.points = {{.layer = 0, .head = 0, .x = 0.5, .y = 2},
                                 {.layer = 2, .head = 0, .x = 0.1, .y = 1},
                                 {.layer = 0, .head = 1, .x = 0.2, .y = 3}},
                      .x = x,
                      .y = y,
                      .layers = 3};
  const Panel panel = make_panel(scatter);
  CHECK(panel.title == "entropy, nats against induction");
  CHECK(panel.caption.starts_with("3 heads"));
  const auto& plot = std::get<CurvePlot>(panel.body);
  CHECK(plot.x_label == "induction");
  CHECK(plot.y_label == "entropy, nats");
  REQUIRE(plot.curves.size() == 2);  // the second layer has no head
  const std::vector<std::pair<double, double>> first{{0.2, 3}, {0.5, 2}}, last{{0.1, 1}};
  CHECK(plot.curves[0].points == first);
  CHECK(plot.curves[1].points == last);
  CHECK(plot.curves[0].name == "layer 0");
  CHECK(plot.curves[1].name == "layer 2");
  CHECK(plot.curves[0].shade < plot.curves[1].shade);
  for (const CurvePlot::Curve& curve : plot.curves) CHECK(curve.apart);

  scatter = {.points = {{.x = 1, .y = 1}}, .x = x, .y = y};
  const Panel alone = make_panel(scatter);
  const auto& single = std::get<CurvePlot>(alone.body);
  REQUIRE(single.curves.size() == 1);
  CHECK(single.curves[0].name.empty());
  CHECK(single.curves[0].shade == 1);
}

TEST_CASE("heads by two measures: a plot without points says why") {
  const Panel panel = make_panel(HeadScatter{.message = "Nothing is open."});
  CHECK(std::get<Message>(panel.body).text == "Nothing is open.");
}
