// What another attention in some heads does to a model's own output, whichever process computes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/mean_interval.h"
#include "effect/effect_times.h"
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

/// A variant with all of its values.
ReplacedPart part_with(const Variant& variant, const Values& values, std::uint64_t seed,
                       std::string heads);

/// What a part was for the text that was read; over several inputs costs are means.
struct MeasuredPart {
  Index heads = 0;
  Values values;
  double cost = 0;  // multiply-adds of these heads, as a share of those of exact attention
  double multiply_adds = 0, exact_multiply_adds = 0;
  /// Parameters that suit the length of each of several inputs; `values` has those of the first.
  std::vector<std::string> differing = {};
};

struct LikelyToken {
  std::string label;
  double chance = 0;
};

struct ModelEffect;

/// The effect on one of several inputs.
struct InputEffect {
  std::string input;                          // its file
  std::string failure;                        // why it could not be measured
  std::shared_ptr<const ModelEffect> effect;  // without rows of tokens; null if it failed
};

/// Values that a model does not have are absent or empty. Losses and divergences are in nats. Over
/// several inputs numbers are means over those that have them, `tokens` is their sum, and there are
/// no rows of tokens.
struct ModelEffect {
  std::string model, computed_by;
  Index tokens = 0, heads_of_model = 0;
  std::vector<MeasuredPart> parts;
  // For models that predict the next token: means over tokens, absent if they are not finite.
  bool predicts = false;
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
  EffectTimes times;                // no rounds if they were not measured
  std::vector<std::string> labels;  // of the tokens
  std::vector<std::string> notes;
  std::vector<InputEffect> inputs;  // empty unless a folder was read

  /// Multiply-adds of attention in all heads of the model, as a share of those of exact attention.
  double attention_cost() const;
  /// What the replacement changes, in one number: by how much the loss per token grows, NaN if that
  /// is not finite; for a model without a loss, the relative change of its last hidden states. Over
  /// several inputs the mean, not finite if that of one input is not.
  double change() const;
  /// What is left without rows of tokens.
  ModelEffect numbers() const;
};

/// A number of an effect that is a mean over tokens, or of the whole model.
struct EffectNumber {
  const char* id;  // as in JSON
  std::optional<double> ModelEffect::*of;
};
std::span<const EffectNumber> effect_numbers();

/// The mean of a number over the inputs that have it; the number itself if there is one input.
using NumberOf = std::function<std::optional<double>(const ModelEffect&)>;
MeanOverInputs over_inputs(const ModelEffect& effect, const NumberOf& number);
MeanOverInputs change_over_inputs(const ModelEffect& effect);

/// "loss per token" or "last hidden states": what change() is of.
std::string name_of_change(const ModelEffect& effect);

/// Measures variants in heads of one model that reads one input, or several. What exact attention
/// gives is computed once, or kept by the process that computes the model.
class EffectMeter {
 public:
  virtual ~EffectMeter() = default;

  /// Throws UsageError as heads_of() does, for parameters that a variant does not have, and for
  /// structures with a model that another process computes; InputError if a variant has no form for
  /// its heads, and for structures of other heads than the model's; what open_source() throws.
  virtual ModelEffect measure(std::span<const ReplacedPart> parts, Run& run) = 0;
  /// The numbers of measure() without rows of tokens, which may take less time.
  virtual ModelEffect measure_numbers(std::span<const ReplacedPart> parts, Run& run) {
    return measure(parts, run).numbers();
  }
  /// Runs the whole model with exact attention and then with these parts, and adds how long both
  /// took. Each call reads one of several inputs, in turn. The model has run before, in measure().
  /// Throws as measure() does.
  virtual void time(std::span<const ReplacedPart> parts, Run& run, EffectTimes& times) = 0;
  /// Inputs that the model reads.
  virtual Index inputs() const { return 1; }

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

/// Opens the model of an address, as in ModelAddress, and what it reads: if its input is a folder,
/// all texts or images in it. The back end of `options` outlives the result. Throws UsageError if
/// the address has no input; what open_source() throws.
std::unique_ptr<EffectMeter> effect_meter(const std::string& address, const OpenOptions& options);

}  // namespace fovea
