// HyperAttention's errors in the spectral norm: of its row sums, of its sampled values and of both.
#include <algorithm>
#include <cmath>

#include "evaluate/evaluate.h"
#include "input/assets.h"
#include "papers/median.h"
#include "papers/paper_figure.h"
#include "variants/schema.h"

namespace fovea {
namespace {

constexpr int hashes_tried = 20;
constexpr int keys_tried[] = {16, 32, 64, 128, 256};

struct Tried {
  const char *id, *diagnostic, *what;
  const char* drawn = nullptr;  // its name in the figure
};
constexpr Tried of_each_m[] = {
    {"eq1", "spectral_epsilon", "ε of Eq. 1, Z̃", "Z̃, Eq. 1"},
    {"eq2", "row_sum_epsilon", "ε of Eq. 2, row sums alone", "row sums alone, Eq. 2"},
    {"eq3", "value_epsilon", "ε of Eq. 3, sampled values alone", "sampled values alone, Eq. 3"},
    {"capped", "capped_entries", "share of sampled entries at their cap"}};

Values theory_with(const Variant& hyper, Index n, int samples) {
  Values values = values_for_length(hyper, n);
  set_value(hyper.schema, values, "mode", "theory");
  set_value(hyper.schema, values, "min_length", "0");
  set_value(hyper.schema, values, "samples", std::to_string(samples));
  return values;
}

double value_named(const std::vector<Diagnostic>& figures, const std::string& id) {
  return std::ranges::find(figures, id, &Diagnostic::id)->value;
}

struct MeanOfSeeds {
  double value = 0, standard_error = 0;
};

MeanOfSeeds mean_with_error(const std::vector<double>& values) {
  const double count = values.size();
  double sum = 0, squares = 0;
  for (const double x : values) sum += x;
  for (const double x : values) squares += std::pow(x - sum / count, 2);
  return {sum / count, std::sqrt(squares / (count - 1) / count)};
}

PaperResult errors_in_the_spectral_norm(const PaperTask& task, Run& run) {
  const Session session = first_session(task.example);
  const Problem problem =
      problem_of(task.example,
                 {.layer = session.layer, .head = session.head, .conditions = {.causal = false}});
  const Variant& hyper = find_variant("hyper");
  Run quiet = run.quiet();
  const Reference reference = reference_of(problem, task.backend, quiet);
  PaperResult result;
  SeriesPlot plot{.x_label = "m, sampled keys", .y_label = "ε"};
  for (const Tried& figure : of_each_m)
    if (figure.drawn) plot.series.push_back({.name = figure.drawn});
  std::vector<double> lemma_1, lemma_2;
  double done = 0;
  for (const int samples : keys_tried) {
    std::vector<double> found[std::size(of_each_m)];
    for (int seed = 0; seed < hashes_tried; ++seed) {
      const ComputeRequest theory{.variant = &hyper,
                                  .values = theory_with(hyper, problem.n(), samples),
                                  .seed = static_cast<std::uint64_t>(seed)};
      const std::vector<Diagnostic> figures =
          evaluate(reference, theory, {.diagnostics = true}, task.backend, quiet).diagnostics;
      for (std::size_t e = 0; e < std::size(of_each_m); ++e)
        found[e].push_back(value_named(figures, of_each_m[e].diagnostic));
      lemma_1.push_back(value_named(figures, "lemma_1_samples"));
      lemma_2.push_back(value_named(figures, "lemma_2_samples"));
      run.reached(++done / double(hashes_tried * std::size(keys_tried)));
    }
    plot.lengths.push_back(samples);
    for (std::size_t e = 0; e < std::size(of_each_m); ++e) {
      const Tried& figure = of_each_m[e];
      const MeanOfSeeds mean = mean_with_error(found[e]);
      const std::string m = std::to_string(samples);
      result.numbers.push_back({figure.id + ("_" + m),
                                "m = " + m + ": " + figure.what,
                                {},
                                mean.value,
                                {},
                                {},
                                mean.standard_error});
      if (figure.drawn)
        plot.series[e].points.push_back({.n = double(samples),
                                         .value = mean.value,
                                         .low = mean.value - mean.standard_error,
                                         .high = mean.value + mean.standard_error});
    }
  }
  result.numbers.push_back(
      {"lemma_1", "m of Lemma 1 for ε = 1, κ⁷ α², median of the hashes", {}, median_of(lemma_1)});
  result.numbers.push_back({"lemma_2", "m of Lemma 2 for ε = 1, d srank(P)", {}, lemma_2.front()});
  result.numbers.push_back({"tokens", "n, all keys", {}, double(problem.n())});
  result.notes = {
      task.example.name + ", " + layer_label(task.example, session.layer) + ", head " +
          std::to_string(session.head) + ", n = " + std::to_string(problem.n()) + ", " +
          std::to_string(hashes_tried) +
          " seeds, each with a hash and samples of its own; ± and bars are standard errors. Theory "
          "mode, parameters ε = 1 and κ = 100: the cap on sampled entries, ε² m / (n log n) of a "
          "row's sum in its block, makes row sums too small while m is far below n log n.",
      "Z̃ = D̃⁻¹ A S Sᵀ V. Eq. 1: |Z̃ − Z|_op = ε |P|_op |V|_op. Eq. 2: |(D̃⁻¹ − D⁻¹) A|_op = ε "
      "|P|_op. Eq. 3: |Z̃ − D̃⁻¹ A V|_op = ε |P|_op |V|_op. Eq. 1's is at most the sum of the other "
      "two.",
      "Lemma 1 proves Eq. 2 for m beyond κ⁷ α² / ε⁶, and Lemma 2 proves Eq. 3 for m beyond d "
      "srank(P) / ε². Constants and logarithms are left out, so that only orders of magnitude can "
      "be compared with m. If such an m is above n, the lemma promises nothing for this head, and "
      "errors at smaller m owe nothing to it. The paper states no number for these errors."};
  result.rows = {{{.title = "Errors in the spectral norm",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(plot)}}};
  return result;
}

}  // namespace

PaperFigure spectral_error_figure() {
  return {.id = "spectral-error",
          .paper = "HyperAttention (Han et al. 2023), Eq. 1-3, Lemmas 1 and 2",
          .title = "Errors of row sums and sampled values in the spectral norm",
          .sentence =
              "The errors that the paper bounds, each apart, and the m that its lemmas ask for.",
          .make = errors_in_the_spectral_norm};
}

}  // namespace fovea
