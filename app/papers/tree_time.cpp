// Time of tree attention on one thread of a CPU, against exact attention (Treeformer, Table 4).
#include <algorithm>
#include <map>

#include "backend/backends.h"
#include "data/number_text.h"
#include "data/text.h"
#include "input/open_source.h"
#include "panels/sweep_panels.h"
#include "papers/paper_figure.h"
#include "papers/request.h"
#include "sweep/sweeper.h"

namespace fovea {
namespace {

constexpr double seconds = 90;  // of measuring
constexpr Index longest_stated = 8192;
constexpr const char* k_ary = "100,10";

/// Table 4: times faster than exact attention, by n.
const std::map<Index, double> binary_stated{{2048, 1.8}, {4096, 3.3}, {8192, 6.7}},
    k_ary_stated{{2048, 1.7}, {4096, 3.1}, {8192, 6}};

struct TimedTree {
  std::string id, name;
  ComputeRequest request;
  std::map<Index, double> stated;
};

std::vector<TimedTree> timed_trees() {
  return {
      {"tf", "TF, binary, height 6", request_of("tf", {}), binary_stated},
      {"tf_k_ary", "TF, k-ary, 100 × 10", request_of("tf", {{"branching", k_ary}}), k_ary_stated},
      {"tc", "TC, binary, height 6", request_of("tc", {}), {}}};
}

Sweep measure(const Problem& head, const std::vector<TimedTree>& trees, const Backend& backend,
              Run& run) {
  std::vector<Column> columns;
  for (const TimedTree& tree : trees)
    columns.push_back({tree.request.variant->id, tree.request.values, 0});
  Sweeper sweeper(head, columns, {.longest = head.n(), .seconds = seconds});
  Run quiet = run.quiet();
  while (sweeper.step(backend, quiet)) {
    const double spent = sweeper.seconds_spent();
    run.reached(spent / (spent + sweeper.seconds_left()));
  }
  return sweeper.sweep();
}

/// Adds numbers at the lengths of the table, or at the longest measured length if all of these are
/// longer. Returns the names of those whose ratio says little.
std::vector<std::string> add_numbers(const TimedTree& tree, const Sweep& sweep,
                                     const SweepSeries& series, PaperResult& result) {
  std::vector<std::string> unsteady;
  for (const SweepPoint& point : series.points) {
    const auto ratio = ratio_to_exact(sweep, point, SweepTime::total);
    const bool last = &point == &series.points.back();
    if (!ratio || (point.n < binary_stated.begin()->first && !last)) continue;
    const std::string what = tree.name + ", n = " + std::to_string(point.n);
    PaperNumber number{.id = "speed_up_" + tree.id + "_" + std::to_string(point.n),
                       .what = what + ": times faster than exact",
                       .published = {},
                       .found = 1 / *ratio};
    if (const auto stated = tree.stated.find(point.n); stated != tree.stated.end()) {
      number.published = stated->second;
      number.apart = "even leaves and one head here; another machine and model there";
    }
    result.numbers.push_back(std::move(number));
    if (point.total.unsteady() || sweep.series.front().at(point.n)->total.unsteady())
      unsteady.push_back(what);
  }
  return unsteady;
}

PaperResult times_of_trees(const PaperTask& task, Run& run) {
  const std::shared_ptr<const Backend> one_thread = make_cpu_backend({.threads = 1});
  const Index n = std::min(task.longest, longest_stated);
  const Problem head =
      problem_of(open_source("synthetic:clusters?n=" + std::to_string(n) + "&d=64"),
                 {.conditions = {.causal = false}});
  const std::vector<TimedTree> trees = timed_trees();
  SweepPanels panels{.sweep = measure(head, trees, *one_thread, run)};
  PaperResult result;
  std::string unsteady;
  for (std::size_t t = 0; t < trees.size(); ++t)
    for (const std::string& what :
         add_numbers(trees[t], panels.sweep, panels.sweep.series[t + 1], result))
      add_item(unsteady, what, "; ");
  Panel time = std::move(make_panels(panels).front());
  auto& series = std::get<SeriesPlot>(time.body).series;
  for (std::size_t t = 0; t < trees.size(); ++t) series[t + 1].name = trees[t].name;
  time.title = "Time of a head";
  result.rows = {{std::move(time)}};
  result.backend = one_thread;
  result.notes = sweep_notes(panels.sweep);
  if (!unsteady.empty())
    result.notes.push_back(
        "These speed-ups say little, as other work on the machine interrupted "
        "some rounds and not others (p90 / p10 of 1.5 or more): " +
        unsteady + ". Measure on an idle machine.");
  result.notes.push_back(
      "One head of synthetic clusters, d = 64, forward, from Q, K and V to Z, routing included and "
      "the building of median trees not, measured on " +
      one_thread->device() + ", whatever `--backend` says.");
  result.notes.push_back(
      "The paper times its model with TF-attention against standard attention, on one thread of an "
      "Intel Xeon Platinum P-8136; its k-ary trees are taken to be of TF, too. The trees were "
      "learned. How full their leaves are, and what is timed around attention, is not known here; "
      "median trees have even leaves, in which few pairs meet. A k-ary tree asks 110 products of "
      "each token, a binary one 6. Ratios of other trees, programs and machines do not confirm the "
      "paper's.");
  return result;
}

}  // namespace

PaperFigure tree_time_figure() {
  return {.id = "tree-time",
          .paper = "Treeformer (Madaan et al. 2022), Table 4",
          .title = "Time of tree attention on one thread of a CPU",
          .sentence = "How many times faster than exact attention tree attention is on one thread.",
          .timed = true,
          .make = times_of_trees};
}

}  // namespace fovea
