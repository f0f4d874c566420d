#include "effect/hosted_meter.h"

#include <cmath>

#include "data/error.h"
#include "input/model_input.h"
#include "io/json.h"
#include "io/token_marks.h"
#include "session/session.h"

namespace fovea {
namespace {

std::optional<double> number_in(const Json& answer, const char* name) {
  const auto found = answer.find(name);
  if (found == answer.end() || !found->is_number()) return {};
  return found->get<double>();
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
    std::vector<double> row(tensor.shape[0]);
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
                     number_in(layer, "cosine").value_or(NAN),
                     number_in(layer, "least_cosine").value_or(NAN),
                     static_cast<Index>(number_in(layer, "rows_not_finite").value_or(0))});
  return out;
}

/// The likeliest tokens of n positions from their labels and chances, as many of each.
std::vector<std::vector<LikelyToken>> likeliest_in(const WireMessage& answer,
                                                   const std::string& name, std::size_t positions) {
  const auto labels = display_tokens(texts_in(answer.content, name.c_str()));
  const std::vector<double> chances = row_in(answer.tensors, name);
  if (positions == 0 || labels.empty() || chances.size() != labels.size()) return {};
  const std::size_t each = labels.size() / positions;
  std::vector<std::vector<LikelyToken>> out(positions);
  for (std::size_t i = 0; i < positions * each; ++i)
    out[i / each].push_back({labels[i], chances[i]});
  return out;
}

/// [[3, [0, 1]], ...]: the chosen heads of each layer that has some; null for all of them.
Json where_of(const ChosenHeads& chosen) {
  Json where = Json::array();
  for (Index layer = 0; layer < chosen.layers(); ++layer) {
    Json of_layer = Json::array();
    for (Index head = 0; head < chosen.heads(); ++head)
      if (chosen.has(layer, head)) of_layer.push_back(head);
    if (std::ssize(of_layer) == chosen.heads()) of_layer = nullptr;
    if (of_layer.is_null() || !of_layer.empty()) where.push_back({layer, of_layer});
  }
  return where;
}

class HostedMeter : public EffectMeter {
 public:
  HostedMeter(std::shared_ptr<HostedModel> model, const HostedDescription& its, std::string text,
              Index most_tokens, std::string title)
      : EffectMeter(its.layers, its.heads),
        model_(std::move(model)),
        computed_by_(its.computed_by),
        text_(std::move(text)),
        most_tokens_(most_tokens),
        title_(std::move(title)) {}

  ModelEffect measure(std::span<const ReplacedPart> parts, Run& run) override {
    return measured(parts, run, true);
  }

  ModelEffect measure_numbers(std::span<const ReplacedPart> parts, Run& run) override {
    return measured(parts, run, false);
  }

  void time(std::span<const ReplacedPart> parts, Run& run, EffectTimes& times) override {
    const WireMessage answer =
        ask("effect_time", parts, heads_of(parts, layers(), heads()), run, true);
    const auto ms = [&](const char* name) {
      const auto seconds = number_in(answer.content, name);
      if (!seconds)
        throw InputError("the program that runs the model",
                         std::string("its answer lacks '") + name + "'; expected seconds");
      return 1000 * *seconds;
    };
    times.model.exact_ms.push_back(ms("exact_seconds"));
    times.model.replaced_ms.push_back(ms("seconds"));
    times.variant_ms.push_back(ms("attention_seconds"));
  }

 private:
  ModelEffect measured(std::span<const ReplacedPart> parts, Run& run, bool rows) {
    const std::vector<ChosenHeads> chosen = heads_of(parts, layers(), heads());
    const WireMessage answer = ask("effect", parts, chosen, run, rows);
    const Json& found = answer.content;
    ModelEffect out;
    out.model = title_;
    out.computed_by = computed_by_;
    out.tokens = static_cast<Index>(number_in(found, "tokens").value_or(0));
    out.heads_of_model = layers() * heads();
    for (const EffectNumber& number : effect_numbers())
      out.*number.of = number_in(found, number.id);
    out.exact_loss = row_in(answer.tensors, "exact_loss");
    out.loss = row_in(answer.tensors, "loss");
    out.kl = row_in(answer.tensors, "kl");
    out.predicts = found.contains("predicts") ? found["predicts"] == true : !out.exact_loss.empty();
    out.exact_likeliest = likeliest_in(answer, "exact_likeliest", out.kl.size());
    out.likeliest = likeliest_in(answer, "likeliest", out.kl.size());
    out.drift = drift_in(found);
    out.token_drift = row_in(answer.tensors, "token_drift");
    out.labels = display_tokens(texts_in(found, "labels"));
    out.notes = texts_in(found, "notes");
    const std::vector<double> costs = row_in(answer.tensors, "multiply_adds"),
                              exact = row_in(answer.tensors, "exact_multiply_adds");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool known = i < costs.size() && i < exact.size();
      const double cost = known ? costs[i] : NAN, of = known ? exact[i] : NAN;
      out.parts.push_back(
          {.heads = chosen[i].size(),
           .values = values_for_length(*parts[i].variant, out.tokens, parts[i].settings),
           .cost = of == 0 ? 1 : cost / of,
           .multiply_adds = cost,
           .exact_multiply_adds = of});
    }
    return out;
  }

  /// `rows`: whether the answer has what there is for each token.
  WireMessage ask(const char* what, std::span<const ReplacedPart> parts,
                  const std::vector<ChosenHeads>& chosen, Run& run, bool rows) {
    Json asked = Json::array();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      values_for_length(*parts[i].variant, default_length, parts[i].settings);  // throws at once
      if (!parts[i].structures.empty())
        throw UsageError("--structure goes with a model that Fovea computes itself: " + title_ +
                         " is computed by another process, which derives all structures");
      asked.push_back({{"variant", parts[i].variant->id},
                       {"seed", parts[i].seed},
                       {"parameters", parts[i].settings},
                       {"where", where_of(chosen[i])}});
    }
    return model_->ask({{"do", what},
                        {"text", text_},
                        {"max_tokens", most_tokens_},
                        {"parts", asked},
                        {"rows", rows}},
                       {}, run.stop, [&run](double share) { run.reached(share); });
  }

  std::shared_ptr<HostedModel> model_;
  std::string computed_by_, text_;
  Index most_tokens_;
  std::string title_;
};

}  // namespace

std::unique_ptr<EffectMeter> hosted_meter(const ModelAddress& address, const ModelPlace& place,
                                          std::string title, const OpenOptions& options) {
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
                                       address.most_tokens, std::move(title));
}

}  // namespace fovea
