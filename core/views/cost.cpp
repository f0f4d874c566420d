// A table of what a variant costs and how far it is from exact attention.
#include <algorithm>

#include "analysis/measures.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

std::string bytes(double x) {
  return format_bytes(x, Zeros::drop);
}

Body cost(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Problem& p = in.exact.op->problem();
  FigureTable table;
  const auto line = [&](std::string label, std::string value) {
    table.rows.emplace_back(std::move(label), std::move(value));
  };
  const auto lines_of = [&](const Evaluation& known) {
    for (const Measure& measure : measures())
      if (const auto measured = measure.of(known)) line(measure.label, to_text(measure, *measured));
  };
  lines_of({.cost = &in.computation.cost});
  line(p.has_values() ? "Q, K, V, Z" : "Q, K",
       bytes(sizeof(float) * static_cast<double>(p.queries() + p.keys()) *
             static_cast<double>(p.d() + p.dv())));
  line(p.lengths().equal() ? "n × n, stored" : "nq × nk, stored",
       bytes(sizeof(float) * static_cast<double>(p.queries()) * static_cast<double>(p.keys())));
  if (in.metrics && !is_exact(in)) {
    lines_of({.metrics = in.metrics});
    if (in.metrics->sampled()) add(caption, "P estimated from " + plural(in.metrics->rows, "row"));
  }
  if (in.diagnostics && !in.diagnostics->empty()) {
    for (const Diagnostic& figure : *in.diagnostics) line(figure.label, to_text(figure));
    if (std::ranges::any_of(*in.diagnostics, &Diagnostic::sampled))
      add(caption, "≈: of a sample, ± standard error");
  }
  return table;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind cost_view() {
  return {.id = "cost",
          .label = "Cost",
          .meaning =
              "What an attention costs: multiply-adds, pairs and memory, beside those of exact "
              "attention.",
          .make = views::cost,
          .needs_exact = true,
          .metrics = ViewKind::Uses::always,
          .uses_diagnostics = true,
          .tells_plan_notes = true,
          .aspect = 2};
}

}  // namespace fovea
