#include "effect/effect_json.h"

#include <algorithm>

#include "data/error.h"
#include "io/file_bytes.h"
#include "io/json.h"
#include "session/session.h"

namespace fovea {
namespace {

constexpr int policy_version = 1;

Document number_or_null(const std::optional<double>& number) {
  return number ? number_json(*number) : Document();
}

/// Puts the interval of a mean over several inputs under `id` + "_interval", and how many have the
/// number under `id` + "_inputs".
void put_interval(Document& out, const std::string& id, const ModelEffect& effect,
                  const NumberOf& number) {
  if (effect.inputs.empty()) return;
  const MeanOverInputs all = over_inputs(effect, number);
  out[id + "_interval"] =
      all.half ? Document{number_json(all.low()), number_json(all.high())} : Document();
  out[id + "_inputs"] = all.inputs;
}

Document drift_json(const ModelEffect& effect) {
  if (effect.drift.empty()) return {};
  Document out = Document::array();
  for (std::size_t layer = 0; layer < effect.drift.size(); ++layer) {
    Document& row = out.emplace_back(Document::object());
    for (const auto& [id, of] : {std::pair{"relative", &Drift::relative},
                                 {"cosine", &Drift::cosine},
                                 {"least_cosine", &Drift::least_cosine}}) {
      row[id] = number_json(effect.drift[layer].*of);
      put_interval(row, id, effect, [&, which = of](const ModelEffect& one) {
        return std::optional(one.drift[layer].*which);
      });
    }
    row["rows_not_finite"] = effect.drift[layer].rows_not_finite;
  }
  return out;
}

Document row_json(const std::vector<double>& row) {
  if (row.empty()) return {};
  Document out = Document::array();
  for (const double number : row) out.push_back(number_json(number));
  return out;
}

/// Without those that suit the length of each input.
Document shared_parameters(const Variant& variant, const MeasuredPart& part) {
  Document out = parameters_json(variant, part.values);
  for (const std::string& id : part.differing) out.erase(id);
  return out;
}

Document parts_json(const ModelEffect& effect, std::span<const ReplacedPart> parts) {
  Document out = Document::array();
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.push_back({{"variant", parts[i].variant->id},
                   {"parameters", shared_parameters(*parts[i].variant, effect.parts[i])},
                   {"seed", parts[i].seed},
                   {"structures", parts[i].structures},
                   {"where", parts[i].heads},
                   {"heads", effect.parts[i].heads},
                   {"cost", number_json(effect.parts[i].cost)}});
  return out;
}

/// The numbers that are means over tokens, or of the whole model.
void put_numbers(Document& out, const ModelEffect& effect) {
  const auto put = [&](const char* id, const Document& value, const NumberOf& number) {
    out[id] = value;
    put_interval(out, id, effect, number);
  };
  for (const EffectNumber& number : effect_numbers())
    put(number.id, number_or_null(effect.*number.of),
        [of = number.of](const ModelEffect& one) { return one.*of; });
  put("change", number_json(effect.change()),
      [](const ModelEffect& one) { return std::optional(one.change()); });
  out["change_of"] = name_of_change(effect);
  put("attention_cost", number_json(effect.attention_cost()),
      [](const ModelEffect& one) { return std::optional(one.attention_cost()); });
}

/// What was measured on each of several inputs.
Document inputs_json(const ModelEffect& effect) {
  if (effect.inputs.empty()) return {};
  Document out = Document::array();
  for (const InputEffect& input : effect.inputs) {
    Document& row = out.emplace_back(Document{{"input", input.input}});
    if (!input.effect) {
      row["failed"] = input.failure;
      continue;
    }
    row["tokens"] = input.effect->tokens;
    put_numbers(row, *input.effect);
    row["drift"] = drift_json(*input.effect);
    row["notes"] = input.effect->notes;
  }
  return out;
}

/// The medians of rounds in which exact and replaced passes take turns.
void put_times(Document& out, const std::string& of, const PassTimes& times) {
  if (!times.known()) {
    out[of + "_ms"] = out["exact_" + of + "_ms"] = out[of + "_speed_up"] = nullptr;
    return;
  }
  out[of + "_ms"] = number_json(median_ms(times.replaced_ms));
  out["exact_" + of + "_ms"] = number_json(median_ms(times.exact_ms));
  put_speed_up(out, of + "_speed_up", times.speed_up());
}

Document times_json(const EffectTimes& times) {
  Document out{{"rounds", times.rounds()}};
  put_times(out, "attention", times.attention);
  put_times(out, "model", times.model);
  out["variant_ms"] =
      times.variant_ms.empty() ? Document() : number_json(median_ms(times.variant_ms));
  return out;
}

Document likeliest_json(const std::vector<std::vector<LikelyToken>>& positions) {
  if (positions.empty()) return {};
  Document out = Document::array();
  for (const auto& position : positions) {
    Document& tokens = out.emplace_back(Document::array());
    for (const LikelyToken& token : position)
      tokens.push_back({{"token", token.label}, {"chance", number_json(token.chance)}});
  }
  return out;
}

/// As --set takes it.
std::string setting_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

ReplacedPart part_of(const Json& part, const std::string& path) {
  const auto text = [&](const char* name) {
    const Json value = part.is_object() ? part.value(name, Json()) : Json();
    if (!value.is_string())
      throw InputError(path, std::string("\"") + name + "\" of the part " + excerpt(part) + " is " +
                                 kind_of(value) + "; expected a text");
    return value.get<std::string>();
  };
  ReplacedPart out{
      .variant = &find_variant(text("variant")), .settings = {}, .seed = 0, .heads = text("where")};
  if (out.variant->imported)
    throw InputError(path, "has the variant '" + out.variant->id +
                               "', which is what a file holds; expected one that is computed");
  const Json parameters = part.value("parameters", Json::object());
  if (!parameters.is_object())
    throw InputError(path,
                     "\"parameters\" of a part is " + kind_of(parameters) + "; expected an object");
  for (const auto& [name, value] : parameters.items()) out.settings[name] = setting_of(value);
  const Json seed = part.value("seed", Json(0u));
  if (!seed.is_number_unsigned())
    throw InputError(path,
                     "\"seed\" of a part is " + excerpt(seed) + "; expected a whole number from 0");
  out.seed = seed.get<std::uint64_t>();
  const Json structures = part.value("structures", Json::array());
  if (!structures.is_array() ||
      !std::ranges::all_of(structures, [](const Json& file) { return file.is_string(); }))
    throw InputError(
        path, "\"structures\" of a part is " + excerpt(structures) + "; expected a list of files");
  out.structures = structures.get<std::vector<std::string>>();
  return out;
}

}  // namespace

Document effect_json(const ModelEffect& effect, std::span<const ReplacedPart> parts,
                     const std::string& source) {
  Document out{{"model", effect.model}, {"source", source}, {"computed_by", effect.computed_by}};
  out["parts"] = parts_json(effect, parts);
  out["heads_of_model"] = effect.heads_of_model;
  out["tokens"] = effect.tokens;
  put_numbers(out, effect);
  out["drift"] = drift_json(effect);
  out["token_drift"] = row_json(effect.token_drift);
  out["loss"] = row_json(effect.loss);
  out["exact_loss"] = row_json(effect.exact_loss);
  out["kl"] = row_json(effect.kl);
  out["likeliest"] = likeliest_json(effect.likeliest);
  out["exact_likeliest"] = likeliest_json(effect.exact_likeliest);
  out["labels"] = effect.labels;
  out["time"] = times_json(effect.times);
  out["inputs"] = inputs_json(effect);
  out["notes"] = effect.notes;
  return out;
}

Document unit_effects_json(const HeadEffects& effects) {
  Document out = Document::array();
  for (const UnitEffect& unit : effects.found()) {
    out.push_back({{"variant", effects.candidates()[unit.variant].variant->id},
                   {"layer", unit.layer},
                   {"head", unit.head ? Document(*unit.head) : Document()},
                   {"change", number_json(unit.change)},
                   {"kl_mean", number_or_null(unit.kl_mean)},
                   {"relative", number_json(unit.drift.relative)},
                   {"cosine", number_json(unit.drift.cosine)},
                   {"cost", number_json(unit.cost)}});
    if (unit.change_half)
      out.back()["change_interval"] = {number_json(unit.change - *unit.change_half),
                                       number_json(unit.change + *unit.change_half)};
  }
  return out;
}

Document curve_json(const std::vector<LayerPoint>& points) {
  Document out = Document::array();
  for (const LayerPoint& point : points) {
    Document& row = out.emplace_back(Document{{"replaced_layers", point.replaced}});
    put_numbers(row, point.effect);
  }
  return out;
}

Document trials_json(const PolicySearch& search) {
  Document out = Document::array();
  for (const MeasuredPolicy& trial : search.trials()) {
    out.push_back({{"attention_cost", number_json(trial.effect.attention_cost())},
                   {"change", number_json(trial.effect.change())}});
    put_interval(out.back(), "change", trial.effect,
                 [](const ModelEffect& one) { return std::optional(one.change()); });
  }
  return out;
}

Document policy_json(const MeasuredPolicy& policy, Index layers, Index heads,
                     const PolicyBudget& budget, const std::string& source) {
  Document out{{"policy", policy_version},
               {"model", policy.effect.model},
               {"source", source},
               {"layers", layers},
               {"heads", heads},
               {"parts", parts_json(policy.effect, policy.parts)},
               {"tokens", policy.effect.tokens}};
  out["budget"] = {{"change", number_or_null(budget.change)},
                   {"cost", number_or_null(budget.cost)}};
  put_numbers(out, policy.effect);
  return out;
}

std::vector<ReplacedPart> read_policy(const std::string& path, Index layers, Index heads) {
  const FileBytes bytes(path);
  const Json file = parse_json(path, bytes.text());
  if (!file.is_object() || file.value("policy", Json()) != policy_version)
    throw InputError(path,
                     "is no policy; expected an object with \"policy\": 1, as fovea effect -o "
                     "policy.json writes it");
  for (const auto& [name, of_model] : {std::pair{"layers", layers}, {"heads", heads}}) {
    const Json value = file.value(name, Json());
    if (!value.is_number_unsigned() || value != of_model)
      throw InputError(path, std::string("\"") + name + "\" is " + excerpt(value) +
                                 "; the model has " + std::to_string(layers) + " layers of " +
                                 std::to_string(heads) + " heads");
  }
  const Json parts = file.value("parts", Json());
  if (!parts.is_array() || parts.empty())
    throw InputError(path,
                     "\"parts\" is " + excerpt(parts) + "; expected a list of at least one part");
  if (std::ssize(parts) > layers * heads)
    throw InputError(path, "has " + std::to_string(parts.size()) + " parts for " +
                               std::to_string(layers * heads) + " heads");
  std::vector<ReplacedPart> out;
  try {
    for (const Json& part : parts) out.push_back(part_of(part, path));
    heads_of(out, layers, heads);
    for (const ReplacedPart& part : out)
      values_for_length(*part.variant, default_length, part.settings);
  } catch (const UsageError& error) {
    throw InputError(path, error.what());
  }
  return out;
}

}  // namespace fovea
