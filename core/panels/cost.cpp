#include <cmath>

#include "panels/panels.h"

namespace fovea::panels {
namespace {

std::string bytes(double x) {
  return format_bytes(x, Zeros::drop);
}
std::string count(double x) {
  return format_count(x, Zeros::drop);
}

std::string estimate(const Estimate& e, bool sampled) {
  return format_number(e.value) + (sampled ? " ± " + format_number(e.standard_error) : "");
}

}  // namespace

Body cost(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Cost& c = in.computation.cost;
  const Problem& p = in.exact.op->problem();
  FigureTable table;
  const auto line = [&](std::string label, std::string value) {
    table.rows.emplace_back(std::move(label), std::move(value));
  };
  line("multiply-adds", count(c.multiply_adds));
  if (!is_exact(in)) line("against exact", format_percent(c.ratio_to_exact()));
  line("memory", bytes(c.bytes));
  if (in.metrics) {
    const Metrics& m = *in.metrics;
    const bool sampled = m.sampled_rows > 0;
    if (!is_exact(in)) {
      line("output error", format_number(m.output_rel_fro));
      line("error of P", estimate(m.attention_rel_fro, sampled));
      line("mass kept", estimate(m.mass_kept, sampled));
      if (m.attention_kl) line("KL, nats", estimate(*m.attention_kl, sampled));
    }
    line("density", format_number(m.density));
    if (sampled) add(caption, "estimates from " + std::to_string(m.sampled_rows) + " rows");
  }
  line("pairs", count(c.pairs));
  line("Q, K, V, Z", bytes(static_cast<double>(
                         sizeof(float) * static_cast<std::size_t>(p.n() * 2 * (p.d() + p.dv())))));
  line("n × n, stored", bytes(4.0 * static_cast<double>(p.n()) * static_cast<double>(p.n())));
  if (in.diagnostics)
    for (const Diagnostic& d : *in.diagnostics)
      line(d.label, (std::isinf(d.value) ? "infinite" : format_number(d.value, 4)) +
                        (d.sampled ? " (sampled)" : ""));
  return table;
}

}  // namespace fovea::panels
