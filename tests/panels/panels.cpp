// Panels: what each view shows of each variant.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "analysis/cases.h"
#include "panels/scene.h"
#include "views/map_drawing.h"
#include "views/rank_subject.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The whole head of a scene in 10 x 10 pixels of its map.
Panel panel_of_map(const Scene& scene, View view, const MapPyramid& map, Run& run) {
  const IndexRange all{0, scene.computation.op->plan().queries()};
  return make_panel(view,
                    {.computation = scene.computation,
                     .exact = scene.exact,
                     .backend = *backends().front(),
                     .sequence = scene.sequence,
                     .settings = scene.settings,
                     .rows = all,
                     .cols = all,
                     .max_pixels = 10,
                     .map = &map},
                    run);
}

}  // namespace

TEST_CASE("every view of every variant shows something or says why not") {
  for (const Case& c : small_cases())
    for (const bool causal : masks_of(c))
      for (const Index n : {1, 37}) {
        Scene scene(make_data(Data::gaussian, n, 3, 4, causal), c.id, c.settings);
        for (const View view : all_views()) {
          INFO(c.id << " " << to_text(view) << " n=" << n << " causal=" << causal);
          const Panel panel = scene.panel(view, {0, n}, {0, n}, 16);
          CHECK(panel.view == view);
          CHECK_FALSE(panel.title.empty());
          if (const auto* message = std::get_if<Message>(&panel.body))
            CHECK(message->text.size() > 10);
          if (const auto* raster = std::get_if<Raster>(&panel.body)) {
            CHECK_FALSE(raster->values.empty());
            CHECK(raster->low <= raster->high);
            CHECK_FALSE(raster->quantity.empty());
            CHECK(raster->values.rows() <= 16);
          }
        }
      }
}

TEST_CASE("law: a raster of some queries and keys is that part of the raster of all") {
  const IndexRange rows{5, 17}, cols{2, 33};  // fewer rows than columns
  for (const Case& c : small_cases())
    for (const bool causal : masks_of(c)) {
      Scene scene(make_data(Data::gaussian, 37, 3, 4, causal), c.id, c.settings);
      for (const View view : all_views()) {
        INFO(c.id << " " << to_text(view) << " causal=" << causal);
        const Panel all = scene.panel(view), part = scene.panel(view, rows, cols);
        const auto* whole = std::get_if<Raster>(&all.body);
        const auto* its = std::get_if<Raster>(&part.body);
        CHECK((whole != nullptr) == (its != nullptr));
        if (!whole || !its) continue;
        REQUIRE(its->values.rows() == rows.size());
        REQUIRE(its->values.cols() == cols.size());
        bool same = true;
        for (Index r = 0; r < rows.size(); ++r)
          for (Index c = 0; c < cols.size(); ++c) {
            const float a = its->values(r, c), b = whole->values(rows.begin + r, cols.begin + c);
            same = same && (a == b || (std::isnan(a) && std::isnan(b)));
          }
        CHECK(same);
      }
    }
}

TEST_CASE("the heatmap is P, its masked pixels are the future") {
  Scene scene = hyper_scene(true);
  const auto raster = std::get<Raster>(scene.panel(find_view("heatmap")).body);
  const Matrix p = scene.p(true);
  bool same = true;
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j)
      same &= j > i ? std::isinf(raster.values(i, j)) && raster.values(i, j) < 0
                    : raster.values(i, j) == p(i, j);
  CHECK(same);
  CHECK(raster.pooled == Pool::Kind::none);
}

TEST_CASE("a row norm makes the largest entry of each row 1") {
  Scene scene = hyper_scene();
  scene.settings.norm = Norm::row_max;
  scene.settings.pool = Pool::Kind::max;
  const auto raster =
      std::get<Raster>(scene.panel(find_view("heatmap"), {0, 40}, {0, 40}, 10).body);
  for (Index r = 0; r < 10; ++r) {
    float top = 0;
    for (Index c = 0; c < 10; ++c) top = std::max(top, raster.values(r, c));
    CHECK(top == 1.0f);
  }
  // The largest of the whole row counts, also of keys that are not in view.
  const Matrix weights = scene.p(true);
  const auto part = std::get<Raster>(scene.panel(find_view("heatmap"), {8, 20}, {30, 37}).body);
  for (Index r = 0; r < 12; ++r) {
    const float* row = weights.row(8 + r);
    const float top = *std::max_element(row, row + 40);
    for (Index c = 0; c < 7; ++c) CHECK(part.values(r, c) == row[30 + c] / top);
  }
}

TEST_CASE("the error is P~ - P, pooled with its sign") {
  Scene scene = hyper_scene();
  const Matrix p = scene.p(false), q = scene.p(true);
  const auto raster = std::get<Raster>(scene.panel(find_view("error")).body);
  CHECK(raster.palette == Palette::diverging);
  CHECK(raster.low == -raster.high);
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j) CHECK(raster.values(i, j) == q(i, j) - p(i, j));
  // Pixels of 4 x 4, and so wide that a row of them is looked at by vectors.
  for (const auto& [kind, side] : {std::pair{Pool::Kind::max, Index{4}},
                                   {Pool::Kind::mean, 4},
                                   {Pool::Kind::max, 20},
                                   {Pool::Kind::mean, 20}}) {
    scene.settings.pool = kind;
    const Index pixels = 40 / side;
    const auto pooled =
        std::get<Raster>(scene.panel(find_view("error"), {0, 40}, {0, 40}, pixels).body);
    CHECK(pooled.pooled == kind);
    CHECK(pooled.peaks.empty() == (kind == Pool::Kind::max));
    for (const Peak& peak : pooled.peaks) {
      float largest = 0;
      for (Index i = side * peak.row; i < side * (peak.row + 1); ++i)
        for (Index j = side * peak.col; j < side * (peak.col + 1); ++j)
          if (const float x = q(i, j) - p(i, j); std::abs(x) > std::abs(largest)) largest = x;
      CHECK(std::abs(peak.value - largest) < 6e-8f);
    }
    for (Index r = 0; r < pixels; ++r)
      for (Index c = 0; c < pixels; ++c) {
        double largest = 0, sum = 0;
        for (Index i = side * r; i < side * r + side; ++i)
          for (Index j = side * c; j < side * c + side; ++j) {
            const double x = static_cast<double>(q(i, j)) - static_cast<double>(p(i, j));
            sum += x;
            if (std::abs(x) > std::abs(largest)) largest = x;
          }
        const double expected =
            kind == Pool::Kind::max ? largest : sum / static_cast<double>(side * side);
        CHECK(std::abs(static_cast<double>(pooled.values(r, c)) - expected) <
              6e-8);  // 2^-24: one rounding of a number below 1
      }
  }
}

TEST_CASE("output errors stand beside an error map, and its caption names them once") {
  Scene scene = hyper_scene();
  const Panel panel = scene.panel(find_view("error"));
  REQUIRE(panel.caption.find("strip:") != std::string::npos);
  Panel again = panel;
  add_row_errors(again, scene.metrics.token_error);
  CHECK(again.caption == panel.caption);
}

TEST_CASE("kinds of error follow from the signed one") {
  Scene scene = hyper_scene();
  const auto values = [&](const char* kind) {
    set_value(scene.settings, "error", kind);
    return std::get<Raster>(scene.panel(find_view("error")).body).values;
  };
  const Matrix p = scene.p(false), difference = values("signed");
  const Matrix absolute = values("absolute"), squared = values("squared");
  const Matrix relative = values("relative"), logarithm = values("log10");
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j) {
      const double x = static_cast<double>(difference(i, j));
      CHECK(static_cast<double>(absolute(i, j)) == std::abs(x));
      // One rounding to float of each side.
      CHECK(static_cast<double>(squared(i, j)) == doctest::Approx(x * x).epsilon(1e-6));
      CHECK(static_cast<double>(relative(i, j)) ==
            doctest::Approx(x / static_cast<double>(p(i, j))).epsilon(1e-6));
      CHECK(static_cast<double>(logarithm(i, j)) ==
            doctest::Approx(std::log10(std::max(1e-12, std::abs(x)))).epsilon(1e-6));
    }
}

TEST_CASE("signed errors have a logarithmic scale where weights have one") {
  Scene scene = hyper_scene();
  scene.settings.norm = Norm::linear;
  CHECK(std::get<Raster>(scene.panel(find_view("error")).body).norm == Norm::linear);
  scene.settings.norm = Norm::log;
  const auto error = std::get<Raster>(scene.panel(find_view("error")).body);
  CHECK(error.norm == Norm::log);
  CHECK(error.low == -error.high);
  CHECK(std::get<RowCurve>(scene.panel(find_view("row")).body).log_floor ==
        scene.settings.log_floor);
}

TEST_CASE("the rank map covers the matrix and counts what it stores") {
  Scene scene = hyper_scene();
  const Panel panel = scene.panel(find_view("rank"));
  const auto& map = std::get<BlockMap>(panel.body);
  CHECK(map.map.lengths.n() == 40);
  CHECK(map.stored == stored_entries(map.map));
  CHECK(map.compression == doctest::Approx(1600 / map.stored));
}

TEST_CASE("the rank map of a causal head is compared with what a dense causal matrix stores") {
  Scene scene(make_data(Data::gaussian, 40, 4, 4, true), "exact", {});
  const auto map_of = [&](const char* what) {
    set_value(scene.settings, "rank_of", what);
    return std::get<BlockMap>(scene.panel(find_view("rank")).body);
  };
  // Noise has full rank: its empty triangle is no gain.
  const BlockMap map = map_of("attention");
  CHECK(dense_entries(map.map) == 40 * 41 / 2);
  CHECK(map.stored <= 40 * 41 / 2);
  set_value(scene.settings, "rank_tolerance", "1e-12");
  CHECK(map_of("attention").compression == doctest::Approx(1));
  CHECK(scene.panel(find_view("rank")).caption == "stored by rank: no smaller");
  CHECK(dense_entries(map_of("logits").map) == 1600);  // there for every pair
}

TEST_CASE("formulas of variants are written without TeX") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    CHECK(variant.formula.find_first_of("_^\\") == std::string::npos);
  }
}

TEST_CASE("rank subjects are P, exp(S), S and the error") {
  Scene scene = hyper_scene();
  Run run{scene.profile};
  const IndexRange rows{3, 9}, cols{10, 20};
  const auto get = [&](RankSubject what) {
    return entries_of(scene.computation, scene.exact, what, run)(rows, cols);
  };
  const Matrix logits = get(RankSubject::logits), a = get(RankSubject::unnormalised);
  const Matrix q = get(RankSubject::attention), error = get(RankSubject::error);
  const Matrix p = scene.p(false), approximate = scene.p(true);
  for (Index i = 0; i < rows.size(); ++i)
    for (Index j = 0; j < cols.size(); ++j) {
      const Index r = rows.begin + i, c = cols.begin + j;
      const double s = static_cast<double>(logits(i, j));
      // A = P exp(lse): float logits and lse of size up to ten, so about 1e-6.
      CHECK(static_cast<double>(a(i, j)) == doctest::Approx(std::exp(s)).epsilon(2e-6));
      CHECK(static_cast<double>(p(r, c)) ==
            doctest::Approx(std::exp(s - static_cast<double>(
                                             scene.exact.output.lse[static_cast<std::size_t>(r)])))
                .epsilon(1e-5));
      CHECK(q(i, j) == approximate(r, c));
      CHECK(error(i, j) == approximate(r, c) - p(r, c));
    }
}

TEST_CASE("a row lists its best keys, an output picture is Z") {
  Scene scene = hyper_scene();
  const auto curve =
      std::get<RowCurve>(scene.panel(find_view("row"), {0, 40}, {5, 25}, 512, 7).body);
  const Matrix p = scene.p(false);
  CHECK(curve.query == 7);
  REQUIRE(curve.exact.size() == 20);
  for (Index j = 0; j < 20; ++j) CHECK(curve.exact[static_cast<std::size_t>(j)] == p(7, j + 5));
  REQUIRE(curve.top_exact.size() == 8);
  for (const auto& [key, value] : curve.top_exact) CHECK(value == p(7, key));
  CHECK(curve.top_exact[0].second >= curve.top_exact[7].second);

  CHECK(std::holds_alternative<Strip>(scene.panel(find_view("output")).body));
  Matrix q = gaussian(12, 3, 1), k = gaussian(12, 3, 2), v(12, 3, 0.25f);
  Scene image(make_problem(q, k, v), "strided", {{"stride", "4"}});
  image.sequence.grid = ImageGrid{3, 4, 0};
  const auto picture = std::get<OutputPicture>(image.panel(find_view("output")).body);
  CHECK(picture.rgb.size() == 36);
  for (const float x : picture.rgb) CHECK(x == doctest::Approx(0.25f));
}

TEST_CASE("a given attention matrix has a heatmap and a rank map, and no other view") {
  const Matrix a = hyper_scene().p(false);
  Profile profile;
  Run run{profile};
  ViewSettings settings;
  const auto make = [&](View view, Index pixels) {
    return make_matrix_panel(view, a, settings, {0, 40}, {0, 40}, pixels, *backends().front(), run);
  };
  const auto raster = std::get<Raster>(make(find_view("heatmap"), 512).body);
  CHECK(raster.values(3, 4) == a(3, 4));
  const auto means = std::get<Raster>(make(find_view("heatmap"), 20).body);
  CHECK(means.values(0, 0) == doctest::Approx(double(a(0, 0) + a(0, 1) + a(1, 0) + a(1, 1)) / 4));
  REQUIRE(means.peaks.size() == 20 * 20);
  settings.pool = Pool::Kind::max;
  const auto pooled = std::get<Raster>(make(find_view("heatmap"), 20).body);
  CHECK(pooled.peaks.empty());
  CHECK(pooled.values(0, 0) == std::max({a(0, 0), a(0, 1), a(1, 0), a(1, 1)}));
  const Peak& first = means.peaks.front();
  CHECK(first.value == pooled.high);
  CHECK(pooled.values(first.row, first.col) == first.value);
  CHECK(std::get<BlockMap>(make(find_view("rank"), 512).body).map.lengths.n() == 40);
  CHECK(std::holds_alternative<Message>(make(find_view("error"), 512).body));
}

TEST_CASE("a subtitle has two parameters, and leaves out what only a causal mask makes matter") {
  Variant variant;
  variant.schema = {{.id = "query", .choices = {"first", "mean"}, .causal_only = true},
                    {.id = "block"},
                    {.id = "nothing"},
                    {.id = "samples"}};
  const Values values{"mean", std::int64_t{4}, std::vector<double>{}, std::int64_t{8}};
  CHECK(subtitle_of(variant, values, true, nullptr) == "mean, block 4");
  CHECK(subtitle_of(variant, values, false, nullptr) == "block 4, samples 8");
  Metrics metrics;
  CHECK(subtitle_of(variant, values, false, &metrics) == "block 4, samples 8");  // none is known
  metrics.rows = 64;
  metrics.attention_rel_fro = {0.8125, 0};
  CHECK(subtitle_of(variant, values, false, &metrics) ==
        "block 4, samples 8 · 0.812 relative attention error");
  metrics.token_error.resize(64);
  metrics.output_rel_fro = 0.27512;
  CHECK(subtitle_of(variant, values, false, &metrics) ==
        "block 4, samples 8 · 0.275 relative output error");
  CHECK(subtitle_of(reference_variant(), {}, false, &metrics) == "softmax, the reference");
}

TEST_CASE("a choice that is not the default is named in a subtitle, however late it comes") {
  const Variant& variant = find_variant("nvfp4");
  const auto subtitle = [&](const Settings& settings) {
    return subtitle_of(variant, values_of(variant, settings), false, nullptr);
  };
  CHECK(subtitle({}) == "smoothed, qkv");
  CHECK(subtitle({{"weights", "nvfp4"}}) == "smoothed, weights nvfp4");
  CHECK(subtitle({{"keys", "unsmoothed"}, {"weights", "nvfp4"}}) == "unsmoothed, weights nvfp4");
  CHECK(subtitle({{"rounded", "kv"}, {"weights", "nvfp4"}}) == "smoothed, kv");
}

TEST_CASE("outputs that are not computed yet are labelled so") {
  Scene scene = hyper_scene();
  scene.computation.output = {};
  CHECK(std::get<Message>(scene.panel(find_view("output")).body).text.find("not computed") !=
        std::string::npos);
  Scene other = hyper_scene();
  other.exact.output = {};
  CHECK(std::holds_alternative<Message>(other.panel(find_view("output")).body));
}

TEST_CASE("the divisor of rows of mean pixels is named") {
  Scene scene = hyper_scene();
  scene.settings.norm = Norm::row_max;
  scene.settings.pool = Pool::Kind::mean;
  Run run{scene.profile};
  const auto map = make_map(find_view("heatmap"), scene.computation, scene.exact, scene.settings);
  map->fill({0, map->overview_rows()}, run);
  const Panel panel = panel_of_map(scene, find_view("heatmap"), *map, run);
  const auto& raster = std::get<Raster>(panel.body);
  REQUIRE(raster.pooled == Pool::Kind::mean);
  float most =
      0;  // a row's largest pixel is 1, which the mean of 16 entries over the largest is not
  for (Index c = 0; c < raster.values.cols(); ++c) most = std::max(most, raster.values(0, c));
  CHECK(most == 1);
  CHECK(raster.quantity == "P / largest pixel of its row");
  CHECK(std::get<Raster>(scene.panel(find_view("heatmap")).body).quantity ==
        "P / largest of its row");
}

TEST_CASE("law: the first picture of a map shows the column that all later ones show") {
  constexpr Index n = 600;  // the first has fewer pixels
  Scene scene(make_data(Data::gaussian, n, 4, 4, false), "window", {{"width", "8"}});
  const Backend& backend = *backends().front();
  Run run{scene.profile};
  auto source = std::make_shared<Source>();
  source->layers.resize(1);
  int maps = 0;
  for (const View view : all_views()) {
    const std::shared_ptr<MapPyramid> map =
        make_map(view, scene.computation, scene.exact, scene.settings);
    if (!map) continue;
    CAPTURE(to_text(view));
    PanelSources from;
    from.view = view;
    from.settings = scene.settings;
    from.rows = from.cols = {0, n};
    from.max_pixels = 32;
    from.source = source;
    from.computation = std::make_shared<Computation>(scene.computation);
    from.exact = std::make_shared<Computation>(scene.exact);
    MapDrawing drawing(from, map, map_view(from.rows, from.cols, from.max_pixels));
    std::optional<MapDrawing::Picture> picture;
    const auto far_away = [&] {  // beyond the window, where the column has no weight
      return std::get<Raster>(picture->panel->body).values(0, 18);
    };
    while (!picture) REQUIRE(drawing.advance(backend, run, picture));
    CHECK_FALSE(map->begun());
    const float first = far_away();
    while (drawing.advance(backend, run, picture)) {
    }
    CHECK(map->begun());
    CHECK((first < 0) == (far_away() < 0));
    CHECK((first > 0) == (far_away() > 0));
    ++maps;
  }
  CHECK(maps >= 2);
}

TEST_CASE("law: an estimated map has standard errors where they are of the numbers that it shows") {
  Scene scene = hyper_scene();
  scene.settings.pool = Pool::Kind::mean;
  Run run{scene.profile};
  const auto has_errors = [&](View view) {
    const auto map = make_map(view, scene.computation, scene.exact, scene.settings, 10);
    map->estimate(2, 0, run);
    const Panel panel = panel_of_map(scene, view, *map, run);
    const auto& raster = std::get<Raster>(panel.body);
    REQUIRE(raster.estimated == 1);
    return !raster.standard_error.empty();
  };
  for (const Norm norm : all_norms()) {
    scene.settings.norm = norm;
    CAPTURE(to_text(norm));
    CHECK(has_errors(find_view("heatmap")) == (norm != Norm::row_max));
  }
  for (const std::string& kind : find_view_field("error").field->field.choices) {
    set_value(scene.settings, "error", kind);
    CAPTURE(kind);
    CHECK(has_errors(find_view("error")) == (kind != "log10"));
  }
}

TEST_CASE("the largest output error is that of the rows that have one, wherever the others are") {
  Scene scene = hyper_scene();
  const Matrix z = scene.computation.output.z;
  for (const Index odd : {0, 5, 39}) {
    CAPTURE(odd);
    scene.computation.output.z = z;
    scene.computation.output.z(odd, 1) = std::numeric_limits<float>::quiet_NaN();
    const Panel panel = scene.panel(find_view("output"));
    const auto& values = std::get<Strip>(panel.body).values;
    Index worst = -1;
    for (Index i = 0; i < 40; ++i)
      if (i != odd && (worst < 0 || values[std::size_t(i)] > values[std::size_t(worst)])) worst = i;
    CAPTURE(panel.caption);
    CHECK(panel.caption.find("largest " + format_number(values[std::size_t(worst)]) + " at ") == 0);
    CHECK(panel.caption.find(std::to_string(worst)) != std::string::npos);
    CHECK(panel.caption.find("not defined in 1 row") != std::string::npos);
  }
}

TEST_CASE("a rank map that stores nothing says so") {
  Scene scene = hyper_scene();
  set_value(scene.settings, "rank_tolerance", "1e6");
  set_value(scene.settings, "rank_partition", "uniform");
  const Panel panel = scene.panel(find_view("rank"));
  CHECK(std::get<BlockMap>(panel.body).stored == 0);
  CHECK(panel.caption.find("inf") == std::string::npos);
  CHECK(panel.caption.find("nothing to store") != std::string::npos);
}
