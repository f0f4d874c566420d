// The largest column norm of causal attention against n: whether HyperAttention's alpha grows more
// slowly than n.
#include <algorithm>
#include <cmath>

#include "analysis/column_squares.h"
#include "papers/log_slope.h"
#include "papers/median.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

constexpr Index first_columns =
    // First columns, which all queries of a causal head attend.
    32;
constexpr int lengths_an_octave = 2;

/// Lengths from twice the number of columns left out to n, evenly on a logarithmic scale.
std::vector<Index> lengths_to(Index n) {
  std::vector<Index> lengths{n};
  for (int step = 1;; ++step) {
    const Index length = std::lround(double(n) * std::exp2(-double(step) / lengths_an_octave));
    if (length < 2 * first_columns) break;
    lengths.insert(lengths.begin(), length);
  }
  return lengths;
}

/// 1/n max_j sum_i P_ij^2 of exact P, over all columns and over those from 32 on.
struct Shares {
  double all = 0, later = 0;
};

Shares shares_of(const Problem& problem, const Backend& backend, Run& run) {
  const Computation exact = compute_exact(problem, backend, run);
  const std::vector<double> squares = column_squares(problem, exact.output.lse, backend, run);
  const auto from = squares.begin() + std::min<Index>(first_columns, std::ssize(squares) - 1);
  const double n = problem.n();
  return {std::ranges::max(squares) / n, *std::max_element(from, squares.end()) / n};
}

/// The shares of all heads at one length.
struct AtLength {
  std::vector<double> all, later;  // [heads] as in Shares
};

SeriesPlot::Point quartiles_at(Index n, const std::vector<double>& heads) {
  std::vector<double> sorted = heads;
  std::ranges::sort(sorted);
  return {.n = double(n),
          .value = median_of(heads),
          .low = sorted[sorted.size() / 4],
          .high = sorted[sorted.size() - 1 - sorted.size() / 4]};
}

SeriesPlot plot_of(const std::vector<Index>& lengths, const std::vector<AtLength>& found) {
  SeriesPlot plot{.x_label = "n, tokens", .y_label = "1/n maxⱼ Σᵢ Pᵢⱼ²"};
  plot.series = {{.name = "median head, without the first 32 columns"},
                 {.name = "median head, all columns"},
                 {.name = "greatest head, without the first 32 columns"},
                 {.name = "∝ 1/n"}};
  plot.lengths = lengths;
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    const double n = lengths[l], greatest = std::ranges::max(found[l].later),
                 inverse = median_of(found[0].later) * double(lengths[0]) / n;
    plot.series[0].points.push_back(quartiles_at(lengths[l], found[l].later));
    plot.series[1].points.push_back(quartiles_at(lengths[l], found[l].all));
    plot.series[2].points.push_back({.n = n, .value = greatest, .low = greatest, .high = greatest});
    plot.series[3].points.push_back(
        {.n = n, .value = inverse, .low = inverse, .high = inverse, .weak = true});
  }
  return plot;
}

PaperResult growth_of_columns(const PaperTask& task, Run& run) {
  const Source& source = task.example;
  Index n = source.layers.front().queries(), heads = 0;
  for (const Layer& layer : source.layers) {
    n = std::min(n, layer.queries());
    heads += layer.heads();
  }
  const std::vector<Index> lengths = lengths_to(n);
  std::vector<AtLength> found(lengths.size());
  Run quiet = run.quiet();
  Index falling = 0, done = 0;
  for (std::size_t layer = 0; layer < source.layers.size(); ++layer)
    for (Index head = 0; head < source.layers[layer].heads(); ++head) {
      const Problem whole = problem_of(
          source,
          {.layer = static_cast<Index>(layer), .head = head, .conditions = {.causal = true}});
      std::vector<std::pair<double, double>> later;
      for (std::size_t l = 0; l < lengths.size(); ++l) {
        const Shares shares = shares_of(prefix_of(whole, lengths[l]), task.backend, quiet);
        found[l].all.push_back(shares.all);
        found[l].later.push_back(shares.later);
        later.emplace_back(double(lengths[l]), shares.later);
      }
      falling += lengths.size() > 1 && log_slope(later) < 0;
      run.reached(double(++done) / double(heads));
    }
  PaperResult result;
  std::vector<std::pair<double, double>> medians;
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    const std::string at = "_" + std::to_string(lengths[l]),
                      where = "n = " + std::to_string(lengths[l]) + ": α/n, ";
    medians.emplace_back(double(lengths[l]), median_of(found[l].later));
    result.numbers.push_back({"share_median" + at,
                              where + "median head, without the first 32 columns",
                              {},
                              medians.back().second});
    result.numbers.push_back({"share_max" + at,
                              where + "greatest head, without the first 32 columns",
                              {},
                              std::ranges::max(found[l].later)});
    result.numbers.push_back(
        {"share_median_all" + at, where + "median head, all columns", {}, median_of(found[l].all)});
  }
  if (lengths.size() > 1) {
    result.numbers.push_back(
        {"slope", "Slope of log α/n against log n, median head", {}, log_slope(medians)});
    result.numbers.push_back(
        {"falling", "Share of heads whose α/n falls with n", {}, double(falling) / double(heads)});
  }
  result.notes = {
      source.name + ": " + std::to_string(heads) +
          " heads under a causal mask, cut to their first n tokens. α is maxⱼ Σᵢ Pᵢⱼ², as in "
          "section 4.3; α of Lemma 1 is n times as much. Bars are quartiles of the heads.",
      "The first 32 columns are left out, as in the paper: under a causal mask early keys have few "
      "competitors, so that their columns are large whatever the head.",
      "α grows more slowly than n where α/n falls, as Fig. 5 shows for longer texts, without "
      "numbers in the text. These are a sentence encoder's heads, which were trained without a "
      "causal mask, at " +
          std::to_string(n) +
          " tokens at most: they show how the figure is computed, and neither confirm nor refute "
          "the paper's."};
  result.rows = {{{.title = "α/n under a causal mask",
                   .subtitle = {},
                   .caption = {},
                   .body = plot_of(lengths, found)}}};
  return result;
}

}  // namespace

PaperFigure column_growth_figure() {
  return {
      .id = "column-growth",
      .paper = "HyperAttention (Han et al. 2023), Figure 5",
      .title = "Column spread α/n against n",
      .sentence = "Whether the largest column norm of causal attention grows more slowly than n.",
      .make = growth_of_columns};
}

}  // namespace fovea
