#include "report/timing_panel.h"

#include "report/text_table.h"

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

Panel timing_panel(const Computation& computation, const MeasuredTime& time) {
  const Timing& timing = time.timing;
  FigureTable table;
  const auto line = [&](std::string label, std::string value) {
    table.rows.emplace_back(std::move(label), std::move(value));
  };
  add_stages(table, "plan", timing.plan_total, timing.plan);
  add_stages(table, upload_label(computation.backend), timing.upload_total, timing.upload);
  add_stages(table, "apply", timing.apply_total, timing.apply);
  line("total", format_time(timing.total.median_ms));
  line("total p10 – p90",
       format_time(timing.total.p10_ms) + " – " + format_time(timing.total.p90_ms));
  if (time.total_speed_up) {
    line("exact's total, same rounds", format_time(time.exact_total->median_ms));
    line("total, exact / this", to_text(*time.total_speed_up));
    line("apply, exact / this", to_text(*time.apply_speed_up));
  }
  line("first run, cold", format_time(computation.first_run.total_ms()));
  if (timing.learning.samples > 0)
    line("learning, in no total", format_time(timing.learning.median_ms));
  return {.title = computation.variant->label,
          .subtitle = "time on " + computation.device,
          .caption =
              "median of " + plural(timing.total.samples, "run") +
              (timing.few_samples() ? ": too few to trust" : "") +
              (time.total_speed_up ? "; exact / this: " + basis_text(*time.total_speed_up) : "") +
              (time.slow ? "; the machine was slowed down" : ""),
          .body = std::move(table)};
}

}  // namespace fovea
