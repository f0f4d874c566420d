#include "batch/item_runner.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>

#include "analysis/measures.h"

namespace fovea {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Document parameter_json(const Value& value) {
  const bool list = std::holds_alternative<std::vector<double>>(value);
  return list ? Document(to_text(value)) : value_json(value);
}

void put_measures(const Evaluation& evaluation, Document& row) {
  for (const Measure& measure : measures()) {
    const auto measured = measure.of(evaluation);
    if (!measured) continue;
    row[measure.id] = number_json(measured->value);
    if (measured->ratio && measured->ratio->interval) {
      row[measure.id + "_low"] = number_json(measured->ratio->interval->low);
      row[measure.id + "_high"] = number_json(measured->ratio->interval->high);
    }
    if (measured->standard_error > 0)
      row[measure.id + "_standard_error"] = number_json(measured->standard_error);
  }
}

/// Puts in how many of the rows used it is infinite, and, if those are a sample, in what share of
/// all rows.
void put_infinite(const std::string& id, const Divergence& divergence, bool sampled,
                  Document& row) {
  row[id + "_infinite_rows"] = divergence.infinite_rows;
  if (!sampled) return;
  row[id + "_infinite_share"] = number_json(divergence.infinite_share.value);
  row[id + "_infinite_share_standard_error"] =
      number_json(divergence.infinite_share.standard_error);
}

void put_metrics(const Metrics& metrics, const std::vector<Diagnostic>& diagnostics,
                 Document& row) {
  put_measures({.metrics = &metrics}, row);
  if (metrics.of_attention())
    put_infinite("attention_kl", metrics.attention_kl, metrics.sampled(), row);
  if (metrics.attention_reverse_kl)
    put_infinite("attention_reverse_kl", *metrics.attention_reverse_kl, metrics.sampled(), row);
  if (metrics.sampled()) row["sampled_rows"] = metrics.rows;
  for (const Diagnostic& diagnostic : diagnostics)
    if (diagnostic.words.empty()) put_diagnostic(row, diagnostic);
}

std::string one_line_of(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

EvaluateOptions wanted_of(const BatchPlan& plan) {
  EvaluateOptions wanted{.metrics = plan.metrics, .diagnostics = plan.metrics};
  if (plan.rounds > 0)
    wanted.times = {.rounds = RoundOptions{.time = unlimited_time, .most_rounds = plan.rounds}};
  return wanted;
}

}  // namespace

ItemRunner::ItemRunner(const BatchItems& items, std::string plan, const Backend& backend)
    : items_(items), plan_(std::move(plan)), backend_(backend) {}

Document ItemRunner::begin_row(const BatchItem& item) const {
  const BatchHead& head = items_.heads()[item.head];
  const Variant& variant = *item.setting.variant;
  Document row{{"item", item.number},   {"source", items_.plan().sources[head.source]},
               {"layer", head.layer},   {"layer_name", head.layer_name},
               {"head", head.head},     {"n", head.n},
               {"d", head.d},           {"dv", head.dv},
               {"causal", head.causal}, {"variant", variant.id}};
  for (std::size_t f = 0; f < variant.schema.size(); ++f)
    row["set." + variant.schema[f].id] = parameter_json(item.setting.values[f]);
  row["seed"] = item.seed;
  return row;
}

Document ItemRunner::run(const BatchItem& item, std::stop_token stop) {
  Document row = begin_row(item), numbers = Document::object();
  std::string error;
  try {
    Profile profile;
    Run run{profile, std::move(stop)};
    run.check();
    open(item.head, run);
    error = opened_->failure;
    if (error.empty()) measure(item, numbers, run);
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const ChangedError& changed) {
    give_up(items_.heads()[item.head].source, changed);
    error = changed.what();
  } catch (const Error& failed) {
    error = failed.what();
  } catch (const std::bad_alloc&) {
    error = "not enough memory";
  }
  if (error.empty()) row.update(numbers);
  row["backend"] = backend_.id();
  row["device"] = backend_.device();
  row["precision"] = backend_.precision();
  row["host"] = host_name();
  row["process"] = ::getpid();
  row["version"] = FOVEA_VERSION;
  row["plan"] = plan_;
  row["error"] = error.empty() ? Document() : Document(error);
  return row;
}

void ItemRunner::open(std::size_t place, Run& run) {
  if (opened_ && opened_->head == place) return;
  opened_.reset();
  Opened made{.head = place};
  const BatchHead& head = items_.heads()[place];
  const BatchPlan& plan = items_.plan();
  if (const auto known = changed_.find(head.source); known != changed_.end()) throw known->second;
  try {
    if (source_place_ != head.source) {
      source_place_.reset();
      source_.reset();
      source_ = items_.open(head.source, run.stop);
      source_place_ = head.source;
    }
    Problem problem = read_head(head, run.stop);
    made.reference = plan.metrics || plan.rounds > 0
                         ? reference_of(std::move(problem), backend_, run)
                         : Reference{std::move(problem)};
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const ChangedError&) {
    throw;
  } catch (const Error& error) {
    made.failure = error.what();
  } catch (const std::bad_alloc&) {
    made.failure = "not enough memory for exact attention of the head";
  }
  opened_ = std::move(made);
}

Problem ItemRunner::read_head(const BatchHead& head, const std::stop_token& stop) const {
  try {
    return problem_of(
        *source_,
        {.layer = head.layer, .head = head.head, .conditions = {.causal = items_.plan().causal}},
        stop);
  } catch (const ChangedError&) {
    throw items_.changed(head.source);
  }
}

void ItemRunner::give_up(std::size_t source, const ChangedError& changed) {
  changed_.emplace(source, changed);
  opened_.reset();
  source_.reset();
  source_place_.reset();
}

void ItemRunner::measure(const BatchItem& item, Document& row, Run& run) {
  const ComputeRequest request{
      .variant = item.setting.variant, .values = item.setting.values, .seed = item.seed};
  const Reference& reference = opened_->reference;
  const Evaluated found = evaluate(reference, request, wanted_of(items_.plan()), backend_, run);
  if (found.metrics) put_metrics(*found.metrics, found.diagnostics, row);
  const Cost& cost = found.computation->cost;
  put_measures({.cost = &cost}, row);
  row["exact_multiply_adds"] = number_json(cost.exact_multiply_adds);
  put_times(found.rounds, row);
  row["notes"] = one_line_of(notes_of(*found.computation, reference.exact.get()));
}

void ItemRunner::put_times(const TimedRuns& runs, Document& row) {
  const auto [best, first] =
      best_pace_ms_.try_emplace(runs.paced, std::numeric_limits<double>::infinity());
  best->second = std::min(best->second, runs.best_pace_ms());
  const auto time = summarise(runs, best->second);
  if (!time) return;
  put_measures({.time = &*time}, row);
  row["total_ms_p10"] = number_json(time->timing.total.p10_ms);
  row["total_ms_p90"] = number_json(time->timing.total.p90_ms);
  if (const auto exact = summarise(exact_runs(runs), best->second))
    row["exact_total_ms"] = number_json(exact->timing.total.median_ms);
  row["runs"] = time->timing.total.samples;
  row["slow_machine"] = time->slow;
  row["cold"] = time->cold;
}

}  // namespace fovea
