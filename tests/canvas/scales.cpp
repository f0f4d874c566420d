// Colour bars, what they name, and the progress of work.
#include "drawing/colour_scale.h"
#include "shown.h"
#include "views/views.h"

using namespace fovea;

namespace {

/// Pixels of a colour right of a panel.
int count_beside(const Shown& shown, const QImage& image, int row, int column, QRgb colour) {
  const double ratio = shown.canvas.devicePixelRatioF();
  const QRectF place = shown.canvas.panel_place(row, column);
  int found = 0;
  for (int y = int(place.top() * ratio); y < int((place.bottom() + 18) * ratio); ++y)
    for (int x = int((place.right() + 2) * ratio); x < image.width(); ++x)
      found += near(image.pixel(x, y) & 0xffffff, colour);
  return found;
}

}  // namespace

TEST_CASE("a rank map keeps its colour bar when every panel has a range of its own" *
          doctest::test_suite("pictures")) {
  for (const bool shared : {true, false}) {
    auto model = base_model(64, 1);
    model->views = {find_view("rank")};
    model->cells = {{cell_of(ranks(64))}};
    model->settings.shared_range = shared;
    Shown shown(model);
    CAPTURE(shared);
    CHECK(count_beside(shown, shown.picture(), 0, 0, rgb(colormap("ranks").steps[255])) > 0);
  }
}

TEST_CASE("a row's range is that of all its rasters, rank maps and categories have none to share") {
  auto model = matrix_model(64, 3);
  Raster high = heat(64, 64);
  high.high = 0.9;
  model->cells[0][2] = cell_of(high);
  const auto shared = [&](std::size_t row) {
    std::vector<const Panel*> panels;
    for (const CanvasCell& cell : model->cells[row]) panels.push_back(cell.panel.get());
    return drawing::scales_of_row(model->views[row], panels, model->settings).shared;
  };
  const auto range = shared(0), signed_one = shared(1);
  REQUIRE(range);
  CHECK(range->low == heat(64, 64).low);
  CHECK(range->high == 0.9);
  REQUIRE(signed_one);
  CHECK(signed_one->low == -signed_one->high);
  model->settings.shared_range = false;
  CHECK_FALSE(shared(0));
}

TEST_CASE("law: amounts of one name in a row have one top if they share ranges, others their own" *
          doctest::test_suite("pictures")) {
  const auto first_panel = [](const std::string& other, float top, bool shared) {
    auto model = base_model(64, 2);
    model->views = {find_view("output")};
    model->settings.shared_range = shared;
    model->cells.resize(1);
    for (const auto& [quantity, most] : {std::pair{std::string("error"), 1.0f}, {other, top}}) {
      Strip strip{.values = std::vector<float>(64, 0.25f * most), .quantity = quantity};
      strip.values[20] = most;
      model->cells[0].push_back(cell_of(strip, ""));
    }
    Shown shown(model);
    const double ratio = shown.canvas.devicePixelRatioF();
    const QRectF place = shown.canvas.panel_place(0, 0);
    return shown.picture().copy(QRectF(place.topLeft() * ratio, place.size() * ratio).toRect());
  };
  const QImage alone = first_panel("error", 1, true);
  CHECK(first_panel("error", 10, true) != alone);
  CHECK(first_panel("bound", 10, true) == alone);
  CHECK(first_panel("error", 10, false) == alone);
}

TEST_CASE("the line at a panel's top is as long as the work is far" *
          doctest::test_suite("pictures")) {
  auto model = base_model(64, 2);
  model->views = {find_view("heatmap")};
  model->cells = {
      {cell_of(heat(64, 64)), CanvasCell{nullptr, false, "computing 50 %", false, 0.5}}};
  model->cells[0][0].status = "estimate, exact: 50 %";
  model->cells[0][0].progress = 0.5;
  Shown shown(model);
  const QImage image = shown.picture();
  for (const int column : {0, 1}) {
    CAPTURE(column);
    const QRectF place = shown.canvas.panel_place(0, column);
    const auto at = [&](double x) {
      return pixel(shown, image,
                   {int(place.left() + x * place.width()), int(std::ceil(place.top())) + 1});
    };
    CHECK(at(0.1) == at(0.45));
    CHECK(at(0.55) != at(0.45));
    CHECK(at(0.9) != at(0.45));
  }
}

TEST_CASE("colours beside the range that occur have a swatch or a head at the end of the bar" *
          doctest::test_suite("pictures")) {
  const auto one_raster = [](float value) {
    auto model = base_model(16, 1);
    model->views = {find_view("heatmap")};
    Raster raster = heat(16, 16);
    raster.norm = Norm::linear, raster.low = 0, raster.high = 1;
    for (Index i = 0; i < 16; ++i)
      for (Index j = 0; j < 16; ++j) raster.values(i, j) = 0.5f;
    raster.values(3, 3) = value;
    model->cells = {{cell_of(raster)}};
    return model;
  };
  const Colormap& map = colormap("viridis");
  const std::pair<float, Rgb> cases[] = {
      {std::numeric_limits<float>::quiet_NaN(), map.not_a_number},
      {-std::numeric_limits<float>::infinity(), map.masked},
      {2, map.over},
      {-1, map.under}};
  constexpr int most_of_it =
      24;  // pixels of a swatch of 8 x 8 or a triangle of 11 x 9, less frames
  for (const auto& one : cases) {
    const float value = one.first;
    const Rgb colour = one.second;
    CAPTURE(double(value));
    Shown with(one_raster(value)), without(one_raster(0.5f));
    const auto found = [&](Shown& shown) {
      return count_beside(shown, shown.picture(), 0, 0, rgb(colour));
    };
    CHECK(found(with) >= found(without) + most_of_it);
  }
}

TEST_CASE("names of colours below narrow panels take as many lines as they need" *
          doctest::test_suite("pictures")) {
  auto model = base_model(16, 8);
  model->views = {find_view("heatmap")};
  model->settings.shared_range = false;
  Raster raster = heat(16, 16);
  raster.norm = Norm::linear, raster.low = 0, raster.high = 0.3;
  raster.values(0, 0) = std::numeric_limits<float>::quiet_NaN();
  raster.values(0, 1) = -std::numeric_limits<float>::infinity();
  raster.values(0, 2) = -1;
  raster.values(0, 3) = 1;
  model->cells = {std::vector<CanvasCell>(8, cell_of(raster, ""))};
  Shown shown(model, {1100, 500});
  const QImage image = shown.picture();
  const Colormap& map = colormap("viridis");
  const double ratio = shown.canvas.devicePixelRatioF();
  for (int column = 0; column < 8; ++column)
    for (const Rgb& colour : {map.not_a_number, map.masked, map.over, map.under}) {
      CAPTURE(column);
      const QRectF place = shown.canvas.panel_place(0, column);
      int found = 0;
      for (int y = int((place.bottom() + 18) * ratio); y < image.height(); ++y)
        for (int x = int(place.left() * ratio); x < int(place.right() * ratio); ++x)
          found += near(image.pixel(x, y) & 0xffffff, rgb(colour));
      CHECK(found >= 10);  // a swatch of 8 x 8, a triangle of 7 x 9, less frames
    }
}

TEST_CASE("names of colours beside a row end above the next row, also when they say how is pooled" *
          doctest::test_suite("pictures")) {
  auto model = base_model(341, 7);
  model->views = {find_view("mask"), find_view("heatmap")};
  Raster mask = heat(341, 341);
  mask.palette = Palette::categories;
  mask.categories = {"empty", "not attended", "full", "cluster mean", "attended"};
  mask.quantity = "tiles of 16 × 16";
  mask.low = 0, mask.high = 4;
  for (Index i = 0; i < 341; ++i)
    for (Index j = 0; j < 341; ++j) mask.values(i, j) = float((i / 16 + j / 16) % 4);
  model->cells = {std::vector<CanvasCell>(7, cell_of(mask, "")),
                  std::vector<CanvasCell>(7, cell_of(heat(341, 341), ""))};
  for (const QSize size : {QSize(1000, 620), QSize(1100, 700), QSize(1400, 900)}) {
    CAPTURE(size.width());
    Shown shown(model, size);
    const QImage image = shown.picture();
    const double ratio = shown.canvas.devicePixelRatioF();
    const QRgb last = rgb(category_colour(4));
    // Beside the last panel, or at the edge where not all panels are seen.
    const double panels = shown.canvas.panel_place(0, 6).right() + 4;
    const int left = int(std::min(panels, size.width() - 92.0) * ratio);
    int lowest = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = left; x < image.width(); ++x)
        if (near(image.pixel(x, y) & 0xffffff, last)) lowest = y;
    REQUIRE(lowest > 0);
    constexpr int second_line = 14;  // of the name beside the swatch
    CHECK(lowest + second_line * ratio <= shown.canvas.panel_place(1, 0).top() * ratio);
  }
}
