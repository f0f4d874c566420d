// What another attention in some heads does to a model's own output, whichever process computes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input/open_source.h"
#include "model/encoder_effect.h"
#include "variants/variant.h"

namespace fovea {

struct EffectRequest {
  const Variant* variant = nullptr;
  std::map<std::string, std::string> settings;  // by parameter; others suit the length of the text
  std::uint64_t seed = 0;
  /// Files of structures, such as learned trees, each of some heads of the layer that it names.
  /// Other heads derive theirs. Only for encoders of Fovea.
  std::vector<std::string> structures = {};
};

/// Values that a model does not have are absent or empty. Losses and divergences are in nats.
struct ModelEffect {
  std::string model, computed_by;
  Index tokens = 0, heads = 0, heads_of_model = 0;  // `heads` of them were replaced
  std::optional<Values> values;  // of the variant; nothing if another process chose them
  // For models that predict the next token: means over tokens.
  std::optional<double> exact_perplexity, perplexity;
  std::optional<double> exact_loss_per_token, loss_per_token;
  std::optional<double> kl_mean, kl_max;  // KL(exact || replaced) of the next token
  std::optional<double> top1_agreement;   // share of tokens with the same likeliest next token
  std::vector<double> exact_loss, loss;   // -log p of the token after each but the last
  std::vector<double> kl;                 // after each token
  // For all models: the hidden states after each layer, and the last ones.
  std::vector<Drift> drift;
  std::optional<double> pooled_cosine, class_cosine;
  // In ms, for encoders of Fovea: the layers from the first replaced one on, and attention in them.
  std::optional<double> layers_ms, exact_layers_ms, attention_ms, exact_attention_ms;
  // In ms, for other models: a forward pass, and what the variant takes of it.
  std::optional<double> model_ms, exact_model_ms, variant_ms;
  std::vector<std::string> labels;  // of the tokens
  std::vector<std::string> notes;
};

/// Measures a variant in heads of one model that reads one input. What exact attention gives is
/// computed once, or kept by the process that computes the model.
class EffectMeter {
 public:
  virtual ~EffectMeter() = default;

  /// `heads` as ChosenHeads has them. Throws UsageError for heads that the model does not have;
  /// InputError where the variant has no form for them; what open_source() throws.
  virtual ModelEffect measure(const std::string& heads) = 0;

  Index layers() const { return layers_; }
  Index heads() const { return heads_; }

 protected:
  EffectMeter(Index layers, Index heads) : layers_(layers), heads_(heads) {}

 private:
  Index layers_, heads_;  // of the model; heads of a layer
};

/// `address` as in ModelAddress; what `options` refer to outlives the result. Throws
/// UsageError for parameters that the variant does not have, and for structures with a model that
/// another process computes; InputError where the model has no input, and for structures of other
/// heads than the model's; what open_source() throws.
std::unique_ptr<EffectMeter> effect_meter(const std::string& address, const EffectRequest& request,
                                          const OpenOptions& options);

}  // namespace fovea
