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

Document drift_json(const std::vector<Drift>& layers) {
  if (layers.empty()) return {};
  Document out = Document::array();
  for (const Drift& drift : layers)
    out.push_back({{"relative", number_json(drift.relative)},
                   {"cosine", number_json(drift.cosine)},
                   {"least_cosine", number_json(drift.least_cosine)}});
  return out;
}

Document row_json(const std::vector<double>& row) {
  if (row.empty()) return {};
  Document out = Document::array();
  for (const double number : row) out.push_back(number_json(number));
  return out;
}

Document parts_json(const ModelEffect& effect, std::span<const ReplacedPart> parts) {
  Document out = Document::array();
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.push_back({{"variant", parts[i].variant->id},
                   {"parameters", parameters_json(*parts[i].variant, effect.parts[i].values)},
                   {"seed", parts[i].seed},
                   {"structures", parts[i].structures},
                   {"where", parts[i].heads},
                   {"heads", effect.parts[i].heads},
                   {"cost", number_json(effect.parts[i].cost)}});
  return out;
}

/// The numbers that are means over tokens, or of the whole model.
void put_numbers(Document& out, const ModelEffect& effect) {
  for (const auto& [name, number] : {std::pair{"exact_perplexity", effect.exact_perplexity},
                                     {"perplexity", effect.perplexity},
                                     {"exact_loss_per_token", effect.exact_loss_per_token},
                                     {"loss_per_token", effect.loss_per_token},
                                     {"kl_mean", effect.kl_mean},
                                     {"kl_max", effect.kl_max},
                                     {"top1_agreement", effect.top1_agreement},
                                     {"pooled_cosine", effect.pooled_cosine},
                                     {"class_cosine", effect.class_cosine}})
    out[name] = number_or_null(number);
  out["change"] = number_json(effect.change());
  out["change_of"] = name_of_change(effect);
  out["attention_cost"] = number_json(effect.attention_cost());
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
  out["drift"] = drift_json(effect.drift);
  out["token_drift"] = row_json(effect.token_drift);
  out["loss"] = row_json(effect.loss);
  out["exact_loss"] = row_json(effect.exact_loss);
  out["kl"] = row_json(effect.kl);
  out["likeliest"] = likeliest_json(effect.likeliest);
  out["exact_likeliest"] = likeliest_json(effect.exact_likeliest);
  out["labels"] = effect.labels;
  out["time"] = {{"variant_ms", number_or_null(effect.variant_ms)},
                 {"layers_ms", number_or_null(effect.layers_ms)},
                 {"exact_layers_ms", number_or_null(effect.exact_layers_ms)},
                 {"attention_ms", number_or_null(effect.attention_ms)},
                 {"exact_attention_ms", number_or_null(effect.exact_attention_ms)},
                 {"model_ms", number_or_null(effect.model_ms)},
                 {"exact_model_ms", number_or_null(effect.exact_model_ms)}};
  out["notes"] = effect.notes;
  return out;
}

Document unit_effects_json(const HeadEffects& effects) {
  Document out = Document::array();
  for (const UnitEffect& unit : effects.found())
    out.push_back({{"variant", effects.candidates()[unit.variant].variant->id},
                   {"layer", unit.layer},
                   {"head", unit.head ? Document(*unit.head) : Document()},
                   {"change", number_json(unit.change)},
                   {"kl_mean", number_or_null(unit.kl_mean)},
                   {"relative", number_json(unit.drift.relative)},
                   {"cosine", number_json(unit.drift.cosine)},
                   {"cost", number_json(unit.cost)}});
  return out;
}

Document trials_json(const PolicySearch& search) {
  Document out = Document::array();
  for (const MeasuredPolicy& trial : search.trials())
    out.push_back({{"attention_cost", number_json(trial.effect.attention_cost())},
                   {"change", number_json(trial.effect.change())}});
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
