#include "input/model_effect.h"

#include <span>

#include "data/error.h"
#include "data/model_address.h"
#include "input/model_input.h"
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
           std::string title, const EffectRequest& request, const OpenOptions& options)
      : EffectMeter(model->encoder->shape().layers, model->encoder->shape().heads),
        request_(request),
        stop_(options.stop),
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
          tokens_of(*model_->encoder, *model_->tokenizer, input.text, address.most_tokens, stop_);
      read.ids = std::move(tokens.ids);
      out_.labels = std::move(tokens.labels);
      out_.notes.insert(out_.notes.end(), tokens.notes.begin(), tokens.notes.end());
    } else {
      read.image = model_->image_input->prepare(*input.picture, stop_);
    }
    Profile profile;
    Run run{profile, stop_};
    effects_.emplace(*model_->encoder, read, backend_, run);
    out_.tokens = effects_->tokens();
    out_.values = values_for_length(*request.variant, out_.tokens, request.settings);
    for (const std::string& file : request.structures) read_structures(file);
  }

  ModelEffect measure(const std::string& chosen) override {
    const ChosenHeads where(chosen, layers(), heads());
    Profile profile;
    Run run{profile, stop_};
    const EncoderEffect effect = effects_->measure(
        {.attention = {.variant = request_.variant, .values = *out_.values, .seed = request_.seed},
         .where = where,
         .given = given_},
        run);
    ModelEffect out = out_;
    if (const Index with = given_in(where); !request_.structures.empty() && with < where.size())
      out.notes.push_back("structures are given for " + std::to_string(with) + " of the " +
                          plural(where.size(), "replaced head") + "; the others derive theirs");
    out.heads = where.size();
    out.drift = effect.layers;
    out.pooled_cosine = effect.pooled_cosine;
    out.class_cosine = effect.class_cosine;
    out.attention_ms = effect.attention_ms;
    out.exact_attention_ms = effect.exact_attention_ms;
    out.layers_ms = effect.model_ms;
    out.exact_layers_ms = effect.exact_model_ms;
    return out;
  }

 private:
  void read_structures(const std::string& file) {
    const auto origin = origin_of_structure(file, stop_);
    if (!origin)
      throw InputError(file,
                       "does not say of which layer and heads its structures are; expected a file "
                       "that fovea fit or fovea compute has written");
    const auto count = std::ssize(origin->heads);
    for (Index slice = 0; slice < count; ++slice) {
      const Index head = origin->heads[static_cast<std::size_t>(slice)];
      if (origin->layer < 0 || origin->layer >= layers() || head < 0 || head >= heads())
        throw InputError(file, "is of layer " + std::to_string(origin->layer) + ", head " +
                                   std::to_string(head) + "; the model has " +
                                   plural(layers(), "layer") + " of " + plural(heads(), "head"));
      given_.insert_or_assign({origin->layer, head}, read_structure(file, slice, count, stop_));
    }
  }

  Index given_in(const ChosenHeads& where) const {
    return std::ranges::count_if(
        given_, [&](const auto& its) { return where.has(its.first.first, its.first.second); });
  }

  const EffectRequest request_;
  std::stop_token stop_;
  std::map<std::pair<Index, Index>, Structure> given_;
  std::shared_ptr<const OpenedModel> model_;
  std::unique_ptr<const Backend> own_backend_;
  const Backend& backend_;
  std::optional<EncoderEffects> effects_;
  ModelEffect out_;  // what is the same for all heads
};

std::optional<double> number_in(const Json& answer, const char* name) {
  const auto found = answer.find(name);
  if (found == answer.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::optional<double> ms_in(const Json& answer, const char* name) {
  const auto seconds = number_in(answer, name);
  if (!seconds) return {};
  return 1000 * *seconds;
}

std::vector<std::string> texts_in(const Json& answer, const char* name) {
  std::vector<std::string> out;
  if (const auto found = answer.find(name); found != answer.end() && found->is_array())
    for (const Json& text : *found)
      if (text.is_string()) out.push_back(text.get<std::string>());
  return out;
}

std::vector<double> row_in(const TensorFile& tensors, const std::string& name) {
  for (const NamedTensor& tensor : tensors.tensors) {
    if (tensor.name != name || tensor.dtype != "F64" || tensor.shape.size() != 1) continue;
    std::vector<double> row(static_cast<std::size_t>(tensor.shape[0]));
    tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(row)));
    return row;
  }
  return {};
}

std::vector<Drift> drift_in(const Json& answer) {
  std::vector<Drift> out;
  if (const auto found = answer.find("drift"); found != answer.end() && found->is_array())
    for (const Json& layer : *found)
      out.push_back({number_in(layer, "relative").value_or(INFINITY),
                     number_in(layer, "cosine").value_or(0),
                     number_in(layer, "least_cosine").value_or(0)});
  return out;
}

/// [[3, [0, 1]], ...]: the chosen heads of each layer that has some.
Json where_of(const ChosenHeads& chosen, Index layers, Index heads) {
  Json where = Json::array();
  for (Index layer = 0; layer < layers; ++layer) {
    Json of_layer = Json::array();
    for (Index head = 0; head < heads; ++head)
      if (chosen.has(layer, head)) of_layer.push_back(head);
    if (std::ssize(of_layer) == heads) of_layer = nullptr;  // all
    if (of_layer.is_null() || !of_layer.empty()) where.push_back({layer, of_layer});
  }
  return where;
}

/// A model that another process computes.
class HostedMeter : public EffectMeter {
 public:
  HostedMeter(std::shared_ptr<HostedModel> model, const HostedDescription& its, std::string text,
              Index most_tokens, std::string title, const EffectRequest& request,
              const OpenOptions& options)
      : EffectMeter(its.layers, its.heads),
        model_(std::move(model)),
        computed_by_(its.computed_by),
        text_(std::move(text)),
        most_tokens_(most_tokens),
        title_(std::move(title)),
        request_(request),
        options_(options) {}

  ModelEffect measure(const std::string& chosen) override {
    const ChosenHeads where(chosen, layers(), heads());
    const WireMessage answer = model_->ask({{"do", "effect"},
                                            {"text", text_},
                                            {"max_tokens", most_tokens_},
                                            {"variant", request_.variant->id},
                                            {"seed", request_.seed},
                                            {"parameters", request_.settings},
                                            {"where", where_of(where, layers(), heads())}},
                                           {}, options_.stop, options_.reached);
    const Json& found = answer.content;
    return {.model = title_,
            .computed_by = computed_by_,
            .tokens = static_cast<Index>(number_in(found, "tokens").value_or(0)),
            .heads = where.size(),
            .heads_of_model = layers() * heads(),
            .exact_perplexity = number_in(found, "exact_perplexity"),
            .perplexity = number_in(found, "perplexity"),
            .exact_loss_per_token = number_in(found, "exact_loss_per_token"),
            .loss_per_token = number_in(found, "loss_per_token"),
            .kl_mean = number_in(found, "kl_mean"),
            .kl_max = number_in(found, "kl_max"),
            .top1_agreement = number_in(found, "top1_agreement"),
            .exact_loss = row_in(answer.tensors, "exact_loss"),
            .loss = row_in(answer.tensors, "loss"),
            .kl = row_in(answer.tensors, "kl"),
            .drift = drift_in(found),
            .pooled_cosine = number_in(found, "pooled_cosine"),
            .class_cosine = number_in(found, "class_cosine"),
            .model_ms = ms_in(found, "seconds"),
            .exact_model_ms = ms_in(found, "exact_seconds"),
            .variant_ms = ms_in(found, "attention_seconds"),
            .labels = texts_in(found, "labels"),
            .notes = texts_in(found, "notes")};
  }

 private:
  std::shared_ptr<HostedModel> model_;
  std::string computed_by_, text_;
  Index most_tokens_;
  std::string title_;
  const EffectRequest request_;
  const OpenOptions options_;
};

std::unique_ptr<EffectMeter> hosted_meter(const ModelAddress& address, const ModelPlace& place,
                                          std::string title, const EffectRequest& request,
                                          const OpenOptions& options) {
  if (!request.structures.empty())
    throw UsageError("--structure goes with a model that Fovea computes itself: " + place.name +
                     " is computed by another process, which derives all structures");
  auto model = process_of_model(place);
  const HostedDescription& its = model->description(options.stop);
  if (its.layers == 0 || its.heads == 0)
    throw InputError(place.name,
                     "does not say how many layers and heads it has; expected num_hidden_layers "
                     "and num_attention_heads in its config.json");
  if (!its.reads_texts)
    throw InputError(place.name,
                     "is a model of images that Python computes; expected a model of texts, or an "
                     "image encoder that Fovea computes itself");
  ModelInput input = read_model_input(address, true, false, options.stop);
  return std::make_unique<HostedMeter>(std::move(model), its, std::move(input.text),
                                       address.most_tokens, std::move(title), request, options);
}

}  // namespace

std::unique_ptr<EffectMeter> effect_meter(const std::string& what, const EffectRequest& request,
                                          const OpenOptions& options) {
  // Parameters that do not exist are said before anything is computed.
  values_for_length(*request.variant, 1, request.settings);
  ModelAddress address = parse_model_address(what);
  const ModelPlace place = find_model(address.folder);
  std::string title = title_of(address, place.name);
  address.folder = place.path;
  if (!is_own_model(place, options.stop))
    return hosted_meter(address, place, std::move(title), request, options);
  auto model = open_model_folder(address.folder, options.stop);
  const bool texts = model->tokenizer != nullptr;
  ModelInput input = read_model_input(address, texts, !texts, options.stop);
  return std::make_unique<OwnMeter>(std::move(model), std::move(input), address, std::move(title),
                                    request, options);
}

}  // namespace fovea
