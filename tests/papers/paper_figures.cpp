// The papers' numbers, found again: against what the papers state, and against formulas in float64.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "messages.h"
#include "papers/results.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("every figure of the papers has a name of its own, numbers, notes and panels") {
  std::set<std::string> names;
  for (const PaperFigure& figure : paper_figures()) {
    CAPTURE(figure.id);
    CHECK(names.insert(figure.id).second);
    CHECK(figure.id != "list");
    const PaperResult result = result_of(figure.id, "synthetic:gaussian?n=48&d=8&heads=2");
    CHECK_FALSE(result.numbers.empty());
    CHECK_FALSE(result.notes.empty());
    REQUIRE_FALSE(result.rows.empty());
    for (const auto& row : result.rows)
      for (const Panel& panel : row) {
        CHECK_FALSE(panel.title.empty());
        CHECK_FALSE(std::holds_alternative<Message>(panel.body));
        if (const auto* plot = std::get_if<SeriesPlot>(&panel.body); plot && !plot->scattered)
          for (const SeriesPlot::Series& series : plot->series)
            for (const SeriesPlot::Point& point : series.points)
              CHECK(std::ranges::count(plot->lengths, Index(point.n)) == 1);
      }
    std::set<std::string> ids;
    for (const PaperNumber& found : result.numbers) {
      CHECK(ids.insert(found.id).second);
      CHECK(std::isfinite(found.found));
    }
  }
}

TEST_CASE("the rank map of Eq. 13 has exactly the numbers that the paper states") {
  const PaperResult result = result_of("rank-map", "synthetic:golden");
  int stated = 0;
  for (const PaperNumber& found : result.numbers) {
    CAPTURE(found.what);
    if (!found.published) continue;
    ++stated;
    CHECK(found.found == doctest::Approx(*found.published).epsilon(1e-12));
  }
  CHECK(stated == 6);
}

TEST_CASE("the column spread of a head is that of its attention in float64") {
  for (const Index heads : {3, 4}) {  // the median of four lies between two
    CAPTURE(heads);
    const std::string example = "synthetic:gaussian?n=40&d=4&heads=" + std::to_string(heads);
    const Source source = open_source(example);
    std::vector<double> alphas;
    for (Index head = 0; head < heads; ++head) {
      const Problem problem = problem_of(source, {.head = head});
      const Instance exact = make_instance(*backends().front(), problem, "exact", {});
      const Dense<double> p = reference<double>(exact);
      double top = 0;
      for (Index j = 0; j < 40; ++j) {
        double sum = 0;
        for (Index i = 0; i < 40; ++i) sum += p(i, j) * p(i, j);
        top = std::max(top, sum);
      }
      alphas.push_back(40 * top);
    }
    std::ranges::sort(alphas);
    const double median = heads == 3 ? alphas[1] : (alphas[1] + alphas[2]) / 2;
    const PaperResult result = result_of("column-spread", example);
    // Entries of P are float32: 40 squares, each within a few roundings.
    CHECK(number(result, "alpha_median").found == doctest::Approx(median).epsilon(1e-5));
    CHECK(number(result, "alpha_max").found == doctest::Approx(alphas.back()).epsilon(1e-5));
    CHECK_FALSE(number(result, "alpha_median").published);  // section 4.3 states none on this scale
    const PaperNumber norm = number(result, "column_norm_median"),
                      share = number(result, "column_norm_share_median");
    CHECK(norm.found == doctest::Approx(median / 40).epsilon(1e-5));
    CHECK(norm.published == 8.18);
    CHECK(norm.apart != "");
    CHECK(share.found == doctest::Approx(median / 40 / 40).epsilon(1e-5));
    CHECK(share.published == 0.0026);
    CHECK(number(result, "column_norm_max").found ==
          doctest::Approx(alphas.back() / 40).epsilon(1e-5));
  }
}

TEST_CASE("sampled row sums are right on average and spread as one over the root of m") {
  const PaperResult result = result_of("sampled-sums", "synthetic:gaussian?n=600&d=4");
  for (const int m : {16, 32, 64, 128, 256}) {
    CAPTURE(m);
    const double deviation = number(result, "deviation_" + std::to_string(m)).found;
    // The mean over 1000 seeds; rows share their samples, so that they count as one.
    CHECK(std::abs(number(result, "mean_" + std::to_string(m)).found - 1) <
          4 * deviation / std::sqrt(1000));
    CHECK(number(result, "covered_" + std::to_string(m)).found > 0.8);  // 0.95 if independent
  }
  CHECK(number(result, "slope").found == doctest::Approx(-0.5).epsilon(0.05));
}

TEST_CASE("a length that the paper does not state has no published number beside it") {
  const PaperResult result = result_of("running-time", "synthetic:golden", 512);
  for (const char* id : {"speed_up_causal", "speed_up_bidirectional"}) {
    CHECK(number(result, id).found > 0);
    CHECK_FALSE(number(result, id).published);
  }
}

TEST_CASE("a figure that does not exist is refused with those that do") {
  const std::string said = message_of<UsageError>([] { find_paper_figure("figure-9"); });
  CHECK(said.starts_with("there is no figure 'figure-9'; expected one of rank-map"));
}

TEST_CASE("a figure of the papers can be cancelled") {
  const Source source = open_source("synthetic:gaussian?n=64&d=8");
  std::stop_source stop;
  stop.request_stop();
  const TinyTextModel model;
  for (const PaperFigure& figure : paper_figures()) {
    CAPTURE(figure.id);
    Profile profile;
    Run run{profile, stop.get_token()};
    const PaperTask task{*backends().front(), source, 512, model.address("the cat sat")};
    CHECK_THROWS_AS(figure.make(task, run), Cancelled);
  }
}
