#include "cli/timing_panel.h"

#include "cli/text_table.h"

namespace fovea {
namespace {

void add_stages(FigureTable& table, const std::string& part, const StageSummary& total,
                const std::vector<StageSummary>& stages) {
  table.rows.emplace_back(part, format_time(total.median_ms));
  if (stages.size() < 2) return;
  for (const StageSummary& stage : stages)
    if (stage.median_ms > 0)
      table.rows.emplace_back("  " + stage.name, format_time(stage.median_ms));
}

}  // namespace

Panel timing_panel(const Computation& computation, const Computation& exact) {
  const Timing& timing = computation.timing;
  FigureTable table;
  add_stages(table, "plan", timing.plan_total, timing.plan);
  add_stages(table, "upload", timing.upload_total, timing.upload);
  add_stages(table, "apply", timing.apply_total, timing.apply);
  table.rows.emplace_back("apply p10 – p90", format_time(timing.apply_total.p10_ms) + " – " +
                                                 format_time(timing.apply_total.p90_ms));
  table.rows.emplace_back("apply, exact / this", format_plain(exact.timing.apply_total.median_ms /
                                                              timing.apply_total.median_ms));
  const std::string samples = "median of " + plural(timing.apply_total.samples, "sample");
  return {.view = View::cost,
          .title = computation.variant->label,
          .subtitle = "time on " + computation.device,
          .caption = timing.few_samples ? samples + ": too few to trust" : samples,
          .body = std::move(table)};
}

}  // namespace fovea
