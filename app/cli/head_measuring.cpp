#include "cli/head_measuring.h"

#include <chrono>
#include <exception>
#include <filesystem>

#include "cli/reports/report.h"
#include "data/error.h"
#include "input/input_folder.h"
#include "input/last_model.h"
#include "report/measured_heads.h"
#include "report/text_table.h"
#include "session/measured_source.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

struct MeasuredInputs {
  std::vector<std::string> inputs;                          // sources, as opened
  std::string name;                                         // of the first
  std::vector<std::pair<std::string, std::string>> failed;  // files, and why
  std::vector<MeasuredHeadRow> heads;
  std::string backend, device, precision;
  std::vector<std::string> notes;
  std::vector<std::vector<std::string>> notes_of_inputs;
  double seconds = 0;
};

std::vector<SourceOptions> inputs_of(const SourceOptions& source, std::vector<std::string>& notes,
                                     const std::stop_token& stop) {
  std::error_code none;
  if (!source.model_input || !fs::is_directory(*source.model_input, none)) return {source};
  InputFolder folder = files_in_folder(*source.model_input, stop);
  notes.insert(notes.end(), folder.notes.begin(), folder.notes.end());
  std::vector<SourceOptions> inputs;
  for (std::string& file : folder.files) {
    inputs.push_back(source);
    inputs.back().model_input = std::move(file);
  }
  return inputs;
}

/// The heads of one input, a row each.
std::vector<MeasuredHeadRow> rows_of(const Source& source, const HeadOptions& options,
                                     std::uint64_t seed, const Backend& backend, Run& run) {
  std::vector<MeasuredHeadRow> rows;
  for (const Index layer : options.layers_in(source))
    for (const Index head : options.heads_of(source, layer)) {
      run.check();
      rows.push_back({.layer = layer,
                      .head = head,
                      .layer_label = layer_label(source, layer),
                      .inputs = {measure_head(source,
                                              {.layer = layer,
                                               .head = head,
                                               .conditions = options.conditions,
                                               .allow_non_finite = options.allow_non_finite},
                                              backend, run, seed)}});
    }
  return rows;
}

void add_input(const Source& source, std::vector<MeasuredHeadRow> rows, MeasuredInputs& out) {
  out.notes_of_inputs.push_back(notes_of(source, layers_of(rows)));
  if (out.inputs.empty()) {
    out.name = source.name;
    out.heads = std::move(rows);
  } else {
    for (std::size_t row = 0; row < rows.size(); ++row)
      out.heads[row].inputs.push_back(std::move(rows[row].inputs.front()));
  }
  out.inputs.push_back(source.path);
}

MeasuredInputs measure_inputs(const ExplorationOptions& options, const Console& console) {
  using Clock = std::chrono::steady_clock;
  MeasuredInputs out;
  std::vector<SourceOptions> inputs = inputs_of(options.source, out.notes, console.stop);
  const auto backend = options.backend.make(console.err);
  out.backend = backend->id();
  out.device = backend->device();
  out.precision = backend->precision();
  LastModel model;  // is read once
  Profile profile;
  Run run{profile, console.stop};
  std::exception_ptr first_error;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].open.last_model = &model;
    try {
      const Source source = inputs[i].load(console.stop, options.backend.threads);
      if (i == 0) options.heads.tell_layer(source, console.err);
      const auto start = Clock::now();
      add_input(source, rows_of(source, options.heads, options.explore.seed, *backend, run), out);
      out.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    } catch (const InputError& error) {  // one file of a folder
      if (!first_error) first_error = std::current_exception();
      out.failed.emplace_back(inputs[i].model_input.value_or(inputs[i].what), error.what());
    }
    if (inputs.size() > 1) console.err << i + 1 << " of " << plural(inputs.size(), "input") << '\n';
  }
  if (out.inputs.empty()) std::rethrow_exception(first_error);
  for (std::string& note : notes_over(out.notes_of_inputs)) out.notes.push_back(std::move(note));
  for (const auto& [file, why] : out.failed)
    out.notes.push_back(fs::path(file).filename().string() + " is left out: " + why);
  return out;
}

Document failed_json(const MeasuredInputs& measured) {
  Document out = Document::array();
  for (const auto& [file, why] : measured.failed) out.push_back({{"input", file}, {"failed", why}});
  return out;
}

std::string cell_text(const MeasuredHeadRow& head, std::size_t m) {
  const HeadMeasure& measure = head_measures()[m];
  const OverInputs all = over_inputs(head.inputs, m);
  if (all.inputs == 0) return "-";
  return head.inputs.size() > 1 ? to_text(measure, all)
                                : to_text(measure, head.inputs.front().values[m].estimate);
}

/// Why a measure is missing in all heads or in some; empty if it is in none.
std::string missing_text(const MeasuredInputs& measured, std::size_t m) {
  Index heads = 0;
  std::string why;
  for (const MeasuredHeadRow& head : measured.heads)
    if (over_inputs(head.inputs, m).inputs == 0) {
      ++heads;
      why = head.inputs.front().values[m].missing;
    }
  if (heads == 0) return "";
  const bool all = heads == std::ssize(measured.heads);
  return head_measures()[m].label + " is not known" + (all ? "" : " of " + plural(heads, "head")) +
         ": " + why;
}

void print_measures(std::ostream& out, const MeasuredInputs& measured) {
  const Index inputs = std::ssize(measured.inputs);
  out << measured.name << ", " << plural(std::ssize(measured.heads), "head");
  if (inputs > 1) out << ", " << plural(inputs, "input") << ": mean ± standard deviation";
  out << '\n'
      << measured.device << ", " << measured.precision << "; "
      << format_time(1e3 * measured.seconds) << "\n\n";
  TextTable table{{"<layer", "head"}, {}};
  for (const HeadMeasure& measure : head_measures()) table.header.push_back(measure.label);
  Index without = 0;
  for (const MeasuredHeadRow& head : measured.heads) {
    auto& row = table.rows.emplace_back();
    row = {head.layer_label, std::to_string(head.head)};
    for (std::size_t m = 0; m < head_measures().size(); ++m) row.push_back(cell_text(head, m));
    for (const MeasuredHead& input : head.inputs) without += input.rows_without_keys;
  }
  print(out, table);
  std::vector<std::string> notes;
  for (std::size_t m = 0; m < head_measures().size(); ++m)
    if (const std::string text = missing_text(measured, m); !text.empty()) notes.push_back(text);
  if (without > 0)
    notes.push_back(plural(without, "row") + " without keys left out, over all heads and inputs");
  notes.insert(notes.end(), measured.notes.begin(), measured.notes.end());
  if (!notes.empty()) out << '\n';
  print_notes(out, notes, 2);
  std::vector<std::pair<std::string, std::string>> definitions;
  for (const HeadMeasure& measure : head_measures())
    definitions.emplace_back(measure.label, measure.definition);
  out << '\n';
  print_facts(out, definitions);
}

}  // namespace

void measure_heads(const ExplorationOptions& options, bool json, bool csv, const Console& console) {
  const MeasuredInputs measured = measure_inputs(options, console);
  if (json) {
    Document out{{"inputs", measured.inputs},    {"backend", measured.backend},
                 {"device", measured.device},    {"precision", measured.precision},
                 {"seed", options.explore.seed}, {"seconds", measured.seconds},
                 {"notes", measured.notes}};
    if (!measured.failed.empty()) out["failed"] = failed_json(measured);
    out.update(to_json(measured.heads));
    return print(console.out, out);
  }
  if (!csv) return print_measures(console.out, measured);
  console.out << to_csv(measured.heads);
  print_notes(console.err, measured.notes);
}

}  // namespace fovea
