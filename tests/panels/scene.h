// A Scene is a variant beside exact attention of one problem, and what each view shows of them.
#pragma once

#include "evaluate/evaluate.h"
#include "harness.h"
#include "panels/panel.h"
#include "views/views.h"

namespace fovea::test {

struct Scene {
  Problem problem;
  Computation computation, exact;
  Metrics metrics;
  std::vector<Diagnostic> diagnostics;
  Sequence sequence;
  ViewSettings settings;
  Profile profile;

  Scene(const Problem& p, const std::string& id, const Settings& parameters) : problem(p) {
    Run run{profile};
    const Backend& backend = *backends().front();
    const auto make = [&](const std::string& name, const Settings& s) {
      const Variant& variant = find_variant(name);
      return compute(problem, {.variant = &variant, .values = values_of(variant, s)}, backend, run);
    };
    exact = make("exact", {});
    computation = id == "exact" ? exact : make(id, parameters);
    metrics = compare(computation, exact, run);
    diagnostics = diagnose(computation, exact, backend, run);
  }
  Panel panel(View view, IndexRange rows, IndexRange cols, Index max_pixels = 512,
              Index query = 0) {
    Run run{profile};
    return make_panel(view,
                      {.computation = computation,
                       .exact = exact,
                       .backend = *backends().front(),
                       .metrics = &metrics,
                       .diagnostics = &diagnostics,
                       .sequence = sequence,
                       .settings = settings,
                       .rows = rows,
                       .cols = cols,
                       .max_pixels = max_pixels,
                       .query = query},
                      run);
  }
  Panel panel(View view) { return panel(view, {0, problem.n()}, {0, problem.n()}); }
  Matrix p(bool approximate) {
    Run run{profile};
    const IndexRange all{0, problem.n()};
    return (approximate ? computation : exact).op->tile(all, all, run);
  }
};

inline Scene hyper_scene(bool causal = false) {
  return {make_data(Data::gaussian, 40, 4, 4, causal),
          "hyper",
          {{"block", "8"}, {"samples", "8"}, {"min_length", "8"}}};
}

}  // namespace fovea::test
