// Bias and variance of HyperAttention's row sums, which are estimated from sampled keys.
#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "input/assets.h"
#include "papers/log_slope.h"
#include "papers/paper_figure.h"
#include "variants/schema.h"

namespace fovea {
namespace {

constexpr int seed_count = 1000;
constexpr int sample_counts[] = {16, 32, 64, 128, 256};
constexpr double normal_interval = 1.96;  // standard errors: 95 % of a normal distribution

struct Estimates {
  double mean = 0;        // of D~ / D over rows and seeds
  double mean_error = 0;  // its standard error: the seeds are independent, rows of a seed are not
  double deviation = 0;   // of D~ / D over seeds: the median over rows
  double covered =
      0;            // share of the rows whose mean over seeds is within 1.96 standard errors of 1
  double rows = 0;  // that were estimated at all
};

/// Leaves out rows whose sum is the same for every seed, as nothing is estimated there.
Estimates estimates_of(const std::vector<std::vector<double>>& ratio) {
  Estimates out;
  std::vector<double> deviations;
  std::vector<std::size_t> estimated;  // rows
  const auto count = double(ratio.size());
  for (std::size_t i = 0; i < ratio.front().size(); ++i) {
    double sum = 0, squares = 0;
    for (const auto& of_seed : ratio) sum += of_seed[i];
    const double mean = sum / count;
    for (const auto& of_seed : ratio) squares += std::pow(of_seed[i] - mean, 2);
    const double deviation = std::sqrt(squares / (count - 1));
    if (deviation < 1e-6) continue;  // only roundings of float32
    estimated.push_back(i);
    out.mean += mean;
    deviations.push_back(deviation);
    out.covered += std::abs(mean - 1) <= normal_interval * deviation / std::sqrt(count);
  }
  out.rows = deviations.size();
  if (deviations.empty()) return out;
  double squares = 0;
  for (const auto& of_seed : ratio) {
    double sum = 0;
    for (const std::size_t i : estimated) sum += of_seed[i];
    squares += std::pow((sum - out.mean) / out.rows, 2);
  }
  out.mean_error = std::sqrt(squares / (count - 1) / count);
  out.mean /= out.rows;
  out.covered /= out.rows;
  std::ranges::sort(deviations);
  out.deviation = deviations[deviations.size() / 2];
  return out;
}

Values values_with(const Variant& variant, Index n, int samples) {
  Values values = values_for_length(variant, n);
  set_value(variant.schema, values, "samples", std::to_string(samples));
  return values;
}

PaperResult estimates_of_row_sums(const PaperTask& task, Run& run) {
  const Session session = first_session(task.example);
  const Problem problem =
      problem_of(task.example,
                 {.layer = session.layer, .head = session.head, .conditions = {.causal = false}});
  Run quiet = run.quiet();
  const Computation exact = compute_exact(problem, task.backend, quiet);
  const Variant& hyper = find_variant("hyper");
  SeriesPlot plot{.x_label = "m, sampled keys", .y_label = "deviation of D̃ / D"};
  plot.series = {{.name = "found"}, {.name = "∝ 1/√m"}};
  std::vector<std::pair<double, double>> points;
  PaperResult result;
  double done = 0;
  for (const int samples : sample_counts) {
    std::vector<std::vector<double>> ratio;
    for (int seed = 0; seed < seed_count; ++seed) {
      const Computation sampled = compute(problem,
                                          {.variant = &hyper,
                                           .values = values_with(hyper, problem.n(), samples),
                                           .seed = static_cast<std::uint64_t>(seed)},
                                          task.backend, quiet);
      auto& of_seed = ratio.emplace_back();
      for (std::size_t i = 0; i < exact.output.lse.size(); ++i)
        of_seed.push_back(std::exp(double(sampled.output.lse[i]) - double(exact.output.lse[i])));
      run.reached(++done / double(seed_count * std::size(sample_counts)));
    }
    const Estimates found = estimates_of(ratio);
    const std::string m = "m = " + std::to_string(samples);
    result.numbers.push_back({"mean_" + std::to_string(samples),
                              m + ": mean of D̃ / D over rows and seeds",
                              {},
                              found.mean,
                              {},
                              1,
                              found.mean_error});
    result.numbers.push_back(
        {"covered_" + std::to_string(samples),
         m + ": share of rows whose mean over seeds is within 1.96 standard errors of D",
         {},
         found.covered});
    result.numbers.push_back({"deviation_" + std::to_string(samples),
                              m + ": standard deviation of D̃ / D over seeds, median of rows",
                              {},
                              found.deviation});
    points.emplace_back(samples, found.deviation);
    plot.lengths.push_back(samples);
  }
  for (const auto& [m, deviation] : points) {
    const double expected = points.front().second * std::sqrt(points.front().first / m);
    plot.series[0].points.push_back(
        {.n = m, .value = deviation, .low = deviation, .high = deviation});
    plot.series[1].points.push_back(
        {.n = m, .value = expected, .low = expected, .high = expected, .weak = true});
  }
  result.numbers.push_back(
      {"slope", "Slope of log deviation against log m", {}, log_slope(points), {}, -0.5});
  result.notes = {
      task.example.name + ", " + layer_label(task.example, session.layer) + ", head " +
          std::to_string(session.head) + ", n = " + std::to_string(problem.n()) + ", " +
          std::to_string(seed_count) +
          " seeds, each with a hash of its own. Keys are drawn uniformly "
          "with replacement, each counted n/m times unless it is in the query's block.",
      "Such an estimate is unbiased and its deviation falls as 1/√m, whatever the head; how large "
      "it is depends on the head. Of independent rows and a normal distribution 0.95 would be "
      "within 1.96 standard errors; rows of a seed share their samples, so that the share varies, "
      "and rows with a few large entries outside their block are far from normal.",
      "The paper bounds the error with high probability (Lemma 1) and states no number for it."};
  result.rows = {{{.title = "Deviation of sampled row sums",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(plot)}}};
  return result;
}

}  // namespace

PaperFigure sampled_sum_figure() {
  return {
      .id = "sampled-sums",
      .paper = "HyperAttention (Han et al. 2023), Algorithm 2 and Lemma 1",
      .title = "Bias and variance of sampled row sums",
      .sentence = "Whether row sums from sampled keys are right on average, and how they spread.",
      .make = estimates_of_row_sums};
}

}  // namespace fovea
