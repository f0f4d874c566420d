#include "effect/own_meter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "data/error.h"
#include "input/opened_model.h"
#include "io/structure_file.h"
#include "io/structure_origin.h"
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
        backend_(options.backend ? *options.backend : *model_->backend) {
    out_.model = std::move(title);
    out_.computed_by = "Fovea, " + backend_.device();
    out_.heads_of_model = layers() * heads();
    out_.notes = std::move(input.notes);
    EncoderInput read;
    if (model_->tokenizer) {
      TextTokens tokens = tokens_of(*model_->encoder, *model_->tokenizer, input.text,
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

  ModelEffect measure(std::span<const ReplacedPart> parts, Run& run) override {
    const std::vector<Replacement> replacements = replacements_of(parts, run.stop);
    const EncoderEffect effect = effects_->measure(replacements, run);
    ModelEffect out = out_;
    for (std::size_t i = 0; i < replacements.size(); ++i) {
      const ReplacedCost& cost = effect.costs[i];
      out.parts.push_back({.heads = cost.heads,
                           .values = replacements[i].attention.values,
                           .cost = cost.multiply_adds / cost.exact,
                           .multiply_adds = cost.multiply_adds,
                           .exact_multiply_adds = cost.exact});
      add_note_on(replacements[i], out.notes);
    }
    out.drift = effect.layers;
    out.drift.back() = effect.output;  // the last states are those after the last norm
    out.token_drift = effect.tokens;
    out.pooled_cosine = effect.pooled_cosine;
    out.class_cosine = effect.class_cosine;
    return out;
  }

  void time(std::span<const ReplacedPart> parts, Run& run, EffectTimes& times) override {
    const auto replacements = replacements_of(parts, run.stop);
    const PassTime exact = effects_->time({}, run), replaced = effects_->time(replacements, run);
    times.model.exact_ms.push_back(exact.layers_ms);
    times.model.replaced_ms.push_back(replaced.layers_ms);
    times.attention.exact_ms.push_back(exact.attention_ms);
    times.attention.replaced_ms.push_back(replaced.attention_ms);
  }

 private:
  std::vector<Replacement> replacements_of(std::span<const ReplacedPart> parts,
                                           const std::stop_token& stop) const {
    const std::vector<ChosenHeads> chosen = heads_of(parts, layers(), heads());
    std::vector<Replacement> replacements;
    for (std::size_t i = 0; i < parts.size(); ++i)
      replacements.push_back({.attention = {.variant = parts[i].variant,
                                            .values = values_for_length(
                                                *parts[i].variant, out_.tokens, parts[i].settings),
                                            .seed = parts[i].seed},
                              .where = chosen[i],
                              .given = given_in(parts[i].structures, stop)});
    return replacements;
  }

  using Structures = std::map<std::pair<Index, Index>, Structure>;  // by layer and head

  Structures given_in(const std::vector<std::string>& files, const std::stop_token& stop) const {
    Structures given;
    for (const std::string& file : files) {
      const auto origin = origin_of_structure(file, stop);
      if (!origin)
        throw InputError(file,
                         "does not say of which layer and heads its structures are; expected a "
                         "file that fovea fit or fovea compute has written");
      const auto count = std::ssize(origin->heads);
      for (Index slice = 0; slice < count; ++slice) {
        const Index head = origin->heads[slice];
        if (origin->layer < 0 || origin->layer >= layers() || head < 0 || head >= heads())
          throw InputError(file, "is of layer " + std::to_string(origin->layer) + ", head " +
                                     std::to_string(head) + "; the model has " +
                                     plural(layers(), "layer") + " of " + plural(heads(), "head"));
        given.insert_or_assign({origin->layer, head}, read_structure(file, slice, count, stop));
      }
    }
    return given;
  }

  /// Says how many heads have no structure of a file, if there are files.
  static void add_note_on(const Replacement& one, std::vector<std::string>& notes) {
    const Index with = std::ranges::count_if(one.given, [&](const auto& its) {
      return one.where.has(its.first.first, its.first.second);
    });
    if (!one.given.empty() && with < one.where.size())
      notes.push_back("structures are given for " + std::to_string(with) + " of the " +
                      plural(one.where.size(), "replaced head") + "; the others derive theirs");
  }

  std::shared_ptr<const OpenedModel> model_;
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
