// What panels show of a head that is a recurrence.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "panels/head_card.h"
#include "panels/scene.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Problem recurrent_head() {
  Matrix q = gaussian(60, 5, 1), k = gaussian(60, 5, 2);
  normalise_rows(q);
  normalise_rows(k);
  Problem problem = make_problem(std::move(q), std::move(k), gaussian(60, 4, 3), 0, true);
  problem.recurrence = std::make_shared<const Recurrence>(Recurrence{
      .beta = std::vector(60, 0.8f), .log_decay = Matrix(60, 1, -0.02f), .level_weights = {}});
  return problem;
}

bool caption_says(const std::string& caption, const char* words) {
  return caption.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("titles of a recurrence say that it is the reference, and whose gates a column takes") {
  Scene scene(recurrent_head(), "ssd", {});
  const Panel approximate = scene.panel(find_view("heatmap"));
  CHECK(approximate.subtitle.starts_with("gates of the head · "));
  CHECK(caption_says(approximate.caption, "without the delta rule of the head"));
  Scene exact(recurrent_head(), "exact", {});
  CHECK(exact.panel(find_view("heatmap")).subtitle == "gated delta rule, the reference");
}

TEST_CASE("weights of a recurrence are coloured by their signs, and a row has their magnitudes") {
  for (const char* id : {"exact", "ssd"}) {
    CAPTURE(id);
    Scene scene(recurrent_head(), id, {});
    const Panel panel = scene.panel(find_view("heatmap"));
    const auto& raster = std::get<Raster>(panel.body);
    CHECK(raster.palette == Palette::diverging);
    CHECK(raster.low == -raster.high);
    const Panel of_query = scene.panel(find_view("row"), {0, 60}, {0, 60}, 512, 40);
    const auto& row = std::get<RowCurve>(of_query.body);
    CHECK(caption_says(of_query.caption, "magnitudes |P|"));
    const Matrix p = scene.p(true), exact = scene.p(false);
    for (Index j = 0; j < 60; ++j) {
      CHECK(row.approximate[static_cast<std::size_t>(j)] == std::abs(p(40, j)));
      CHECK(row.exact[static_cast<std::size_t>(j)] == std::abs(exact(40, j)));
    }
  }
}

TEST_CASE("the error of SSD is what the delta rule erases") {
  Scene scene(recurrent_head(), "ssd", {});
  scene.settings.norm = Norm::linear;
  const Panel panel = scene.panel(find_view("error"));
  const auto& raster = std::get<Raster>(panel.body);
  const Matrix p = scene.p(true), exact = scene.p(false);
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j <= i; ++j)
      CHECK(raster.values(i, j) == doctest::Approx(p(i, j) - exact(i, j)));
}

TEST_CASE("the card of a recurrence has no entropy and no density") {
  const Problem problem = recurrent_head();
  Layer layer{.name = {},
              .q = make_head_tensor({Matrix::copy_of(problem.q)}),
              .k = make_head_tensor({Matrix::copy_of(problem.k)}),
              .v = make_head_tensor({Matrix::copy_of(problem.v)}),
              .attention = {},
              .conditions = {}};
  layer.conditions.causal = true;
  layer.conditions.recurrence.erases = true;
  Source source;
  source.layers.push_back(std::move(layer));
  Profile profile;
  Run run{profile};
  const HeadCard card = make_head_card(source, {}, *backends().front(), run);
  CHECK(std::isnan(card.entropy));
  CHECK(std::isnan(card.density));
  CHECK(card.future_mass == 0);
  CHECK_FALSE(card.picture.empty());
}
