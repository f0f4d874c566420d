// Laws of the picture of error against cost.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/random.h"
#include "figure/panels.h"
#include "figure/recorder.h"
#include "panels/pareto_panel.h"

using namespace fovea;

namespace {

const Quantity cost("multiply_adds", ""), error("output_rel_fro", ""), bytes("bytes", ""),
    time_taken("time", "");

/// As if measured: of each variant some settings, dearer ones with less error; exact has none.
std::vector<SettingSpread> example_settings(int each, double smallest, double largest) {
  std::vector<SettingSpread> settings;
  Random random(5, 2);
  for (const Variant& variant : variants())
    for (int s = 0; s < (variant.reference ? 1 : each); ++s) {
      const double share = variant.reference ? 1 : (s + random.uniform()) / each;
      const double x = smallest * std::pow(largest / smallest, share);
      const double y = variant.reference ? 0 : (0.2 + random.uniform()) * std::pow(10, -2 * share);
      settings.push_back({.variant = &variant,
                          .values = defaults(variant.schema),
                          .n = 64,
                          .x = {x, x, x},
                          .y = {y, y, y},
                          .interval = MedianInterval{0.8 * y, 1.5 * y},
                          .heads = 12});
    }
  std::vector<ParetoPoint> points;
  for (const SettingSpread& s : settings) points.push_back({s.x.median, s.y.median});
  for (const std::size_t place : pareto_front(points)) settings[place].on_front = true;
  return settings;
}

Figure figure_of(const std::vector<SettingSpread>& settings, const Quantity& x, double width) {
  Figure figure;
  figure.style.width = width;
  figure.footer = "minilm-l6, layer 1, 12 heads, n = 341, d = 32; CPU, fp32";
  figure.rows = {{make_panel(
      ParetoPanel{.settings = settings, .x = x, .y = error, .message = "nothing was tried"})}};
  return figure;
}

const SeriesPlot& plot_of(const Figure& figure) {
  return std::get<SeriesPlot>(figure.rows[0][0].body);
}

}  // namespace

TEST_CASE("pareto: nothing leaves the page and no text covers another") {
  example::application();
  for (const double width : {180.0, 252.0, 360.0, 700.0})
    for (const int each : {1, 6, 40})
      for (const Quantity* x : {&cost, &bytes, &time_taken})
        for (const double largest : {1.5e3, 2e6, 4e11}) {
          CAPTURE(width);
          CAPTURE(each);
          CAPTURE(x->measure().id);
          CAPTURE(largest);
          const auto settings = example_settings(each, 1e3, largest);
          const auto recording = example::record(figure_of(settings, *x, width));
          example::check_page(recording);
          example::check_texts_apart(recording);
        }
}

TEST_CASE("pareto: a point for each setting, filled on the front, and exact first at zero") {
  example::application();
  const auto settings = example_settings(6, 1e4, 1e6);
  const Figure figure = figure_of(settings, cost, 360);
  const SeriesPlot& plot = plot_of(figure);
  REQUIRE(plot.series.size() == variants().size());
  CHECK(plot.series[0].name == "Exact");
  std::size_t points = 0, filled = 0, front = 0;
  for (const SettingSpread& s : settings) front += s.on_front;
  for (const auto& series : plot.series)
    for (const auto& point : series.points) {
      ++points;
      filled += !point.hollow;
      CHECK_FALSE(point.joined);
      CHECK((point.low < point.high) == (point.value > 0));
    }
  CHECK(points == settings.size());
  CHECK(filled == front);
  CHECK(plot.front.size() == front);
  for (std::size_t i = 1; i < plot.front.size(); ++i) {
    CHECK(plot.front[i - 1].first < plot.front[i].first);
    CHECK(plot.front[i - 1].second > plot.front[i].second);
  }
  CHECK(plot.front.back().second == 0);
  CHECK(figure.rows[0][0].caption.find("medians of 12 heads") != std::string::npos);
}

TEST_CASE("pareto: what cannot be drawn is counted in the caption") {
  example::application();
  auto settings = example_settings(4, 1e4, 1e6);
  settings[3].y.median = std::numeric_limits<double>::infinity();
  settings[3].on_front = false;
  settings[5].heads = 0;
  settings[5].refused = 12;
  settings[6].heads = 0;
  settings[6].without = 12;
  const Figure figure = figure_of(settings, cost, 360);
  const std::string& caption = figure.rows[0][0].caption;
  for (const char* words :
       {"1 setting, infinite", "1 setting, not applicable", "1 setting, not defined"})
    CHECK_MESSAGE(caption.find(words) != std::string::npos, words);
  std::size_t points = 0;
  for (const auto& series : plot_of(figure).series) points += series.points.size();
  CHECK(points == settings.size() - 3);
  const auto recording = example::record(figure_of({}, cost, 360));
  example::check_page(recording);
  QStringList words;
  for (const auto& text : recording.texts) words << text.text;
  CHECK(words.join(' ').contains(QStringLiteral("nothing was tried")));
}

TEST_CASE(
    "pareto: no line joins the fronts of several lengths, and the caption says there are some") {
  auto settings = example_settings(4, 1e4, 1e6);
  const std::string each = "Each length has a front of its own.";
  for (const bool several : {false, true}) {
    CAPTURE(several);
    if (several) settings.back().n = 128;
    const Figure figure = figure_of(settings, cost, 360);
    CHECK(plot_of(figure).front.empty() == several);
    CHECK((figure.rows[0][0].caption.find(each) != std::string::npos) == several);
  }
}

TEST_CASE("pareto: over a parameter the settings that differ in nothing else are one curve") {
  example::application();
  const Variant& longformer = find_variant("longformer");
  const Quantity width("width", {&reference_variant(), &longformer}, "--x");
  std::vector<SettingSpread> settings;
  for (const auto& [w, g, y] :
       {std::tuple{16, 1, 0.2}, {4, 1, 0.4}, {64, 2, 0.05}, {8, 2, 0.1}, {8, 1, 0.3}}) {
    SettingSpread& s = settings.emplace_back(SettingSpread{
        .variant = &longformer, .values = defaults(longformer.schema), .n = 64, .heads = 12});
    set_value(longformer.schema, s.values, "width", std::to_string(w));
    set_value(longformer.schema, s.values, "globals", std::to_string(g));
    s.x = {double(w), double(w), double(w)};
    s.y = {y, y, y};
    s.interval = {0.5 * y, 2 * y};
  }
  const Figure figure = figure_of(settings, width, 360);
  const SeriesPlot& plot = plot_of(figure);
  CHECK(drawn_settings(settings, width) ==
        std::vector<std::vector<std::size_t>>{{1, 4, 0}, {3, 2}});
  REQUIRE(plot.series.size() == 2);
  CHECK(plot.series[0].name == "Longformer, globals 1");
  CHECK(plot.series[1].name == "Longformer, globals 2");
  CHECK(plot.front.empty());
  CHECK(plot.x_label == "Width w, tokens");
  for (const auto& series : plot.series)
    for (const auto& point : series.points) {
      CHECK(point.joined);
      CHECK_FALSE(point.hollow);
      CHECK(point.low < point.high);
    }
  CHECK(figure.rows[0][0].caption ==
        "Points: medians of 12 heads, bars: 95 % intervals of the median.");
  const auto recording = example::record(figure);
  example::check_page(recording);
  example::check_texts_apart(recording);
  // Another length is another curve.
  settings[0].n = 128;
  const Figure lengths = figure_of(settings, width, 360);
  REQUIRE(plot_of(lengths).series.size() == 3);
  CHECK(plot_of(lengths).series[0].name == "Longformer, globals 1, n = 128");
  CHECK(plot_of(lengths).series[1].name == "Longformer, globals 1, n = 64");
}

TEST_CASE("pareto: a few points far from the others stand at the edge, and the others have room") {
  example::application();
  auto settings = example_settings(6, 1e4, 1e6);
  CHECK_FALSE(plot_of(figure_of(settings, cost, 360)).y_ends);
  for (const std::size_t far : {4u, 9u, 14u}) {
    settings[far].y = {3e-7, 3e-7, 3e-7};
    settings[far].interval.reset();
  }
  const Figure figure = figure_of(settings, cost, 360);
  const SeriesPlot& plot = plot_of(figure);
  REQUIRE(plot.y_ends);
  CHECK(plot.y_ends->low > 1e-4);
  CHECK_FALSE(plot.x_ends);
  CHECK(figure.rows[0][0].caption.find("Arrows: 3 settings beyond the axes.") != std::string::npos);
  const auto recording = example::record(figure);
  example::check_page(recording);
  example::check_texts_apart(recording);
  // Where a person has chosen the axes, these are shown.
  const Panel zoomed = make_panel(ParetoPanel{.settings = settings,
                                              .x = cost,
                                              .y = error,
                                              .x_ends = SeriesPlot::Ends{1e4, 1e5},
                                              .y_ends = SeriesPlot::Ends{1e-8, 1e-6}});
  CHECK(std::get<SeriesPlot>(zoomed.body).y_ends->high == 1e-6);
}

TEST_CASE("pareto: what is dearer than the budget is pale") {
  const auto settings = example_settings(6, 1e4, 1e6);
  const Panel panel =
      make_panel(ParetoPanel{.settings = settings, .x = cost, .y = error, .at_most = 1e5});
  const auto& plot = std::get<SeriesPlot>(panel.body);
  CHECK(plot.limit == 1e5);
  for (const auto& series : plot.series)
    for (const auto& point : series.points) CHECK(point.pale == (point.n > 1e5));
  CHECK(panel.caption.find("dearer settings are pale") != std::string::npos);
}

TEST_CASE("pareto: the best settings of a bound are joined by steps of their own") {
  auto settings = example_settings(6, 1e4, 1e6);
  for (SettingSpread& setting : settings) setting.on_all_heads = true;
  const Panel panel = make_panel(ParetoPanel{.settings = settings, .x = cost, .y = error});
  const auto& steps = std::get<SeriesPlot>(panel.body).bound;
  REQUIRE(steps.size() > 1);
  for (std::size_t s = 1; s < steps.size(); ++s) {
    CHECK(steps[s].first > steps[s - 1].first);
    CHECK(steps[s].second < steps[s - 1].second);
  }
  for (const auto& [x, y] : steps) {
    const auto is_there = [&](const SettingSpread& setting) {
      return setting.variant->bound && setting.x.median == x && setting.y.median == y;
    };
    CHECK(std::ranges::any_of(settings, is_there));
  }
  CHECK(panel.caption.find("Dashed steps: the oracle") != std::string::npos);
}
