// What is among the numbers of a raster, and which range its colours have.
#include "drawing/colour_scale.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "views/views.h"

using namespace fovea;
using namespace fovea::drawing;

TEST_CASE("contents of a raster: every kind of number is found wherever it stands") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [row, col] : {std::pair{0, 0}, {4, 36}, {2, 17}}) {
    Raster raster;
    raster.values = Matrix(5, 37, -2.0f);
    const RasterContents plain = contents_of(raster);
    CHECK((plain.low == -2 && plain.high == -2 && !plain.masked && !plain.not_a_number));
    raster.values(row, col) = -infinity;
    CHECK((contents_of(raster).masked && contents_of(raster).low == -2));
    raster.values(row, col) = std::numeric_limits<float>::quiet_NaN();
    const RasterContents broken = contents_of(raster);
    CHECK((broken.not_a_number && !broken.masked && broken.low == -2 && broken.high == -2));
    raster.values(row, col) = infinity;
    CHECK((contents_of(raster).high == double{infinity} && !contents_of(raster).masked));
    raster.values(row, col) = -7;
    CHECK((contents_of(raster).low == -7 && contents_of(raster).high == -2));
  }
  Raster masked;
  masked.values = Matrix(2, 2, -infinity);
  CHECK((contents_of(masked).masked && contents_of(masked).low > contents_of(masked).high));
}

TEST_CASE("law: colours of signed numbers reach as far to both sides, whichever is larger") {
  for (const double low : {-3.0, -1.0, 0.0})
    for (const double high : {0.0, 0.5, 1.0, 4.0}) {
      CAPTURE(low);
      CAPTURE(high);
      Panel panel;
      panel.body = Raster{.palette = Palette::diverging, .low = low, .high = high};
      const auto scale = scales_of_row(find_view("error"), {&panel}, {}).of[0];
      CHECK(scale->high == std::max(-low, high));
      CHECK(scale->low == -scale->high);
    }
}

TEST_CASE("the label of a heatmap by row says once what it is divided by") {
  Panel panel;
  panel.body = Raster{.norm = Norm::row_max, .quantity = "P / largest of its row"};
  const std::vector<const Panel*> panels{&panel};
  CHECK(scales_of_row(find_view("heatmap"), panels, {}).of[0]->label == "P / largest of its row");
}

TEST_CASE("panels of some columns have the ranges that were chosen for these columns") {
  Panel panel;
  panel.body = Raster{.quantity = "weight"};
  ViewSettings settings;
  settings.shared_range = false;
  settings.ranges = {{find_view("heatmap"), 0, 0, 0.3}, {find_view("heatmap"), 2, 0, 0.7}};
  const RowScales row = scales_of_row(find_view("heatmap"), {&panel, &panel}, settings, {2, 1});
  CHECK(row.of[0]->high == 0.7);
  CHECK(row.of[1]->high == 1);  // of column 1, for which none was chosen
}

TEST_CASE(
    "a range chosen for a column counts where the row shares none, also in a row of one panel") {
  Panel panel;
  panel.body = Raster{.quantity = "weight"};
  for (const std::size_t count : {1, 2}) {
    CAPTURE(count);
    const std::vector<const Panel*> panels(count, &panel);
    ViewSettings settings;
    const auto high = [&] {
      return scales_of_row(find_view("heatmap"), panels, settings).of[0]->high;
    };
    settings.ranges = {{find_view("heatmap"), 0, 0, 0.3}};
    settings.shared_range = false;
    CHECK(high() == 0.3);
    settings.shared_range =
        true;  // as the row's bar and lock have it, which choose for all columns
    CHECK(high() == 1);
    settings.choose_range({find_view("heatmap"), -1, 0, 0.5});
    CHECK(high() == 0.5);
    CHECK(scales_of_row(find_view("heatmap"), panels, settings).shared->high == 0.5);
  }
}

TEST_CASE("the scale of a row covers all its panels, in whatever order they stand") {
  const auto raster = [](double low, double high) {
    Panel panel;
    panel.body = Raster{.palette = Palette::sequential,
                        .low = low,
                        .high = high,
                        .quantity = "weight",
                        .under_name = "outside of the mask"};
    return panel;
  };
  const std::vector<Panel> made{raster(2, 5), raster(1, 4), raster(3, 9)};
  std::vector<const Panel*> panels{&made[0], &made[1], &made[2]};
  std::ranges::sort(panels);
  do {
    ViewSettings settings;
    settings.shared_range = true;
    RowScales row = scales_of_row(find_view("heatmap"), panels, settings);
    REQUIRE(row.shared);
    CHECK(row.count == 3);
    CHECK(row.shared->low == 1);
    CHECK(row.shared->high == 9);
    CHECK(row.shared->least == 1);
    // What lies below the range is fewer than can be seen only where the range begins higher.
    row.shared->under = true;
    CHECK(row.shared->under_text() == "outside of the mask");
    settings.choose_range({find_view("heatmap"), -1, 1.5, 9});
    row = scales_of_row(find_view("heatmap"), panels, settings);
    REQUIRE(row.shared);
    row.shared->under = true;
    CHECK(row.shared->under_text() == "fewer, or outside of the mask");
  } while (std::ranges::next_permutation(panels).found);
}
