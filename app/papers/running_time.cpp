// Time against n of HyperAttention and of exact attention, forward.
#include "data/number_text.h"
#include "input/open_source.h"
#include "panels/sweep_panels.h"
#include "papers/paper_figure.h"
#include "sweep/sweeper.h"

namespace fovea {
namespace {

// Fig. 4: times faster than exact attention, forward, 12 heads of this length.
constexpr Index stated_at = 131072;
constexpr double of_figure_4(bool causal) {
  return causal ? 5.4 : 54;
}

/// Medians in milliseconds of step attention-131k in tests/gpu/results/nvidia-h200.json: heads of
/// 131072 tokens, d = 64, bf16, the kernels alone and from Q, K and V in the memory of the host to
/// Z in it.
constexpr int heads_on_h200 = 12;
constexpr const char* commit_on_h200 = "9e65c2cb7d1d";
struct OnH200 {
  bool causal;
  double exact, hyper, exact_end_to_end, hyper_end_to_end;
};
constexpr OnH200 on_h200[] = {{false, 99.1601, 1.7128, 412.153, 442.025},
                              {true, 47.9539, 8.95917, 312.669, 665.968}};
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

std::string name_of(bool causal) {
  return causal ? "causal" : "bidirectional";
}

/// Adds times that were measured on an H200 once, beside Fig. 4.
void add_numbers_of_h200(PaperResult& result) {
  for (const OnH200& ms : on_h200) {
    const std::string mask = name_of(ms.causal),
                      where = "H200, " + mask + ", n = " + std::to_string(stated_at) + ", " +
                              plural(heads_on_h200, "head") + ": ";
    result.numbers.push_back({"speed_up_h200_" + mask, where + "kernels", of_figure_4(ms.causal),
                              ms.exact / ms.hyper, "another GPU and exact attention, no hashing"});
    result.numbers.push_back({"speed_up_h200_end_to_end_" + mask,
                              where + "from host to host",
                              {},
                              ms.exact_end_to_end / ms.hyper_end_to_end});
  }
  const auto& [whole, causal] = on_h200;
  const auto both = [](double a, const char* between, double b) {
    return format_number(a, 3) + between + format_number(b, 3) + " ms";
  };
  result.notes.push_back(
      "The rows of an H200 were not measured by this run. They are medians in "
      "tests/gpu/results/nvidia-h200.json (commit " +
      std::string(commit_on_h200) +
      "), d = 64, bf16, of Fovea's kernels: exact attention and HyperAttention take " +
      both(whole.exact, " and ", whole.hyper) + ", under a causal mask " +
      both(causal.exact, " and ", causal.hyper) +
      ". Hashing, sorting and copies are not in these times; from the memory of the host and back, "
      "with them, HyperAttention takes longer than exact attention: " +
      both(whole.hyper_end_to_end, " for ", whole.exact_end_to_end) + ", causal " +
      both(causal.hyper_end_to_end, " for ", causal.exact_end_to_end) + ".");
  result.notes.push_back(
      "Fig. 4 states 54 and 5.4 times, the abstract 5 for a causal layer. The paper compares its "
      "own code with FlashAttention on a GPU of its time. A ratio compares two programs on one "
      "GPU: ratios of other programs and GPUs do not confirm each other.");
}

void add_numbers(const Sweep& sweep, bool causal, PaperResult& result) {
  const std::string mask = name_of(causal);
  const SweepSeries& hyper = sweep.series.back();
  if (!hyper.points.empty())
    if (const auto ratio = ratio_to_exact(sweep, hyper.points.back(), SweepTime::total)) {
      const Index n = hyper.points.back().n;
      const bool same = n == stated_at;
      result.numbers.push_back({"speed_up_" + mask,
                                "Times faster than exact, " + mask + ", n = " + std::to_string(n),
                                same ? std::optional(of_figure_4(causal)) : std::nullopt,
                                1 / *ratio, same ? "the paper's is of 12 heads on a GPU" : ""});
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
    const Problem head = problem_of(source, {.conditions = {.causal = causal}});
    SweepPanels panels{.sweep = measure(head, task, run.part(causal ? 0.5 : 0, causal ? 1 : 0.5))};
    add_numbers(panels.sweep, causal, result);
    Panel time = std::move(make_panels(panels).front());
    // The legend is for both masks; plots and notes tell where each becomes faster.
    for (SeriesPlot::Series& series : std::get<SeriesPlot>(time.body).series)
      series.name = series.name.substr(0, series.name.find(':'));
    time.title = std::string("Time, ") + (causal ? "causal" : "bidirectional");
    result.rows.front().push_back(std::move(time));
    for (std::string& note : sweep_notes(panels.sweep)) result.notes.push_back(std::move(note));
  }
  result.notes.push_back(
      "One head, d = 64, forward, from Q, K and V to Z, with the paper's block 256, 256 samples "
      "and 7 bits; on " +
      task.backend.device() +
      ". --longest 131072 measures the length for which the paper states numbers.");
  add_numbers_of_h200(result);
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
