#include "report/json_output.h"

#include <cmath>

#include "data/overloads.h"

namespace fovea {
namespace {

const char* type_of(const Field& field) {
  if (!field.choices.empty()) return "choice";
  return std::visit(
      Overloads{[](std::int64_t) { return "integer"; }, [](double) { return "number"; },
                [](const std::string&) { return "text"; },
                [](const std::vector<double>&) { return "list of numbers"; }},
      field.standard);
}

/// Null for a number that is not finite, which has none.
Document standard_error_json(const Estimate& estimate) {
  return std::isfinite(estimate.value) ? number_json(estimate.standard_error) : Document();
}

void put_estimate(Document& out, const std::string& id, const Estimate& estimate, bool sampled) {
  out[id] = number_json(estimate.value);
  if (sampled) out[id + "_standard_error"] = standard_error_json(estimate);
}

/// If the divergence is infinite in some rows, the mean is null beside their count.
Document divergence_json(const Divergence& divergence, bool sampled) {
  const bool infinite = divergence.infinite_rows > 0;
  Document out{{"mean", infinite ? Document() : number_json(divergence.value)}};
  if (sampled) out["standard_error"] = standard_error_json(divergence);
  out["infinite_rows"] = divergence.infinite_rows;
  if (sampled) put_estimate(out, "infinite_share", divergence.infinite_share, sampled);
  return out;
}

}  // namespace

Document number_json(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  return value;
}

Document value_json(const Value& value) {
  return std::visit([](const auto& v) { return Document(v); }, value);
}

Document parameters_json(const Variant& variant, const Values& values) {
  Document out = Document::object();
  for (std::size_t f = 0; f < variant.schema.size(); ++f)
    out[variant.schema[f].id] = value_json(values[f]);
  return out;
}

Document cost_json(const Cost& cost) {
  return {{"multiply_adds", number_json(cost.multiply_adds)},
          {"bytes", number_json(cost.bytes)},
          {"ratio_to_exact", number_json(cost.ratio_to_exact())},
          {"exact_multiply_adds", number_json(cost.exact_multiply_adds)}};
}

Document summary_json(const StageSummary& summary) {
  return {{"median", summary.median_ms},
          {"p10", summary.p10_ms},
          {"p90", summary.p90_ms},
          {"samples", summary.samples}};
}

void put_speed_up(Document& out, const std::string& id, const SpeedUp& ratio) {
  out[id] = number_json(ratio.median);
  if (ratio.interval)
    out[id + "_interval"] = {number_json(ratio.interval->low), number_json(ratio.interval->high)};
}

Document timing_json(const Timing& timing) {
  Document out = Document::object();
  const auto put = [&](const std::string& part, const StageSummary& total,
                       const std::vector<StageSummary>& stages) {
    out[part] = summary_json(total);
    for (const auto& stage : stages) out[part + "/" + stage.name] = summary_json(stage);
  };
  if (timing.learning.samples > 0) out["learning"] = summary_json(timing.learning);
  put("plan", timing.plan_total, timing.plan);
  put("upload", timing.upload_total, timing.upload);
  put("apply", timing.apply_total, timing.apply);
  out["total"] = summary_json(timing.total);
  return out;
}

void put_attention(Document& out, const Metrics& metrics) {
  const bool sampled = metrics.sampled();
  put_estimate(out, "attention_rel_fro", metrics.attention_rel_fro, sampled);
  out["attention_tv"] = {{"mean", number_json(metrics.attention_tv.value)}};
  if (sampled) out["attention_tv"]["standard_error"] = standard_error_json(metrics.attention_tv);
  put_estimate(out["attention_tv"], "p90", metrics.attention_tv_p90, sampled);
  out["attention_tv"]["max"] = number_json(metrics.attention_tv_max);
  out["attention_kl"] = divergence_json(metrics.attention_kl, sampled);
  if (metrics.attention_reverse_kl)
    out["attention_reverse_kl"] = divergence_json(*metrics.attention_reverse_kl, sampled);
  put_estimate(out, "mass_kept", metrics.mass_kept, sampled);
  for (std::size_t c = 0; c < top_counts.size(); ++c)
    put_estimate(out, "top" + std::to_string(top_counts[c]) + "_recall", metrics.top_recall[c],
                 sampled);
  if (metrics.rows_of_equal_weights > 0)
    out["rows_of_equal_weights"] = metrics.rows_of_equal_weights;
  out["density"] = number_json(metrics.density);
  if (const auto& sections = metrics.sections) {
    put_estimate(out, "token_mass", sections->tokens, sampled);
    put_estimate(out, "entry_mass", sections->entries, sampled);
    if (sections->sink) put_estimate(out, "sink_mass", *sections->sink, sampled);
  }
  if (sampled) out["sampled_rows"] = metrics.rows;
}

void put_diagnostic(Document& out, const Diagnostic& diagnostic) {
  put_estimate(out, diagnostic.id, {diagnostic.value, diagnostic.standard_error},
               diagnostic.sampled);
}

Document metrics_json(const Metrics& metrics, const std::vector<Diagnostic>& diagnostics) {
  Document out;
  const auto of_output = [&](double error) {
    return metrics.of_outputs() ? number_json(error) : Document();
  };
  out["output_rel_fro"] = of_output(metrics.output_rel_fro);
  out["output_rel_l1"] = of_output(metrics.output_rel_l1);
  out["output_cosine"] = of_output(metrics.output_cosine);
  out["output_min_cosine"] = of_output(metrics.output_min_cosine);
  out["output_pearson"] = of_output(metrics.output_pearson);
  out["output_max_abs"] = of_output(metrics.output_max_abs);
  if (metrics.output_max_abs > 0)
    out["output_max_abs_at"] = {metrics.max_abs_row, metrics.max_abs_col};
  out["row_rel_error"] = {{"p50", of_output(metrics.row_rel_error_p50)},
                          {"p90", of_output(metrics.row_rel_error_p90)},
                          {"max", of_output(metrics.row_rel_error_max)}};
  if (metrics.of_attention()) put_attention(out, metrics);
  Document from_sample = Document::array();
  for (const auto& diagnostic : diagnostics) {
    if (!diagnostic.words.empty()) continue;  // it stands among the notes
    put_diagnostic(out, diagnostic);
    if (diagnostic.sampled) from_sample.push_back(diagnostic.id);
  }
  if (!from_sample.empty()) out["from_sampled_rows"] = from_sample;
  return out;
}

Document field_json(const Field& field) {
  Document out{{"id", field.id}, {"label", field.label}, {"type", type_of(field)}};
  if (!field.choices.empty())
    out["range"] = field.choices;
  else if (!std::holds_alternative<std::string>(field.standard))
    out["range"] = {number_json(field.min), number_json(field.max)};
  if (field.must_be_even) out["even"] = true;
  out["default"] = value_json(field.standard);
  out["unit"] = field.unit;
  out["meaning"] = field.meaning;
  return out;
}

std::string text_of(const Document& document, int indent) {
  return document.dump(indent, ' ', false, Document::error_handler_t::replace);
}

void print(std::ostream& out, const Document& document) {
  out << text_of(document, 2) << '\n';
}

}  // namespace fovea
