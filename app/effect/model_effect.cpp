#include "effect/model_effect.h"

#include <cmath>

#include "data/error.h"
#include "data/model_address.h"
#include "effect/hosted_meter.h"
#include "effect/own_meter.h"
#include "input/last_model.h"
#include "input/model_input.h"
#include "input/opened_model.h"

namespace fovea {

double ModelEffect::attention_cost() const {
  double saved = 0;
  for (const MeasuredPart& part : parts) saved += static_cast<double>(part.heads) * (1 - part.cost);
  return 1 - saved / static_cast<double>(heads_of_model);
}

double ModelEffect::change() const {
  if (predicts())
    return loss_per_token && exact_loss_per_token ? *loss_per_token - *exact_loss_per_token : NAN;
  return drift.empty() ? 0 : drift.back().relative;
}

std::string name_of_change(const ModelEffect& effect) {
  return effect.predicts() ? "loss per token" : "last hidden states";
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
  const ModelPlace place = find_model(address.folder);
  std::string title = title_of(address, place.name);
  address.folder = place.path;
  if (!is_own_model(place, options.stop))
    return hosted_meter(address, place, std::move(title), options);
  auto model = options.last_model ? options.last_model->open(address.folder, options.stop)
                                  : open_model_folder(address.folder, options.stop);
  const bool texts = model->tokenizer != nullptr;
  ModelInput input = read_model_input(address, texts, !texts, options.stop);
  return own_meter(std::move(model), std::move(input), address, std::move(title), options);
}

}  // namespace fovea
