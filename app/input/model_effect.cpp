#include "input/model_effect.h"

#include <span>

#include "data/error.h"
#include "data/model_address.h"
#include "input/model_input.h"
#include "input/opened_model.h"
#include "model/encoded_source.h"

namespace fovea {
namespace {

Values values_of(const EffectRequest& request, Index n) {
  Values values = values_for_length(*request.variant, n);
  for (const auto& [key, value] : request.settings)
    set_value(request.variant->schema, values, key, value);
  return values;
}

ModelEffect own_effect(const ModelAddress& address, const EffectRequest& request,
                       const OpenOptions& options) {
  const auto model = open_model_folder(address.folder, options.stop);
  const auto own_backend =
      options.backend ? nullptr : make_cpu_backend({.threads = options.threads});
  const Backend& backend = options.backend ? *options.backend : *own_backend;
  Profile profile;
  Run run{profile, options.stop};
  const EncoderShape& shape = model->encoder->shape();
  const bool texts = model->tokenizer != nullptr;
  const ModelInput input = read_model_input(address, texts, !texts, options.stop);
  ModelEffect out{.computed_by = "Fovea, " + backend.device(),
                  .heads_of_model = shape.layers * shape.heads,
                  .notes = input.notes};
  EncoderInput read;
  if (texts) {
    TextTokens tokens = tokens_of(*model->encoder, *model->tokenizer, input.text,
                                  address.most_tokens, options.stop);
    read.ids = std::move(tokens.ids);
    out.labels = std::move(tokens.labels);
    out.notes.insert(out.notes.end(), tokens.notes.begin(), tokens.notes.end());
  } else {
    read.image = model->image_input->prepare(*input.picture, options.stop);
  }
  const ChosenHeads where(request.heads, shape.layers, shape.heads);
  const EncoderEffects effects(*model->encoder, read, backend, run);
  out.tokens = effects.tokens();
  out.heads = where.size();
  out.values = values_of(request, out.tokens);
  const EncoderEffect effect = effects.measure(
      {.attention = {.variant = request.variant, .values = *out.values, .seed = request.seed},
       .where = where},
      run);
  out.drift = effect.layers;
  out.pooled_cosine = effect.pooled_cosine;
  out.class_cosine = effect.class_cosine;
  out.attention_ms = effect.attention_ms;
  out.exact_attention_ms = effect.exact_attention_ms;
  out.model_ms = effect.model_ms;
  out.exact_model_ms = effect.exact_model_ms;
  return out;
}

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

ModelEffect hosted_effect(const ModelAddress& address, const ModelPlace& place,
                          const EffectRequest& request, const OpenOptions& options) {
  const auto model = process_of_model(place);
  const HostedDescription& its = model->description(options.stop);
  if (its.layers == 0 || its.heads == 0)
    throw InputError(place.name,
                     "does not say how many layers and heads it has; expected num_hidden_layers "
                     "and num_attention_heads in its config.json");
  if (!its.reads_texts)
    throw InputError(place.name,
                     "is a model of images that Python computes; expected a model of texts, or an "
                     "image encoder that Fovea computes itself");
  const ModelInput input = read_model_input(address, true, false, options.stop);
  const ChosenHeads where(request.heads, its.layers, its.heads);
  WireMessage answer = model->ask({{"do", "effect"},
                                   {"text", input.text},
                                   {"max_tokens", address.most_tokens},
                                   {"variant", request.variant->id},
                                   {"seed", request.seed},
                                   {"parameters", request.settings},
                                   {"where", where_of(where, its.layers, its.heads)}},
                                  {}, options.stop, options.reached);
  const Json& found = answer.content;
  ModelEffect out{.computed_by = its.computed_by,
                  .heads = where.size(),
                  .heads_of_model = its.layers * its.heads,
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
                  .attention_ms = ms_in(found, "attention_seconds"),
                  .model_ms = ms_in(found, "seconds"),
                  .exact_model_ms = ms_in(found, "exact_seconds"),
                  .labels = texts_in(found, "labels"),
                  .notes = texts_in(found, "notes")};
  out.tokens = static_cast<Index>(number_in(found, "tokens").value_or(0));
  return out;
}

}  // namespace

ModelEffect measure_effect(const std::string& what, const EffectRequest& request,
                           const OpenOptions& options) {
  values_of(request, 1);  // parameters that do not exist are said before anything is computed
  ModelAddress address = parse_model_address(what);
  const ModelPlace place = find_model(address.folder);
  const std::string title = title_of(address, place.name);
  address.folder = place.path;
  ModelEffect out = is_own_model(place, options.stop)
                        ? own_effect(address, request, options)
                        : hosted_effect(address, place, request, options);
  out.model = title;
  return out;
}

}  // namespace fovea
