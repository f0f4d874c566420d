// Views of a part of the matrix: what stands at a pixel is of the tokens that the pixel covers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/pairs.h"
#include "panels/scene.h"
#include "views/rank_body.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the level at a pixel's centre is shown, wherever the view begins") {
  Scene scene(make_data(Data::gaussian, 64, 3, 2, true), "h1d", {{"block", "4"}});
  const Matrix owner = level_owner(scene.computation.op->plan(), {0, 64}, {0, 64});
  for (const auto& [rows, cols] :
       {std::pair{IndexRange{0, 64}, IndexRange{0, 64}}, {IndexRange{9, 41}, IndexRange{3, 35}}})
    for (const Index pixels : {8, 64}) {
      const auto raster =
          std::get<Raster>(scene.panel(find_view("level"), rows, cols, pixels).body);
      const Index side = rows.size() / raster.values.rows();
      for (Index r = 0; r < raster.values.rows(); ++r)
        for (Index c = 0; c < raster.values.cols(); ++c) {
          const float level =
              owner(rows.begin + r * side + side / 2, cols.begin + c * side + side / 2);
          CHECK(raster.values(r, c) ==
                (level < 0 ? -std::numeric_limits<float>::infinity() : level));
        }
    }
}

TEST_CASE("the strip of output errors is the distance of each token's outputs") {
  Scene scene(make_data(Data::gaussian, 40, 4, 4, false), "hyper",
              {{"block", "8"}, {"samples", "8"}, {"min_length", "8"}});
  const auto strip = std::get<Strip>(scene.panel(find_view("output")).body);
  const Matrix &z = scene.computation.output.z, &exact = scene.exact.output.z;
  REQUIRE(strip.values.size() == 40);
  for (Index i = 0; i < 40; ++i) {
    double sum = 0;
    for (Index c = 0; c < 4; ++c) sum += std::pow(double(z(i, c)) - double(exact(i, c)), 2);
    CHECK(double(strip.values[std::size_t(i)]) == doctest::Approx(std::sqrt(sum)).epsilon(1e-6));
  }
}

TEST_CASE("a rank map of a part of the tokens has its blocks where the part is") {
  const Matrix p = gaussian(64, 64, 3);
  Profile profile;
  Run run{profile};
  views::RankSettings settings;
  settings.leaf = 4;
  std::string caption;
  const auto entries = [&](IndexRange rows, IndexRange cols) {
    CHECK((rows.begin >= 24 && rows.end <= 40 && cols.begin >= 24 && cols.end <= 40));
    Matrix part(rows.size(), cols.size());
    for (Index i = 0; i < rows.size(); ++i)
      for (Index j = 0; j < cols.size(); ++j) part(i, j) = p(rows.begin + i, cols.begin + j);
    return part;
  };
  const auto body = views::rank_body({{{64, 64}, {24, 40}, {24, 40}}, false, entries, "P"},
                                     settings, *backends().front(), caption, run);
  const RankMap& map = std::get<BlockMap>(body).map;
  CHECK(map.lengths == Lengths{64, 64});
  Matrix covered(64, 64);
  for (const RankBlock& block : map.blocks)
    for (Index i = block.rows.begin; i < block.rows.end; ++i)
      for (Index j = block.cols.begin; j < block.cols.end; ++j) covered(i, j) += 1;
  for (Index i = 0; i < 64; ++i)
    for (Index j = 0; j < 64; ++j) {
      const bool inside = 24 <= i && i < 40 && 24 <= j && j < 40;
      CHECK(covered(i, j) == (inside ? 1.0f : 0.0f));
    }
  CHECK(caption.starts_with("tokens 24 to 39"));
}

TEST_CASE("the level view tells how much exact attention is on each level, and how much is given") {
  Scene scene(make_data(Data::gaussian, 40, 3, 2, false), "h1d", {{"block", "10"}});
  scene.diagnostics = {{"level_mass_exact_0", "", 0.625, "", false},
                       {"level_mass_approximate_0", "", 0.75, "", false},
                       {"level_mass_exact_1", "", 0.375, "", false},
                       {"level_mass_approximate_1", "", 0.25, "", false}};
  CHECK(scene.panel(find_view("level")).caption ==
        "exact attention on levels 0, 1, …: 62 %, 38 %; given to them: 75 %, 25 %");
  scene.diagnostics[0].sampled = scene.diagnostics[1].sampled = true;
  scene.diagnostics[0].standard_error = 0.01;
  scene.diagnostics[1].standard_error = 0.02;  // the largest is said of all
  CHECK(scene.panel(find_view("level"))
            .caption.ends_with("25 % (from sampled rows, each ± 2 % or less)"));
}
