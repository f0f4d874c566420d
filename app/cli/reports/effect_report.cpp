#include "cli/reports/effect_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "effect/effect_json.h"
#include "report/text_table.h"
#include "session/settings.h"

namespace fovea {
namespace {

std::string percent_text(double share) {
  return format_percent(share);
}

Index measured_inputs(const ModelEffect& effect) {
  return std::ranges::count_if(effect.inputs,
                               [](const InputEffect& input) { return input.effect != nullptr; });
}

/// "Window, width 4", or the label alone of a variant without parameters.
std::string settings_text(const ReplacedPart& part, const MeasuredPart& measured, Index tokens) {
  const std::string settings = setting_text(*part.variant, measured.values, tokens);
  std::string text = part.variant->label + (settings.empty() ? "" : ", " + settings);
  std::string differing;
  for (const std::string& id : measured.differing)
    differing += (differing.empty() ? "" : ", ") + id;
  return differing.empty() ? text : text + " (by the length of each input: " + differing + ")";
}

/// A number, or its mean over inputs: "0.275", "0.275 ± 0.012", "0.275 ± 0.012 (3 inputs)" if
/// others do not have it; empty if there is none.
std::string mean_text(const ModelEffect& effect, const NumberOf& number,
                      const std::function<std::string(double)>& format = format_plain) {
  const MeanOverInputs all = over_inputs(effect, number);
  if (all.inputs == 0) return "";
  std::string text = format(all.mean);
  if (all.half) text += " ± " + format(*all.half);
  const bool of_some = !effect.inputs.empty() && all.inputs < measured_inputs(effect);
  return of_some ? text + " (" + plural(all.inputs, "input") + ")" : text;
}

NumberOf member(std::optional<double> ModelEffect::*which) {
  return [which](const ModelEffect& one) { return one.*which; };
}

std::string and_exact(const std::string& text, const std::string& exact) {
  return text.empty() || exact.empty() ? text : text + ", exact " + exact;
}

/// "12.3 ms, exact 36.9 ms: 3 × (2.9 – 3.1), median of the ratios of 15 rounds".
std::string times_text(const PassTimes& times) {
  if (!times.known()) return "";
  return format_time(median_ms(times.replaced_ms)) + ", exact " +
         format_time(median_ms(times.exact_ms)) + ": " + to_text(times.speed_up()) + ", " +
         basis_text(times.speed_up());
}

void print_facts_of(std::ostream& out, const ModelEffect& effect) {
  const auto text = [&](std::optional<double> ModelEffect::*which) {
    return mean_text(effect, member(which));
  };
  const auto with = [](const std::string& name, const std::string& value) {
    return value.empty() ? value : name + " " + value;
  };
  print_facts(
      out,
      {{"perplexity",
        and_exact(text(&ModelEffect::perplexity), text(&ModelEffect::exact_perplexity))},
       {"loss per token",
        and_exact(text(&ModelEffect::loss_per_token), text(&ModelEffect::exact_loss_per_token))},
       {"change of the " + name_of_change(effect),
        mean_text(effect, [](const ModelEffect& one) { return std::optional(one.change()); })},
       {"KL from exact",
        with("mean", text(&ModelEffect::kl_mean)) + with(", largest", text(&ModelEffect::kl_max))},
       {"same first choice", mean_text(effect, member(&ModelEffect::top1_agreement), percent_text)},
       {"pooled embedding", with("cosine", text(&ModelEffect::pooled_cosine))},
       {"first token", with("cosine", text(&ModelEffect::class_cosine))},
       {"cost of attention",
        mean_text(
            effect, [](const ModelEffect& one) { return std::optional(one.attention_cost()); },
            percent_text) +
            " of exact"},
       {"the variant",
        effect.times.variant_ms.empty() ? "" : format_time(median_ms(effect.times.variant_ms))},
       {"time of attention", times_text(effect.times.attention)},
       {"time of the model", times_text(effect.times.model)}});
}

void print_drift(std::ostream& out, const ModelEffect& effect) {
  const bool all_finite = std::ranges::all_of(
      effect.drift, [](const Drift& drift) { return drift.rows_not_finite == 0; });
  TextTable table{{"layer", "|H' - H| / |H|", "mean cosine", "least cosine"}, {}};
  if (!all_finite) table.header.push_back("rows not finite, in no cosine");
  for (std::size_t layer = 0; layer < effect.drift.size(); ++layer) {
    const auto text = [&](double Drift::*which) {
      const std::string mean = mean_text(
          effect, [&](const ModelEffect& one) { return std::optional(one.drift[layer].*which); });
      return mean.empty() ? format_plain(effect.drift[layer].*which) : mean;
    };
    auto& row = table.rows.emplace_back();
    row = {std::to_string(layer), text(&Drift::relative), text(&Drift::cosine),
           text(&Drift::least_cosine)};
    if (!all_finite) row.push_back(std::to_string(effect.drift[layer].rows_not_finite));
  }
  print(out, table);
}

void print_inputs(std::ostream& out, const ModelEffect& effect) {
  if (effect.inputs.empty()) return;
  out << "\n  By input\n";
  TextTable table{{"<input", "tokens"}, {}};
  if (effect.predicts) table.header.push_back("perplexity");
  table.header.insert(table.header.end(), {"change", "cost of attention"});
  for (const InputEffect& input : effect.inputs) {
    auto& row = table.rows.emplace_back();
    row = {std::filesystem::path(input.input).filename().string()};
    if (!input.effect) {
      row.emplace_back("failed");
      row.resize(table.header.size(), "-");
      continue;
    }
    const ModelEffect& one = *input.effect;
    row.push_back(std::to_string(one.tokens));
    if (effect.predicts) row.push_back(one.perplexity ? format_plain(*one.perplexity) : "-");
    row.push_back(format_plain(one.change()));
    row.push_back(format_percent(one.attention_cost()));
  }
  print(out, table);
}

void print_effect(std::ostream& out, const ModelEffect& effect,
                  const std::vector<ReplacedPart>& parts) {
  const Index measured = measured_inputs(effect);
  Index tokens = effect.tokens;  // that the parameters suit
  out << effect.model << ", " << plural(effect.tokens, "token");
  if (!effect.inputs.empty()) {
    tokens = over_inputs(effect, [](const ModelEffect& one) {
               return std::optional(static_cast<double>(one.tokens));
             }).mean;
    out << " in " << measured << " of " << plural(std::ssize(effect.inputs), "input")
        << (measured > 1 ? ": means ± half of their 95 % interval" : "");
  }
  out << "; computed by " << effect.computed_by << '\n';
  for (std::size_t i = 0; i < parts.size(); ++i)
    out << settings_text(parts[i], effect.parts[i], tokens) << ", in " << effect.parts[i].heads
        << " of " << effect.heads_of_model << " heads: " << parts[i].heads << '\n';
  out << '\n';
  print_facts_of(out, effect);
  out << '\n';
  print_drift(out, effect);
  print_inputs(out, effect);
  print_notes(out, effect.notes, 2);
}

/// The heads whose replacement changes most come first.
void print_unit_effects(std::ostream& out, const HeadEffects& effects) {
  std::vector<UnitEffect> found = effects.found();
  std::ranges::stable_sort(found, std::greater{}, [](const UnitEffect& unit) {
    return std::isnan(unit.change) ? -INFINITY : unit.change;
  });
  const bool several = effects.candidates().size() > 1;
  out << "\n  Replaced alone\n";
  TextTable table{{"layer", "head"}, {}};
  if (several) table.header.push_back("variant");
  table.header.insert(table.header.end(), {"change", "mean KL", "|H' - H| / |H|", "cost"});
  for (const UnitEffect& unit : found) {
    auto& row = table.rows.emplace_back(std::vector{
        std::to_string(unit.layer), unit.head ? std::to_string(*unit.head) : std::string("all")});
    if (several) row.push_back(effects.candidates()[unit.variant].variant->id);
    row.insert(row.end(), {format_plain(unit.change) +
                               (unit.change_half ? " ± " + format_plain(*unit.change_half) : ""),
                           unit.kl_mean ? format_plain(*unit.kl_mean) : std::string("-"),
                           format_plain(unit.drift.relative), format_percent(unit.cost)});
  }
  print(out, table);
}

void print_curve(std::ostream& out, const std::vector<LayerPoint>& points) {
  out << "\n  The last layers replaced\n";
  TextTable table{{"layers", "perplexity", "change", "cost of attention"}, {}};
  for (const LayerPoint& point : points) {
    const std::string perplexity = mean_text(point.effect, member(&ModelEffect::perplexity)),
                      change = mean_text(point.effect, [](const ModelEffect&one) {
                        return std::optional(one.change());
                      });
    table.rows.push_back({std::to_string(point.replaced), perplexity.empty() ? "-" : perplexity,
                          change.empty() ? format_plain(point.effect.change()) : change,
                          format_percent(point.effect.attention_cost())});
  }
  print(out, table);
}

}  // namespace

void print_outcome(std::ostream& out, const EffectOutcome& outcome) {
  print_effect(out, outcome.effect, outcome.parts);
  if (outcome.alone) print_unit_effects(out, *outcome.alone);
  if (outcome.curve) print_curve(out, outcome.curve->found());
}

Document outcome_json(const EffectOutcome& outcome, const std::string& source) {
  Document out = effect_json(outcome.effect, outcome.parts, source);
  if (outcome.search) out["policies"] = trials_json(*outcome.search);
  if (outcome.alone) out["sensitivity"] = unit_effects_json(*outcome.alone);
  if (outcome.curve) out["layer_curve"] = curve_json(outcome.curve->found());
  return out;
}

}  // namespace fovea
