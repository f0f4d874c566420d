#include "cli/reports/report.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/measures.h"
#include "data/larger.h"
#include "data/text.h"
#include "data/utf8.h"
#include "report/text_table.h"

namespace fovea {
namespace {

void add_new(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const auto& note : more)
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
}

std::vector<std::string> all_notes(const ComputeReport& report) {
  std::vector<std::string> notes = report.source_notes;
  for (const auto& head : report.heads) {
    add_new(notes, head.notes);
    const std::string whose =
        report.heads.size() > 1 ? "head " + std::to_string(head.head) + ": " : std::string();
    for (const std::string& sentence : sentences_of(head.diagnostics))
      notes.push_back(whose + sentence);
  }
  return notes;
}

/// The cost of all heads together.
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

/// The time of one head, from the rounds of all heads together; nothing for imported results.
std::optional<MeasuredTime> time_of_a_head(const ComputeReport& report) {
  TimedRuns all;
  for (const HeadReport& head : report.heads) all.append(head.rounds);
  return summarise(all, all.best_pace_ms());
}

/// The mean of the cold runs over the heads.
double first_run_ms(const ComputeReport& report) {
  double sum = 0;
  for (const HeadReport& head : report.heads) sum += head.first_run.total_ms();
  return sum / static_cast<double>(report.heads.size());
}

std::string parameters_text(const ComputeReport& report) {
  std::string text;
  for (std::size_t f = 0; f < report.values.size(); ++f) {
    const Field& field = report.variant->schema[f];
    const std::string value = to_text(report.values[f]);
    if (!value.empty()) add_item(text, field.id + " " + value);
  }
  return text;
}

std::string layer_text(const ComputeReport& report) {
  const std::string heads = report.heads.size() == 1
                                ? "head " + std::to_string(report.heads.front().head)
                                : plural(report.heads.size(), "head");
  return report.layer_label + ", " + heads + ", " + report.lengths.text() +
         ", d = " + std::to_string(report.d) +
         (report.dv == report.d ? ""
          : report.dv == 0      ? ", no values"
                                : ", values " + std::to_string(report.dv));
}

std::string stages_text(const StageSummary& total, const std::vector<StageSummary>& stages) {
  std::string text;
  for (const auto& stage : stages)
    if (stage.median_ms >= 0.01 * total.median_ms)
      add_item(text, stage.name + " " + format_time(stage.median_ms));
  return stages.size() > 1 && !text.empty() ? "  (" + text + ")" : "";
}

void print_timing(std::ostream& out, const ComputeReport& report) {
  const std::optional<MeasuredTime> measured = time_of_a_head(report);
  if (!measured) return;
  const MeasuredTime& time = *measured;
  const Timing& timing = time.timing;
  const auto line = [](const StageSummary& total, const std::vector<StageSummary>& stages) {
    return format_time(total.median_ms) + stages_text(total, stages);
  };
  const std::string samples =
      plural(timing.total.samples, "run") +
      (time.cold                  ? ", the first of a head, cold"
       : timing.total.samples > 1 ? " after a warm-up"
                                  : "") +
      (timing.few_samples() ? ": too few to trust" : "") +
      (time.slow ? "; the machine was slowed down" : "") +
      (timing.total.unsteady()
           ? "; p90 / p10 is " + format_number(timing.total.p90_ms / timing.total.p10_ms, 2) +
                 ": ratios say little"
           : "");
  print_facts(out,
              {{"learning", timing.learning.samples > 0
                                ? format_time(timing.learning.median_ms) + ", in no total"
                                : ""},
               {"plan", line(timing.plan_total, timing.plan)},
               {upload_label(report.backend), line(timing.upload_total, timing.upload)},
               {"apply", line(timing.apply_total, timing.apply)},
               {"total", format_time(timing.total.median_ms) + "  (" + samples + ")"},
               {"first run", format_time(first_run_ms(report)) + ", cold"},
               {"speed-up", time.total_speed_up
                                ? "total " + to_text(*time.total_speed_up) + ", apply " +
                                      to_text(*time.apply_speed_up) + ": " +
                                      basis_text(*time.total_speed_up) +
                                      (time.total_speed_up->interval ? " with 95 % intervals" : "")
                                : ""},
               {"exact's total", time.total_speed_up
                                     ? format_time(time.exact_total->median_ms) +
                                           (time.cold ? " in its first run" : " in the same rounds")
                                     : ""}});
}

// Six heads beside each other fit a terminal.
constexpr std::size_t heads_side_by_side = 6;

/// Prints a line for each measure and each diagnostic, in as many tables below each other as the
/// heads need.
void print_comparison(std::ostream& out, const ComputeReport& report) {
  for (const HeadReport& head : report.heads)
    if (!head.metrics) return;
  out << "\nAgainst "
      << (report.recurrence.empty() ? "exact attention of the same scale and mask"
                                    : "what the head itself computes: " + report.recurrence)
      << '\n';
  for (std::size_t first = 0; first < report.heads.size(); first += heads_side_by_side) {
    const auto heads = std::span(report.heads)
                           .subspan(first)
                           .first(std::min(heads_side_by_side, report.heads.size() - first));
    TextTable table{{"<head"}, {}};
    for (const HeadReport& head : heads) table.header.push_back(std::to_string(head.head));
    for (const Measure& measure : measures()) {
      std::vector<std::string> row{measure.label};
      for (const HeadReport& head : heads) {
        const auto measured = measure.of({.metrics = &*head.metrics});
        row.push_back(measured ? to_text(measure, *measured) : "-");
      }
      if (std::ranges::any_of(std::span(row).subspan(1), [](const auto& t) { return t != "-"; }))
        table.rows.push_back(std::move(row));
    }
    for (const Diagnostic& diagnostic : heads.front().diagnostics) {
      if (!diagnostic.words.empty()) continue;
      std::vector<std::string> row{diagnostic.label};
      for (const HeadReport& head : heads) {
        const auto it = std::ranges::find(head.diagnostics, diagnostic.id, &Diagnostic::id);
        row.push_back(it == head.diagnostics.end() ? "-" : to_text(*it));
      }
      table.rows.push_back(std::move(row));
    }
    print(out, table);
    const Metrics& metrics = *heads.front().metrics;
    if (metrics.sampled())
      out << "  what concerns P is estimated from " << plural(metrics.rows, "row") << " of "
          << report.lengths.queries << "\n";
  }
}

Document timings_json(const ComputeReport& report) {
  const std::optional<MeasuredTime> measured = time_of_a_head(report);
  if (!measured) return nullptr;
  const MeasuredTime& time = *measured;
  Document out = timing_json(time.timing);
  out["first_run"] = first_run_ms(report);
  if (time.total_speed_up) {
    Document& speed_up = out["speed_up"] = Document::object();
    put_speed_up(speed_up, "total", *time.total_speed_up);
    put_speed_up(speed_up, "apply", *time.apply_speed_up);
    speed_up["exact_total"] = summary_json(*time.exact_total);
  }
  if (time.slow) out["slow_machine"] = true;
  return out;
}

/// The distance of Z from the model's output in the file, in the worst head.
std::string own_output_text(const ComputeReport& report) {
  std::optional<double> worst;
  for (const HeadReport& head : report.heads)
    if (head.from_own_output) worst = larger_or_nan(worst.value_or(0), *head.from_own_output);
  if (!worst) return "";
  if (std::isnan(*worst)) return "its own output, or this one, is not finite: not compared";
  return "its own output differs by at most " + format_number(*worst) + " of its largest entry";
}

}  // namespace

std::vector<std::string> notes_of(const Source& source, const std::vector<Index>& layers) {
  std::vector<std::string> notes;
  if (source.layout_guessed)
    notes.push_back("layout " + source.layout + " is a guess: state it with --layout");
  if (!source.content.empty()) notes.push_back(source.content);
  if (!source.order.empty()) notes.push_back(source.order);
  if (std::ranges::any_of(layers, [&](Index layer) { return mask_is_assumed(source, layer); }))
    notes.push_back(
        "the file does not state a mask: bidirectional unless --causal is given (--no-causal says "
        "that it is)");
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
               {"conditions", report.conditions.empty() ? "" : report.conditions.substr(2)},
               {"n", report.lengths.keys},
               {"queries", report.lengths.queries},
               {"keys", report.lengths.keys},
               {"d", report.d},
               {"dv", report.dv},
               {"heads", report.heads.size()},
               {"notes", all_notes(report)},
               {"cost", cost_json(total_cost(report))},
               {"timings_ms", timings_json(report)}};
  Document metrics = Document::array();
  for (const auto& head : report.heads) {
    Document one{{"head", head.head}};
    if (head.metrics) one.update(metrics_json(*head.metrics, head.diagnostics));
    if (head.from_own_output) one["from_own_output"] = number_json(*head.from_own_output);
    metrics.push_back(std::move(one));
  }
  out["metrics"] = std::move(metrics);
  return out;
}

void print(std::ostream& out, const ComputeReport& report) {
  const Cost cost = total_cost(report);
  const bool is_own = report.variant->reference && !report.recurrence.empty();
  out << report.variant->label << "  ("
      << (is_own ? "what the head itself computes: " + report.recurrence : report.variant->paper)
      << ")\n";
  print_facts(
      out, {{"parameters", parameters_text(report)},
            {"source", report.source},
            {"", layer_text(report)},
            {"scale", format_plain(report.scale) +
                          (report.causal ? ", causal" : ", bidirectional") + report.conditions},
            {"computed",
             report.device + ", " + report.precision + ", seed " + std::to_string(report.seed)}});
  print_notes(out, all_notes(report), 2);
  out << '\n';
  print_facts(out, {{"cost", format_count(cost.multiply_adds) + " multiply-adds, " +
                                 format_plain(cost.ratio_to_exact()) + " of exact; " +
                                 format_bytes(cost.bytes) + " beside " +
                                 (report.dv > 0 ? "Q, K, V, Z" : "Q, K")}});
  if (const std::string text = own_output_text(report); !text.empty())
    print_facts(out, {{"model", text}});
  out << (report.heads.size() > 1 ? "\nTime of a head (median)\n" : "\nTime\n");
  print_timing(out, report);
  print_comparison(out, report);
  if (!report.output.empty()) out << "\nwritten: " << printable(report.output) << '\n';
}

}  // namespace fovea
