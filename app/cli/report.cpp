#include "cli/report.h"

#include <algorithm>
#include <cmath>

#include "cli/text_table.h"

namespace fovea {
namespace {

void add_new(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const auto& note : more)
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
}

std::vector<std::string> all_notes(const ComputeReport& report) {
  std::vector<std::string> notes = report.source_notes;
  for (const auto& head : report.heads) add_new(notes, head.notes);
  return notes;
}

/// Of all heads together.
Cost total_cost(const ComputeReport& report) {
  Cost total;
  for (const auto& head : report.heads) {
    total.multiply_adds += head.cost.multiply_adds;
    total.bytes += head.cost.bytes;
    total.exact_multiply_adds += head.cost.exact_multiply_adds;
    total.pairs += head.cost.pairs;
  }
  return total;
}

/// Of one head: the samples of all heads together, each stage's median the median over the heads.
Timing timing_of_a_head(const ComputeReport& report) {
  if (report.heads.size() == 1) return report.heads.front().timing;
  TimingSamples samples;
  const auto profile_of = [](const std::vector<StageSummary>& stages) {
    Profile profile;
    for (const auto& stage : stages) profile.add(stage.name, stage.median_ms);
    return profile;
  };
  for (const auto& head : report.heads) {
    samples.plan.push_back(profile_of(head.timing.plan));
    samples.upload.push_back(profile_of(head.timing.upload));
    samples.apply.push_back(profile_of(head.timing.apply));
  }
  return summarise(samples);
}

std::string parameters_text(const ComputeReport& report) {
  std::string text;
  for (std::size_t f = 0; f < report.values.size(); ++f) {
    const Field& field = report.variant->schema[f];
    const std::string value = to_text(report.values[f]);
    if (!value.empty()) text += (text.empty() ? "" : ", ") + field.id + " " + value;
  }
  return text;
}

std::string layer_text(const ComputeReport& report) {
  const std::string name =
      report.layer_name.empty() ? std::to_string(report.layer) : report.layer_name;
  const std::string heads = report.heads.size() == 1
                                ? "head " + std::to_string(report.heads.front().head)
                                : plural(static_cast<Index>(report.heads.size()), "head");
  return "layer " + name + ", " + heads + ", n = " + std::to_string(report.n) +
         ", d = " + std::to_string(report.d) +
         (report.dv == report.d ? "" : ", values " + std::to_string(report.dv));
}

std::string stages_text(const StageSummary& total, const std::vector<StageSummary>& stages) {
  std::string text;
  for (const auto& stage : stages)
    if (stage.median_ms >= 0.01 * total.median_ms)
      text += (text.empty() ? "" : ", ") + stage.name + " " + format_time(stage.median_ms);
  return stages.size() > 1 && !text.empty() ? "  (" + text + ")" : "";
}

void print_timing(std::ostream& out, const ComputeReport& report) {
  const Timing timing = timing_of_a_head(report);
  const auto line = [](const StageSummary& total, const std::vector<StageSummary>& stages) {
    return format_time(total.median_ms) + stages_text(total, stages);
  };
  const std::string few =
      timing.few_samples
          ? " of " + plural(timing.apply_total.samples, "sample") + ": too few to trust"
          : "";
  print_facts(out, {{"plan", line(timing.plan_total, timing.plan)},
                    {"upload", line(timing.upload_total, timing.upload)},
                    {"apply", line(timing.apply_total, timing.apply) +
                                  (few.empty() ? "" : "  " + few.substr(1))}});
}

std::string with_error(const Estimate& estimate) {
  return format_plain(estimate.value) +
         (estimate.standard_error > 0 ? " ± " + format_plain(estimate.standard_error) : "");
}

void print_metrics(std::ostream& out, const ComputeReport& report) {
  TextTable table{{"head", "output error", "max |Δz|", "row p50", "p90", "max", "P error",
                   "KL (nats)", "mass kept", "density"},
                  {}};
  Index sampled = 0;
  for (const auto& head : report.heads) {
    if (!head.metrics) return;
    const Metrics& m = *head.metrics;
    sampled = std::max(sampled, m.sampled_rows);
    table.rows.push_back({std::to_string(head.head), format_plain(m.output_rel_fro),
                          format_plain(m.output_max_abs), format_plain(m.row_rel_error_p50),
                          format_plain(m.row_rel_error_p90), format_plain(m.row_rel_error_max),
                          with_error(m.attention_rel_fro),
                          m.attention_kl ? with_error(*m.attention_kl) : "-",
                          with_error(m.mass_kept), format_plain(m.density)});
  }
  out << "\nAgainst exact attention of the same scale and mask (errors relative but for max "
         "|Δz|)\n";
  print(out, table);
  if (sampled > 0)
    out << "  P error, KL and mass kept from " << plural(sampled, "sampled row") << "\n";
}

void print_diagnostics(std::ostream& out, const ComputeReport& report) {
  const auto& first = report.heads.front().diagnostics;
  if (first.empty()) return;
  TextTable table{{"<diagnostic"}, {}};
  const std::size_t shown = std::min<std::size_t>(report.heads.size(), 6);
  for (std::size_t h = 0; h < shown; ++h)
    table.header.push_back("head " + std::to_string(report.heads[h].head));
  for (const auto& diagnostic : first) {
    std::vector<std::string> row{diagnostic.label + (diagnostic.sampled ? " (sampled)" : "")};
    for (std::size_t h = 0; h < shown; ++h) {
      const auto& theirs = report.heads[h].diagnostics;
      const auto it = std::ranges::find(theirs, diagnostic.id, &Diagnostic::id);
      row.push_back(it == theirs.end() ? "-" : format_plain(it->value));
    }
    table.rows.push_back(std::move(row));
  }
  out << '\n';
  print(out, table);
  if (shown < report.heads.size())
    out << "  ... and " << report.heads.size() - shown << " more heads: --json has all\n";
}

}  // namespace

std::vector<std::string> notes_of(const Source& source) {
  std::vector<std::string> notes;
  if (source.layout_guessed)
    notes.push_back("layout " + source.layout + " is a guess: state it with --layout");
  if (!source.content.empty()) notes.push_back(source.content);
  add_new(notes, source.notes);
  return notes;
}

Document to_json(const ComputeReport& report) {
  Document out{{"variant", report.variant->id},
               {"parameters", parameters_json(*report.variant, report.values)},
               {"seed", report.seed},
               {"source", report.source},
               {"layer", report.layer},
               {"backend", report.backend},
               {"device", report.device},
               {"precision", report.precision},
               {"scale", number_json(report.scale)},
               {"causal", report.causal},
               {"n", report.n},
               {"d", report.d},
               {"dv", report.dv},
               {"heads", report.heads.size()},
               {"notes", all_notes(report)},
               {"cost", cost_json(total_cost(report))},
               {"timings_ms", timing_json(timing_of_a_head(report))}};
  Document metrics = Document::array();
  for (const auto& head : report.heads) {
    Document one{{"head", head.head}};
    if (head.metrics) one.update(metrics_json(*head.metrics, head.diagnostics));
    metrics.push_back(std::move(one));
  }
  out["metrics"] = std::move(metrics);
  return out;
}

void print(std::ostream& out, const ComputeReport& report) {
  const Cost cost = total_cost(report);
  out << report.variant->label << "  (" << report.variant->paper << ")\n";
  print_facts(out, {{"parameters", parameters_text(report)},
                    {"source", report.source},
                    {"", layer_text(report)},
                    {"scale",
                     format_plain(report.scale) + (report.causal ? ", causal" : ", bidirectional")},
                    {"computed", report.device + ", " + report.precision + ", seed " +
                                     std::to_string(report.seed)}});
  for (const auto& note : all_notes(report)) out << "  note: " << note << '\n';
  out << '\n';
  print_facts(out, {{"cost", format_count(cost.multiply_adds) + " multiply-adds, " +
                                 format_plain(cost.ratio_to_exact()) + " of exact; " +
                                 format_bytes(cost.bytes) + " beside Q, K, V, Z"}});
  out << (report.heads.size() > 1 ? "\nTime of a head (median)\n" : "\nTime\n");
  print_timing(out, report);
  print_metrics(out, report);
  print_diagnostics(out, report);
  if (!report.output.empty()) out << "\nwritten: " << report.output << '\n';
}

}  // namespace fovea
