// The view of two-hop reach, against counts by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "data/error.h"
#include "panels/scene.h"
#include "views/reach_text.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Whether the strided pattern has the pair, by its definition (Child et al. 2019, section 4.2).
bool strided(Index i, Index j, Index stride) {
  return j <= i && (i - j < stride || (i - j) % stride == 0);
}

/// Whether only the second set of the fixed pattern has it.
bool summary(Index i, Index j, Index stride, Index columns) {
  return j <= i && j % stride >= stride - columns;
}

/// Keys k with i -> k and k -> j.
template <class Pair>
Index keys_between(Index i, Index j, Index n, const Pair& pair) {
  Index count = 0;
  for (Index k = 0; k < n; ++k) count += pair(i, k) && pair(k, j);
  return count;
}

Scene strided_scene(Index n, Index stride) {
  return {
      make_data(Data::gaussian, n, 3, 2, true), "strided", {{"stride", std::to_string(stride)}}};
}

}  // namespace

TEST_CASE("two-hop reach shows through how many keys each pair is reached, the future is masked") {
  Scene scene = strided_scene(40, 8);
  const Panel panel = scene.panel(find_view("reach"), {4, 40}, {2, 30});
  const auto& raster = std::get<Raster>(panel.body);
  CHECK(raster.quantity == "keys k with i → k → j");
  CHECK(raster.pooled == Pool::Kind::none);
  bool same = true;
  double most = 0;
  for (Index i = 4; i < 40; ++i)
    for (Index j = 2; j < 30; ++j) {
      const float shown = raster.values(i - 4, j - 2);
      const auto count = static_cast<float>(
          keys_between(i, j, 40, [](Index a, Index b) { return strided(a, b, 8); }));
      same &= j > i ? std::isinf(shown) && shown < 0 : shown == count;
      most = std::max(most, static_cast<double>(count));
    }
  CHECK(same);
  CHECK(raster.low == 0.5);
  CHECK(raster.high == most);
  CHECK(panel.caption.find("in two: all") != std::string::npos);
}

TEST_CASE("two-hop reach under a window: shares are of the pairs that the window admits") {
  Problem problem = make_data(Data::gaussian, 40, 3, 2, true);
  problem.window = 6;  // two hops lead up to 10 keys back
  Scene scene(problem, "strided", {{"stride", "4"}, {"heads", "first"}});
  const Panel panel = scene.panel(find_view("reach"));
  const auto pair = [](Index i, Index j) { return j <= i && j > i - 4; };
  double one = 0, all = 0;
  for (Index i = 0; i < 40; ++i)
    for (Index j = std::max<Index>(0, i - 5); j <= i; ++j, ++all) one += pair(i, j);
  CHECK(panel.caption ==
        "pairs reached in one layer: " + format_percent(one / all, 2) + ", in two: all");
  CHECK(std::get<Raster>(panel.body).values(39, 33) == 1);
}

TEST_CASE("two-hop reach of summary columns alone leaves pairs unreached, and says how many") {
  Scene scene(make_data(Data::gaussian, 40, 3, 2, true), "fixed",
              {{"stride", "8"}, {"summary", "2"}, {"heads", "second"}});
  const auto pair = [](Index a, Index b) { return summary(a, b, 8, 2); };
  double one = 0, two = 0, all = 0;
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j <= i; ++j) {
      ++all;
      one += pair(i, j);
      two += keys_between(i, j, 40, pair) > 0;
    }
  const Panel panel = scene.panel(find_view("reach"));
  CHECK(panel.caption == "pairs reached in one layer: " + format_percent(one / all, 2) +
                             ", in two: " + format_percent(two / all, 2));
  const auto& raster = std::get<Raster>(panel.body);
  CHECK(raster.values(39, 0) == 0);
  CHECK(raster.low == 0.5);  // so 0 is below the range
  CHECK(reach_text(raster, 0) == "not reached in two layers");
  CHECK(reach_text(raster, 1) == "reached through 1 key");
  CHECK(reach_text(raster, 3) == "reached through 3 keys");
}

TEST_CASE("a pixel of two-hop reach over several pairs has their largest number or their mean") {
  Scene scene = strided_scene(40, 8);
  for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
    scene.settings.pool = kind;
    const auto raster =
        std::get<Raster>(scene.panel(find_view("reach"), {0, 40}, {0, 40}, 10).body);
    CHECK(raster.pooled == kind);
    bool same = true;
    for (Index r = 0; r < 10; ++r)
      for (Index c = 0; c <= r; ++c) {
        double largest = 0, sum = 0;
        for (Index i = 4 * r; i < 4 * r + 4; ++i)
          for (Index j = 4 * c; j < 4 * c + 4; ++j) {
            const auto count = static_cast<double>(
                keys_between(i, j, 40, [](Index a, Index b) { return strided(a, b, 8); }));
            largest = std::max(largest, count);
            sum += count;
          }
        same &= static_cast<double>(raster.values(r, c)) ==
                (kind == Pool::Kind::max ? largest : sum / 16);  // sixteenths are exact
      }
    CHECK(same);
    CHECK(std::isinf(raster.values(0, 1)));
    CHECK(reach_text(raster, 3) ==
          (kind == Pool::Kind::max ? "reached through at most 3 keys" : "reached through 3 keys"));
    CHECK(reach_text(raster, 0) == "no pair of the pixel is reached in two layers");
  }
}

TEST_CASE("where one layer reaches every pair, two-hop reach says so instead") {
  const auto message = [](const char* id, const Settings& settings) {
    Scene scene(make_data(Data::gaussian, 40, 4, 4, false), id, settings);
    return std::get<Message>(scene.panel(find_view("reach")).body).text;
  };
  for (const char* id : {"exact", "h1d"})
    CHECK(message(id, {}) ==
          "Every query attends every key that it may, so one layer already reaches every pair.");
  CHECK(message("linear", {}).starts_with("This attention has no pattern of pairs"));
  CHECK(
      message("linformer", {{"rank", "4"}}).starts_with("This attention has no pattern of pairs"));
}

TEST_CASE("two-hop reach of a long head counts some rows of a pixel, and says which") {
  const Index n = 16384, width = 300;
  const Problem problem = make_data(Data::gaussian, n, 1, 1, false);
  const Backend& backend = *backends().front();
  const Variant& variant = find_variant("window");
  Profile profile;
  std::stop_source stop;
  Run run{profile, stop.get_token()};
  const Computation computation = prepare(
      problem,
      {.variant = &variant, .values = values_of(variant, {{"width", std::to_string(width)}})},
      backend, run);
  const Sequence sequence;
  const ViewSettings settings{.pool = Pool::Kind::max};
  const auto panel = [&](IndexRange rows) {
    return make_panel(find_view("reach"),
                      {.computation = computation,
                       .exact = computation,
                       .backend = backend,
                       .sequence = sequence,
                       .settings = settings,
                       .rows = rows,
                       .cols = {0, n},
                       .max_pixels = 64},
                      run);
  };
  const Panel far = panel({0, n});
  const auto& raster = std::get<Raster>(far.body);
  CHECK(raster.quantity == "keys k with i → k → j, rows sampled");
  CHECK(far.caption.find("counted for 4096 of 16384 queries") != std::string::npos);
  // Two windows have 2 w + 1 - |i - j| keys in common, all of them if i = j.
  CHECK(raster.values(32, 32) == 2 * width + 1);
  CHECK(raster.values(32, 36) == 0);
  // 64 of a pixel's 256 rows, from the third one on: 256 rows to a pixel, 4 between two.
  const Index last = 32 * 256 + 4 * 63 + 2, first = 34 * 256;
  CHECK(raster.values(32, 34) == static_cast<float>(2 * width + 1 - (first - last)));
  // Near by every row is counted.
  const Panel near = panel({0, 4096});
  CHECK(std::get<Raster>(near.body).quantity == "keys k with i → k → j");
  CHECK(near.caption.find("counted for") == std::string::npos);
  CHECK(std::get<Raster>(near.body).values(15, 4) == 2 * width);  // queries to 1023, keys from 1024
  stop.request_stop();
  CHECK_THROWS_AS(panel({0, n}), Cancelled);
}
