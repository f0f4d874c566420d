#include "cli/head_triaging.h"

#include <algorithm>

#include "cli/reports/report.h"
#include "data/error.h"
#include "data/text.h"
#include "io/atomic_file.h"
#include "report/text_table.h"
#include "report/triaged_heads.h"

namespace fovea {
namespace {

struct TriagedSource {
  Source source;
  std::vector<TriagedHeadRow> heads;
  std::string backend, device, precision;
  std::vector<std::string> notes;
  double seconds = 0;
};

/// The heads that have a pattern of prefill.
std::vector<ExploredHead> heads_of_one_sequence(const Exploration& opened,
                                                std::vector<std::string>& notes) {
  if (opened.heads.empty())
    throw InputError(opened.source.path,
                     "attention matrices without q and k; expected them, since blocks are chosen "
                     "by mean queries and mean keys");
  std::vector<std::string> left_out;
  std::vector<ExploredHead> heads = heads_with_patterns(opened.source, opened.heads, left_out);
  if (heads.empty())
    throw InputError(opened.source.path, join(left_out) +
                                             "; expected softmax attention with queries and keys "
                                             "of one sequence");
  for (const std::string& others : left_out) notes.push_back(others + ": left out");
  return heads;
}

void require_causal(const HeadOptions& options, const Source& source,
                    const std::vector<ExploredHead>& heads, const std::string& output) {
  for (const ExploredHead& head : heads)
    if (!options.conditions.or_else(stated_conditions(source, head.layer)).causal.value_or(false))
      throw UsageError("-o " + output + ": MInference runs causal heads, and " +
                       layer_label(source, head.layer) + ", head " + std::to_string(head.head) +
                       " is not; expected --causal if its mask is not known");
}

TriagedSource triaged(const ExplorationOptions& options, const TriageOptions& triage,
                      const Console& console) {
  Exploration opened = opened_source(options, {}, console);
  if (!triage.output.empty()) refuse_to_replace("-o", triage.output, opened.source);
  TriagedSource out;
  const std::vector<ExploredHead> heads = heads_of_one_sequence(opened, out.notes);
  if (!triage.output.empty()) require_causal(options.heads, opened.source, heads, triage.output);
  const auto backend = options.backend.make(console.err);
  out.backend = backend->id();
  out.device = backend->device();
  out.precision = backend->precision();
  Profile profile;
  Run run{profile, console.stop};
  CountProgress progress(console, "head");
  for (const ExploredHead& head : heads) {
    const Problem problem =
        options.heads.problem(opened.source, head.layer, head.head, console.stop);
    const Computation exact = prepare(problem, {.variant = &reference_variant()}, *backend, run);
    out.heads.push_back({.layer = head.layer,
                         .head = head.head,
                         .layer_label = layer_label(opened.source, head.layer),
                         .triage = triage_head(*exact.op, triage.rule, *backend, run,
                                               most_read_entries, options.explore.seed)});
    out.seconds = progress.done(out.heads.size(), heads.size());
  }
  out.source = std::move(opened.source);
  return out;
}

void print_triage(std::ostream& out, const TriagedSource& triaged, const TriageOptions& triage) {
  const TriageRule& rule = triage.rule;
  out << triaged.source.name << ", " << plural(std::ssize(triaged.heads), "head") << '\n'
      << triaged.device << ", " << triaged.precision << "; " << format_time(1e3 * triaged.seconds)
      << "\nrecall: the mass of exact attention that a pattern keeps with at most "
      << format_share(rule.budget) << " of the pairs\n\n";
  TextTable table{{"<layer", "head", "<pattern", "<sizes"}, {}};
  for (const HeadPattern pattern : sparse_patterns) table.header.push_back(pattern_name(pattern));
  table.header.insert(table.header.end(), {"pairs kept", "<remarks"});
  for (const TriagedHeadRow& head : triaged.heads) {
    const TriagedHead& its = head.triage;
    auto& row = table.rows.emplace_back();
    row = {head.layer_label, std::to_string(head.head), pattern_name(its.pattern),
           to_text(its.pattern, its.sizes())};
    for (const PatternRecall& recall : its.patterns) row.push_back(recall_text(recall.recall));
    row.insert(row.end(), {format_share(its.pairs()), remark_of(its, rule)});
  }
  print(out, table);
  out << "\n  " << plural(std::ssize(triaged.heads), "head") << ": " << counts_text(triaged.heads)
      << "; full if no pattern keeps " << format_plain(rule.keep) << '\n';
  if (!triage.output.empty()) out << "  " << triage.output << ": for MInference\n";
  print_notes(out, triaged.notes, 2);
}

void write_config(const TriageOptions& triage, TriagedSource& triaged) {
  const MInferenceConfig config = minference_config(triaged.heads, triaged.source);
  write_atomically(triage.output, text_of(config.layers) + '\n');
  if (const std::string note = note_of(config, triage.output); !note.empty())
    triaged.notes.push_back(note);
}

}  // namespace

void triage_heads(const ExplorationOptions& options, const TriageOptions& triage, bool json,
                  bool csv, const Console& console) {
  TriagedSource found = triaged(options, triage, console);
  for (const std::string& note : notes_of(found.source, layers_of(found.heads)))
    found.notes.push_back(note);
  if (const std::string note = short_note(found.heads); !note.empty()) found.notes.push_back(note);
  if (!triage.output.empty()) write_config(triage, found);
  if (json) {
    Document out{{"source", found.source.path},  {"backend", found.backend},
                 {"device", found.device},       {"precision", found.precision},
                 {"seed", options.explore.seed}, {"seconds", found.seconds},
                 {"notes", found.notes}};
    if (!triage.output.empty()) out["output"] = triage.output;
    out.update(to_json(found.heads, triage.rule));
    return print(console.out, out);
  }
  if (!csv) return print_triage(console.out, found, triage);
  console.out << to_csv(found.heads);
  print_notes(console.err, found.notes);
}

}  // namespace fovea
