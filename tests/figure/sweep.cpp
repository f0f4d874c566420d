// Laws of the picture of a sweep over n, and examples to be looked at.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "figure/panels.h"
#include "figure/recorder.h"
#include "figure/sweep_figure.h"

using namespace fovea;

namespace {

/// As if measured: exact quadratic, the others between n and n log n. `count` columns beside exact;
/// the last two lengths of exact are beyond the time allowed.
Sweep example_sweep(std::size_t count, Index last) {
  Sweep sweep{.lengths = sweep_lengths(last)};
  sweep.best_pace_ms = 2;
  sweep.complete = true;
  sweep.series.push_back({.column = {.variant = "exact"}});
  for (std::size_t s = 0; s < count; ++s) {
    const Variant& variant = variants()[1 + s % (variants().size() - 1)];
    sweep.series.push_back(
        {.column = {.variant = variant.id, .values = defaults(variant.schema), .seed = s / 6}});
  }
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    auto& series = sweep.series[s];
    for (const Index n : sweep.lengths) {
      if (s == 0 && n > 32768) continue;
      const auto x = static_cast<double>(n), k = static_cast<double>(s);
      const double ms = s == 0 ? 2e-6 * x * x : (1.2e-3 + 1.4e-3 * k) * x * std::log2(x) / 10;
      SweepPoint point{.n = n, .values = series.column.values};
      point.apply = {.median_ms = ms,
                     .p10_ms = 0.92 * ms,
                     .p90_ms = (n < 512 ? 1.6 : 1.1) * ms,
                     .samples = 15};
      if (n > 16384) point.apply.samples = 2;
      point.total = point.apply;
      point.pace_ms = 2;
      point.bytes = s == 0 ? 8 * x : (16 + 40 * k) * x;
      if (s > 0 && n <= 32768) point.error = s == 4 && n < 1024 ? 0.0 : 0.02 * k * std::pow(x, 0.1);
      if (s == 6 && n < 4096) point.fitted = "block 32";
      series.points.push_back(point);
    }
  }
  return sweep;
}

SweepFigure example_figure(std::size_t count, Index last, double width) {
  SweepFigure figure{.panels = {.sweep = example_sweep(count, last)}};
  figure.page.title = "minilm-l6, layer 3, head 7";
  figure.page.footer = "minilm-l6 · layer 3, head 7 · d 32 · AVX-512, 2 threads, fp32, at nice 10";
  figure.page.style.width = width;
  return figure;
}

}  // namespace

TEST_CASE("sweep: nothing leaves the page and no text covers another") {
  example::application();
  for (const double width : {252.0, 360.0, 504.0, 900.0})
    for (const std::size_t count : {0, 1, 6, 9})
      for (const Index last : {1, 16, 1024, 5000, 131072}) {
        CAPTURE(width);
        CAPTURE(count);
        CAPTURE(last);
        const auto recording = example::record(figure_of(example_figure(count, last, width)));
        example::check_page(recording);
        example::check_texts_apart(recording);
      }
}

TEST_CASE("sweep: on a small screen too") {
  example::application();
  for (const double font : {7.0, 9.0, 12.0})
    for (const std::size_t count : {1, 6, 9})
      for (const QSizeF size : {QSizeF(480, 300), QSizeF(600, 300), QSizeF(900, 300)}) {
        CAPTURE(font);
        CAPTURE(count);
        CAPTURE(size.width());
        SweepFigure figure = example_figure(count, 131072, size.width() * font / 9);
        figure.page.title.clear();
        figure.page.footer.clear();
        figure.page.style.font_size = font;
        figure.page.style.height = size.height() * font / 9;
        for (std::size_t s = 1; s < figure.panels.sweep.series.size(); ++s)
          figure.panels.sweep.series[s].refusals = {
              {256, "there is not enough memory for so long a text"}};
        const auto recording = example::record(figure_of(figure));
        example::check_page(recording);
        example::check_texts_apart(recording);
      }
}

TEST_CASE("sweep: a fixed height is kept, and empty ones say why") {
  example::application();
  SweepFigure figure = example_figure(6, 131072, 700);
  figure.page.style.height = 420;
  CHECK(figure_height(figure_of(figure)) == 420);
  example::check_page(example::record(figure_of(figure)));
  figure.panels.sweep = {};
  figure.panels.message = "nothing is open";
  const auto recording = example::record(figure_of(figure));
  example::check_page(recording);
  int said = 0;
  for (const auto& drawn : recording.texts) said += drawn.text == "nothing is open";
  CHECK(said == 1);
}

TEST_CASE("sweep: every measured point stands in its plots, and the crossover is written") {
  example::application();
  const SweepFigure figure = example_figure(3, 8192, 504);
  const auto spots = sweep_spots(figure_of(figure));
  // Six lengths: time and memory of four series, error of three.
  CHECK(spots.size() == 6 * (4 + 4 + 3));
  const auto recording = example::record(figure_of(figure));
  for (std::size_t s = 1; s < 4; ++s) {
    const Crossover crossover = crossover_of(figure.panels.sweep, s, SweepTime::total);
    REQUIRE(crossover.kind == Crossover::Kind::at);
    const QString number = QString::number(rounded_n(crossover));
    int above = 0, legend = 0;
    for (const auto& drawn : recording.texts) {
      above += drawn.text == number;
      legend += drawn.text.endsWith(QString::fromStdString(": " + to_text(crossover)));
    }
    CHECK(above == 1);
    CHECK(legend == 1);
  }
}

TEST_CASE("sweep: notes say what was fitted, measured badly, left out or refused") {
  SweepFigure figure = example_figure(6, 131072, 504);
  figure.panels.sweep.series[2].refusals = {{256, "too short"}};
  std::string all;
  for (const std::string& note : sweep_notes(figure.panels.sweep)) all += note + "\n";
  CHECK(all.find("HyperAttention up to n = 2048") != std::string::npos);
  CHECK(all.find("fewer than 6 runs") != std::string::npos);
  CHECK(all.find("best pace") == std::string::npos);
  CHECK(all.find("beyond the time allowed: Exact beyond n = 32768") != std::string::npos);
  CHECK(all.find("Fixed cannot be computed at n = 256: too short") != std::string::npos);
}

/// As in demo.cpp.
TEST_CASE("sweep: examples can be written to a folder to be looked at" * doctest::skip()) {
  example::application();
  const char* folder = std::getenv("FOVEA_FIGURE_DEMO");
  REQUIRE_MESSAGE(folder, "FOVEA_FIGURE_DEMO must name a folder");
  const std::string base = folder;
  SweepFigure figure = example_figure(6, 131072, 504);
  for (const char* ending : {".png", ".svg", ".pdf"})
    write_figure(base + "/sweep" + ending, figure_of(figure));
  figure.page.style.dark = true;
  write_figure(base + "/sweep-dark.png", figure_of(figure));
  write_figure(base + "/sweep-column.png", figure_of(example_figure(4, 5000, 252)));
}
