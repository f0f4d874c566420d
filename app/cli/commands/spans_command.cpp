// fovea spans: the attention that the queries of each part of a text pay to each part, or to usual
// sinks, in exact attention and in variants.
#include "analysis/span_mass.h"
#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "cli/options/whole_numbers.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "report/json_output.h"
#include "report/text_table.h"

namespace fovea {
namespace {

struct SpansOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants{"papers"}, spans;
  Index frame = 0;  // tokens; 0 if none
  bool sinks = false, json = false;
};

/// Whether "=0:5," follows, as in "a=0:5,b": the user meant another span.
bool names_tokens(const std::string& name, std::size_t equals) {
  const std::size_t comma = name.find(',', equals), colon = name.find(':', equals);
  return comma != name.npos && colon < comma &&
         whole_number_from(name.substr(equals + 1, colon - equals - 1)) &&
         whole_number_from(name.substr(colon + 1, comma - colon - 1));
}

/// "system prompt=0:24": the tokens from the first number to before the second.
Span span_from(const std::string& text) {
  const UsageError wrong("--span '" + text +
                         "'; expected NAME=FIRST:END, such as 'system prompt=0:24' for the tokens "
                         "0 to 23");
  const std::size_t equals = text.rfind('='), colon = text.rfind(':');
  if (equals == std::string::npos || equals == 0 || colon == std::string::npos || colon < equals)
    throw wrong;
  const auto begin = whole_number_from(text.substr(equals + 1, colon - equals - 1)),
             end = whole_number_from(text.substr(colon + 1));
  if (!begin || !end) throw wrong;
  const std::string name = text.substr(0, equals);
  if (const std::size_t first = name.find('='); first != name.npos && names_tokens(name, first))
    throw UsageError("--span '" + text + "' names two spans; expected --span once for each");
  return {.name = name, .tokens = {*begin, *end}};
}

std::vector<Span> spans_of(const SpansOptions& options, const Sequence& sequence, Index n) {
  std::vector<Span> spans;
  for (const std::string& text : options.spans) spans.push_back(span_from(text));
  std::vector<Span> shown = spans;  // a name that a terminal cannot show is shown escaped
  for (Span& span : shown) span.name = printable(span.name);
  if (const std::string fault = fault_of(shown, n); !fault.empty())
    throw UsageError("--span: " + fault + "; expected named ranges of different tokens");
  if (options.frame > 0) try {
      return with_frames(std::move(spans), n, options.frame);
    } catch (const UsageError& error) {
      throw UsageError(std::string("--frames: ") + error.what());
    }
  if (options.spans.empty()) spans = marked_spans(sequence);
  if (spans.empty()) spans = {{.name = "all tokens", .tokens = {0, n}}};
  return spans;
}

struct OfVariant {
  const Variant* variant = nullptr;
  Values values;
  SpanMass mass;
};

struct SpansOutcome {
  std::string head;
  Grouping queries, keys;
  std::vector<OfVariant> measured;
};

std::string cell_text(const Estimate& mass, bool sampled) {
  return format_plain(mass.value) + (sampled ? " ± " + format_number(mass.standard_error, 2) : "");
}

void print_spans(std::ostream& out, const SpansOutcome& outcome) {
  out << "Mean attention from the queries of a part to the keys of each, " << outcome.head << '\n';
  for (std::size_t m = 0; m < outcome.measured.size(); ++m) {
    const OfVariant& one = outcome.measured[m];
    TextTable table{{"<queries", one.mass.sampled ? "sampled" : "number"}, {}};
    for (const std::string& name : outcome.keys.names) table.header.push_back(name);
    for (Index q = 0; q < one.mass.query_groups; ++q) {
      auto& row = table.rows.emplace_back();
      row = {outcome.queries.names[q], std::to_string(one.mass.rows[q])};
      for (Index k = 0; k < one.mass.key_groups; ++k)
        row.push_back(cell_text(one.mass(q, k).approximate, one.mass.sampled));
    }
    out << '\n' << one.variant->label << '\n';
    print(out, table);
  }
}

Document mass_json(const OfVariant& one) {
  Document rows = Document::array();
  for (Index q = 0; q < one.mass.query_groups; ++q) {
    Document row = Document::array();
    for (Index k = 0; k < one.mass.key_groups; ++k) {
      const Estimate& mass = one.mass(q, k).approximate;
      Document entry{{"mass", number_json(mass.value)}};
      if (one.mass.sampled) entry["standard_error"] = number_json(mass.standard_error);
      row.push_back(std::move(entry));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Document spans_json(const SpansOutcome& outcome, std::uint64_t seed) {
  Document out{{"head", outcome.head},
               {"queries", outcome.queries.names},
               {"keys", outcome.keys.names},
               {"variants", Document::array()}};
  for (const OfVariant& one : outcome.measured)
    out["variants"].push_back({{"variant", one.variant->id},
                               {"parameters", parameters_json(*one.variant, one.values)},
                               {"seed", seed},
                               {"queries_used", one.mass.rows},
                               {"sampled", one.mass.sampled},
                               {"mass", mass_json(one)}});
  return out;
}

void run_spans(const SpansOptions& options, const Console& console) {
  variants_named(options.variants);  // reports an unknown name before anything is read
  const Source source = options.source.load(console.stop, options.backend.threads);
  options.heads.tell_layer(source, console.err);
  const Index head = options.heads.heads_in(source).front();
  const Problem problem = options.heads.problem(source, head, console.stop);
  const auto chosen = variants_named(options.variants, &problem);
  tell_left_out(options.variants, problem, console.err);
  if (!problem.lengths().equal())
    throw UsageError("spans are of one sequence; found " + problem.lengths().text() +
                     ", expected as many queries as keys");
  const auto values = options.parameters.applied(chosen, problem.n());
  SpansOutcome outcome;
  outcome.head = source.name + ", " + layer_label(source, options.heads.layer_in(source)) +
                 ", head " + std::to_string(head) + ", n = " + std::to_string(problem.n());
  const Sequence& sequence = sequence_of(source, options.heads.layer_in(source));
  outcome.queries = outcome.keys =
      grouping_of_spans(problem.n(), spans_of(options, sequence, problem.n()));
  if (options.sinks) outcome.keys = standard_sinks(problem.n(), sequence);
  const auto backend = options.backend.make(console.err);
  Profile profile;
  Run run{profile, console.stop};
  const Computation exact = prepare(problem, {.variant = &reference_variant()}, *backend, run);
  for (std::size_t v = 0; v < chosen.size(); ++v) {
    const Computation made = prepare(
        problem, {.variant = chosen[v], .values = values[v], .seed = options.parameters.seed},
        *backend, run);
    outcome.measured.push_back(
        {chosen[v], values[v], span_mass(*made.op, *exact.op, outcome.queries, outcome.keys, run)});
  }
  const std::vector<std::string> notes = notes_of(source, {options.heads.layer_in(source)});
  if (options.json) {
    Document out = spans_json(outcome, options.parameters.seed);
    out["notes"] = notes;
    return print(console.out, out);
  }
  print_spans(console.out, outcome);
  print_notes(console.out, notes);
}

}  // namespace

void add_spans_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "spans", "The attention between parts of a text, or to its sinks, exact and approximate");
  auto options = std::make_shared<SpansOptions>();
  options->source.add_to(*command);
  command
      ->add_option("--variant", options->variants,
                   "A variant, or " + words_for_groups() + "; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID")
      ->capture_default_str();
  command
      ->add_option("--span", options->spans,
                   "Names the tokens from FIRST to END - 1; may be repeated. Without it the parts "
                   "are those that separators, line breaks or sentences make")
      ->allow_extra_args(false)
      ->type_name("NAME=FIRST:END");
  command
      ->add_option("--frames", options->frame,
                   "Cuts the tokens outside of each --span into parts of this many tokens, as the "
                   "frames of a video")
      ->check(CLI::Range(Index{1}, Index{131072}))
      ->type_name("TOKENS");
  command->add_flag("--sinks", options->sinks,
                    "Keys: the first token, special tokens, punctuation and the others");
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "0", false);
  options->backend.add_to(*command);
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_spans(*options, console); };
  });
}

}  // namespace fovea
