// What the c summary columns of Sparse Transformer's fixed pattern cost beside the strided pattern.
#include "data/number_text.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "papers/request.h"

namespace fovea {
namespace {

constexpr Index stride_stated = 128, summary_lengths[] = {1024, 2048, 4096, 8192, 16384};
constexpr Index summaries_stated[] = {8, 16, 32};  // section 4.3 tries these

double pairs_of(const Problem& problem, const ComputeRequest& request, const PaperTask& task,
                Run& run) {
  Run quiet = run.quiet();
  return prepare(problem, request, task.backend, quiet).cost.pairs;
}

PaperResult cost_of_summaries(const PaperTask& task, Run& run) {
  SeriesPlot second{.x_label = "n, tokens", .y_label = "fixed over strided"}, merged = second;
  for (SeriesPlot* plot : {&second, &merged}) {
    plot->lengths.assign(std::begin(summary_lengths), std::end(summary_lengths));
    for (const Index c : summaries_stated)
      plot->series.push_back({.name = "c = " + std::to_string(c)});
  }
  const std::string l = std::to_string(stride_stated);
  PaperResult result;
  for (const Index n : summary_lengths) {
    run.check();
    const Problem problem =
        problem_of(open_source("synthetic:gaussian?n=" + std::to_string(n) + "&d=4"),
                   {.conditions = {.causal = true}});
    for (const char* heads : {"second", "merged"}) {
      const bool of_second = std::string(heads) == "second";
      const double strided =
          pairs_of(problem, request_of("strided", {{"stride", l}, {"heads", heads}}), task, run);
      for (std::size_t s = 0; s < std::size(summaries_stated); ++s) {
        const std::string c = std::to_string(summaries_stated[s]);
        const double fixed = pairs_of(
            problem, request_of("fixed", {{"stride", l}, {"summary", c}, {"heads", heads}}), task,
            run);
        const double ratio = fixed / strided;
        (of_second ? second : merged)
            .series[s]
            .points.push_back({.n = double(n), .value = ratio, .low = ratio, .high = ratio});
        const std::string at = "c = " + c + ", n = " + std::to_string(n);
        PaperNumber number{.id = std::string(heads) + "_" + c + "_" + std::to_string(n),
                           .what = at + (of_second ? ": pairs of the second set, over strided's"
                                                   : ": pairs of both sets, over strided's"),
                           .published = {},
                           .found = ratio};
        if (of_second) {
          number.published = double(summaries_stated[s]);
          number.apart = "the limit for n far above l";
        }
        result.numbers.push_back(std::move(number));
      }
    }
    run.reached(double(n) / double(summary_lengths[std::size(summary_lengths) - 1]));
  }
  result.notes = {
      "Section 4.3 says that c summary columns raise the cost by c in comparison to strided "
      "attention. That is so for the second set of each pattern, once n is far above l = " +
          l +
          ": with N = n / l blocks fixed has c l N (N − 1) / 2 + N c (c + 1) / 2 pairs, strided "
          "l N (N + 1) / 2.",
      "The first set has n (l + 1) / 2 pairs in fixed, where the mask halves the own block, and "
      "about n l in strided. Both sets together therefore cost less than c times as much, and with "
      "c = 8 less than strided up to n = 2048.",
      "All counts are of the pairs that the plans hold, under a causal mask."};
  result.rows = {{{.title = "Pairs of the second set, fixed over strided",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(second)},
                  {.title = "Pairs of both sets, fixed over strided",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(merged)}}};
  return result;
}

}  // namespace

PaperFigure summary_column_figure() {
  return {.id = "summary-columns",
          .paper = "Sparse Transformer (Child et al. 2019), section 4.3",
          .title = "Cost of the summary columns of the fixed pattern",
          .sentence = "How many times the pairs of strided attention c summary columns take.",
          .make = cost_of_summaries};
}

}  // namespace fovea
