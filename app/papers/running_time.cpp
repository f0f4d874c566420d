// Time against n of HyperAttention and of exact attention, forward.
#include "data/number_text.h"
#include "input/open_source.h"
#include "panels/sweep_panels.h"
#include "papers/paper_figure.h"
#include "sweep/sweeper.h"

namespace fovea {
namespace {

constexpr double stated_causal = 5;  // abstract: times faster, at this length
constexpr Index stated_at = 131072;
constexpr double seconds_a_mask = 90;  // of measuring

Sweep measure(const Problem& head, const PaperTask& task, Run run) {
  const Variant& hyper = find_variant("hyper");
  Sweeper sweeper(head, {{hyper.id, defaults(hyper.schema), 0}},
                  {.longest = head.n(), .seconds = seconds_a_mask});
  while (sweeper.step(task.backend, run)) {
    const double spent = sweeper.seconds_spent();
    run.reached(spent / (spent + sweeper.seconds_left()));
  }
  return sweeper.sweep();
}

void add_numbers(const Sweep& sweep, bool causal, PaperResult& result) {
  const std::string mask = causal ? "causal" : "bidirectional";
  const SweepSeries& hyper = sweep.series.back();
  if (!hyper.points.empty())
    if (const auto ratio = ratio_to_exact(sweep, hyper.points.back(), SweepTime::total)) {
      const Index n = hyper.points.back().n;
      const bool same = causal && n == stated_at;
      result.numbers.push_back({"speed_up_" + mask,
                                "Times faster than exact, " + mask + ", n = " + std::to_string(n),
                                same ? std::optional(stated_causal) : std::nullopt, 1 / *ratio,
                                same ? "the paper's is on a GPU" : ""});
    }
  result.notes.push_back("HyperAttention, " + mask + ": " +
                         to_text(crossover_of(sweep, sweep.series.size() - 1, SweepTime::total)) +
                         ".");
}

PaperResult times_against_length(const PaperTask& task, Run& run) {
  const Source source =
      open_source("synthetic:gaussian?n=" + std::to_string(task.longest) + "&d=64");
  PaperResult result;
  result.rows.emplace_back();
  for (const bool causal : {false, true}) {
    const Problem head = problem_of(source, {.causal = causal});
    SweepPanels panels{.sweep = measure(head, task, run.part(causal ? 0.5 : 0, causal ? 1 : 0.5))};
    add_numbers(panels.sweep, causal, result);
    Panel time = std::move(make_panels(panels).front());
    // The legend is of both masks: where each becomes faster is in the plots and the notes.
    for (SeriesPlot::Series& series : std::get<SeriesPlot>(time.body).series)
      series.name = series.name.substr(0, series.name.find(':'));
    time.title = std::string("Time, ") + (causal ? "causal" : "bidirectional");
    result.rows.front().push_back(std::move(time));
    for (std::string& note : sweep_notes(panels.sweep)) result.notes.push_back(std::move(note));
  }
  result.notes.push_back(
      "One head, d = 64, forward, from Q, K and V to Z, with the paper's block 256, 256 samples "
      "and "
      "7 bits; on " +
      task.backend.device() +
      ". The paper's abstract states a layer 5 times faster "
      "at n = 131072 under a causal mask, on a GPU; --longest 131072 measures that length.");
  return result;
}

}  // namespace

PaperFigure running_time_figure() {
  return {.id = "running-time",
          .paper = "HyperAttention (Han et al. 2023), Figure 4",
          .title = "Time against n, and the length from which HyperAttention is faster",
          .sentence =
              "How long exact attention and HyperAttention take, with and without a causal mask.",
          .timed = true,
          .make = times_against_length};
}

}  // namespace fovea
