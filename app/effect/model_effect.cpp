#include "effect/model_effect.h"

#include <cmath>
#include <filesystem>

#include "data/error.h"
#include "data/model_address.h"
#include "effect/hosted_meter.h"
#include "effect/inputs_meter.h"
#include "effect/own_meter.h"
#include "input/last_model.h"
#include "input/model_input.h"
#include "input/opened_model.h"

namespace fovea {

ReplacedPart part_with(const Variant& variant, const Values& values, std::uint64_t seed,
                       std::string heads) {
  ReplacedPart part{.variant = &variant, .settings = {}, .seed = seed, .heads = std::move(heads)};
  for (std::size_t i = 0; i < variant.schema.size(); ++i)
    part.settings[variant.schema[i].id] = to_text(values[i]);
  return part;
}

double ModelEffect::attention_cost() const {
  double saved = 0;
  for (const MeasuredPart& part : parts) saved += static_cast<double>(part.heads) * (1 - part.cost);
  return 1 - saved / static_cast<double>(heads_of_model);
}

double ModelEffect::change() const {
  if (inputs.empty()) {
    if (predicts)
      return loss_per_token && exact_loss_per_token ? *loss_per_token - *exact_loss_per_token : NAN;
    return drift.empty() ? 0 : drift.back().relative;
  }
  double sum = 0, measured = 0;
  for (const InputEffect& input : inputs)
    if (input.effect) sum += input.effect->change(), ++measured;
  return sum / measured;
}

ModelEffect ModelEffect::numbers() const {
  ModelEffect out = *this;
  for (auto* rows : {&out.exact_loss, &out.loss, &out.kl, &out.token_drift}) *rows = {};
  out.exact_likeliest = out.likeliest = {};
  out.labels = {};
  return out;
}

std::span<const EffectNumber> effect_numbers() {
  static constexpr EffectNumber all[] = {
      {"exact_perplexity", &ModelEffect::exact_perplexity},
      {"perplexity", &ModelEffect::perplexity},
      {"exact_loss_per_token", &ModelEffect::exact_loss_per_token},
      {"loss_per_token", &ModelEffect::loss_per_token},
      {"kl_mean", &ModelEffect::kl_mean},
      {"kl_max", &ModelEffect::kl_max},
      {"top1_agreement", &ModelEffect::top1_agreement},
      {"pooled_cosine", &ModelEffect::pooled_cosine},
      {"class_cosine", &ModelEffect::class_cosine}};
  return all;
}

MeanOverInputs over_inputs(const ModelEffect& effect, const NumberOf& number) {
  std::vector<double> values;
  const auto add = [&](const ModelEffect& one) {
    if (const auto value = number(one); value && std::isfinite(*value)) values.push_back(*value);
  };
  if (effect.inputs.empty()) add(effect);
  for (const InputEffect& input : effect.inputs)
    if (input.effect) add(*input.effect);
  return mean_over_inputs(values);
}

MeanOverInputs change_over_inputs(const ModelEffect& effect) {
  return over_inputs(effect, [](const ModelEffect& one) { return std::optional(one.change()); });
}

std::string name_of_change(const ModelEffect& effect) {
  return effect.predicts ? "loss per token" : "last hidden states";
}

std::vector<ChosenHeads> heads_of(std::span<const ReplacedPart> parts, Index layers, Index heads) {
  std::vector<ChosenHeads> chosen;
  for (const ReplacedPart& part : parts) {
    ChosenHeads next(part.heads, layers, heads);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i].meets(next))
        throw UsageError("the heads " + parts[i].heads + " of " + parts[i].variant->id + " and " +
                         part.heads + " of " + part.variant->id +
                         " overlap; expected one variant for each head");
    chosen.push_back(std::move(next));
  }
  return chosen;
}

std::unique_ptr<EffectMeter> effect_meter(const std::string& what, const OpenOptions& options) {
  ModelAddress address = parse_model_address(what);
  std::error_code none;
  if (address.input && std::filesystem::is_directory(*address.input, none))
    return inputs_meter(address, options);
  const ModelPlace place = find_model(address.folder);
  std::string title = title_of(address, place.name);
  address.folder = place.path;
  if (!is_own_model(place, options.stop))
    return hosted_meter(address, place, std::move(title), options);
  auto model = open_model_folder(address.folder, options);
  const bool texts = model->tokenizer != nullptr;
  ModelInput input = read_model_input(address, texts, !texts, options.stop);
  return own_meter(std::move(model), std::move(input), address, std::move(title), options);
}

}  // namespace fovea
