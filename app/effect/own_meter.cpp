#include "effect/own_meter.h"

#include "input/opened_model.h"
#include "model/encoded_source.h"
#include "session/session.h"

namespace fovea {
namespace {

/// A model that Fovea's own encoder computes.
class OwnMeter : public EffectMeter {
 public:
  OwnMeter(std::shared_ptr<const OpenedModel> model, ModelInput input, const ModelAddress& address,
           std::string title, const OpenOptions& options)
      : EffectMeter(model->encoder->shape().layers, model->encoder->shape().heads),
        model_(std::move(model)),
        own_backend_(options.backend ? nullptr : make_cpu_backend({.threads = options.threads})),
        backend_(options.backend ? *options.backend : *own_backend_) {
    out_.model = std::move(title);
    out_.computed_by = "Fovea, " + backend_.device();
    out_.heads_of_model = layers() * heads();
    out_.notes = std::move(input.notes);
    EncoderInput read;
    if (model_->tokenizer) {
      TextTokens tokens =
          tokens_of(*model_->encoder, *model_->tokenizer, input.text,
                                    address.most_tokens, options.stop);
      read.ids = std::move(tokens.ids);
      out_.labels = std::move(tokens.labels);
      out_.notes.insert(out_.notes.end(), tokens.notes.begin(), tokens.notes.end());
    } else {
      read.image = model_->image_input->prepare(*input.picture, options.stop);
    }
    Profile profile;
    Run run{profile, options.stop};
    effects_.emplace(*model_->encoder, read, backend_, run);
    out_.tokens = effects_->tokens();
  }

  ModelEffect measure(std::span<const ReplacedPart> parts, Run& run, Times times) override {
    const std::vector<ChosenHeads> chosen = heads_of(parts, layers(), heads());
    std::vector<Replacement> replacements;
    for (std::size_t i = 0; i < parts.size(); ++i)
      replacements.push_back(
          {.attention = {.variant = parts[i].variant,
                         .values = values_for_length(*parts[i].variant, out_.tokens,
                                                     parts[i].settings),
                         .seed = parts[i].seed},
           .where = chosen[i]});
    const EncoderEffect effect = effects_->measure(replacements, run, times == Times::measured);
    ModelEffect out = out_;
    for (std::size_t i = 0; i < replacements.size(); ++i)
      out.parts.push_back({.heads = effect.costs[i].heads,
                           .values = replacements[i].attention.values,
                           .cost = effect.costs[i].multiply_adds / effect.costs[i].exact});
    out.drift = effect.layers;
    out.token_drift = effect.tokens;
    out.pooled_cosine = effect.pooled_cosine;
    out.class_cosine = effect.class_cosine;
    if (times == Times::left_out) return out;
    out.attention_ms = effect.attention_ms;
    out.exact_attention_ms = effect.exact_attention_ms;
    out.layers_ms = effect.model_ms;
    out.exact_layers_ms = effect.exact_model_ms;
    return out;
  }

 private:
  std::shared_ptr<const OpenedModel> model_;
  std::unique_ptr<const Backend> own_backend_;
  const Backend& backend_;
  std::optional<EncoderEffects> effects_;
  ModelEffect out_;  // what is the same for all replacements
};

}  // namespace

std::unique_ptr<EffectMeter> own_meter(std::shared_ptr<const OpenedModel> model, ModelInput input,
                                       const ModelAddress& address, std::string title,
                                       const OpenOptions& options) {
  return std::make_unique<OwnMeter>(std::move(model), std::move(input), address, std::move(title),
                                    options);
}

}  // namespace fovea
