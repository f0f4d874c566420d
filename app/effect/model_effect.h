// What another attention in some heads does to a model's own output, whichever process computes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/open_source.h"
#include "model/encoder_effect.h"
#include "variants/variant.h"

namespace fovea {

/// A variant in some heads.
struct ReplacedPart {
  const Variant* variant = nullptr;
  std::map<std::string, std::string> settings;  // by parameter; others suit the length of the text
  std::uint64_t seed = 0;
  std::string heads = "all";  // as ChosenHeads reads it
  /// Files of structures, such as learned trees, each of some heads of the layer that it names. The
  /// other heads derive theirs. For encoders of Fovea alone.
  std::vector<std::string> structures = {};

  bool operator==(const ReplacedPart&) const = default;
};

/// What a part was for the text that was read.
struct MeasuredPart {
  Index heads = 0;
  Values values;
  double cost = 0;  // multiply-adds of these heads, as a share of those of exact attention
};

struct LikelyToken {
  std::string label;
  double chance = 0;
};

/// Values that a model does not have are absent or empty. Losses and divergences are in nats.
struct ModelEffect {
  std::string model, computed_by;
  Index tokens = 0, heads_of_model = 0;
  std::vector<MeasuredPart> parts;
  // For models that predict the next token: means over tokens.
  std::optional<double> exact_perplexity, perplexity;
  std::optional<double> exact_loss_per_token, loss_per_token;
  std::optional<double> kl_mean, kl_max;  // KL(exact || replaced) of the next token
  std::optional<double> top1_agreement;   // share of tokens with the same likeliest next token
  std::vector<double> exact_loss, loss;   // -log p of the token after each but the last
  std::vector<double> kl;                 // after each token
  // The few likeliest next tokens after each token, the likeliest first.
  std::vector<std::vector<LikelyToken>> exact_likeliest, likeliest;
  // For all models: the hidden states after each layer, and the last ones.
  std::vector<Drift> drift;
  std::optional<double> pooled_cosine, class_cosine;
  std::vector<double> token_drift;  // |h' - h| / |h| of the last hidden state of each token
  // In ms: what comes from the first replaced layer on; for encoders of Fovea also attention in it.
  std::optional<double> layers_ms, exact_layers_ms, attention_ms, exact_attention_ms;
  // In ms, for other models: a whole forward pass if no layer was left out, and what the variant
  // takes of it.
  std::optional<double> model_ms, exact_model_ms, variant_ms;
  std::vector<std::string> labels;  // of the tokens
  std::vector<std::string> notes;

  /// Multiply-adds of attention in all heads of the model, as a share of those of exact attention.
  double attention_cost() const;
  /// Whether the model predicts the next token. Its losses are absent if they are not finite.
  bool predicts() const { return !exact_loss.empty(); }
  /// What the replacement changes, in one number: by how much the loss per token grows, NaN if that
  /// is not finite; for a model without a loss, the relative change of its last hidden states.
  double change() const;
};

/// "loss per token" or "last hidden states": what change() is of.
std::string name_of_change(const ModelEffect& effect);

/// Whether the times of an effect are wanted. Those of exact attention then are measured beside
/// them if that is cheap: by Fovea's own encoder.
enum class Times { left_out, measured };

/// Measures variants in heads of one model that reads one input. What exact attention gives is
/// computed once, or kept by the process that computes the model.
class EffectMeter {
 public:
  virtual ~EffectMeter() = default;

  /// Throws UsageError as heads_of() does, for parameters that a variant does not have, and for
  /// structures with a model that another process computes; InputError if a variant has no form for
  /// its heads, and for structures of other heads than the model's; what open_source() throws.
  virtual ModelEffect measure(std::span<const ReplacedPart> parts, Run& run,
                              Times times = Times::left_out) = 0;

  Index layers() const { return layers_; }
  Index heads() const { return heads_; }

 protected:
  EffectMeter(Index layers, Index heads) : layers_(layers), heads_(heads) {}

 private:
  Index layers_, heads_;  // of the model; heads of a layer
};

/// The heads of each part. Throws UsageError for heads that the model does not have, and for a head
/// that two parts name.
std::vector<ChosenHeads> heads_of(std::span<const ReplacedPart> parts, Index layers, Index heads);

/// Opens the model of an address, as in ModelAddress, and what it reads. The back end of `options`
/// outlives the result. Throws UsageError if the address has no input; what open_source() throws.
std::unique_ptr<EffectMeter> effect_meter(const std::string& address, const OpenOptions& options);

}  // namespace fovea
