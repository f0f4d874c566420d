#include "window/docks/effect_readings.h"

#include "window/widgets/text.h"

namespace fovea {
namespace {

QString shown(const std::optional<double>& number) {
  return number ? number_text(*number) : QString();
}

QString time_words(const std::optional<double>& ms) {
  return ms ? to_qt(format_time(*ms)) : QString();
}

QString ratio(const std::optional<double>& exact, const std::optional<double>& now) {
  return exact && now && *now > 0 ? number_text(*exact / *now, 2) + "×" : QString();
}

}  // namespace

std::vector<Reading> readings_of(const ModelEffect& e) {
  std::vector<Reading> rows{
      {.label = {}, .value = "replaced", .tip = {}, .second = "exact", .faint = true}};
  const auto add = [&](const QString& label, const QString& value, const QString& exact,
                       const QString& tip) {
    if (!value.isEmpty())
      rows.push_back({.label = label,
                      .value = value,
                      .tip = tip,
                      .second = exact.isEmpty() ? QString(QChar::Nbsp) : exact});
  };
  add("perplexity", shown(e.perplexity), shown(e.exact_perplexity),
      "exp of the mean loss over tokens; on the right with exact attention");
  add("loss per token", shown(e.loss_per_token), shown(e.exact_loss_per_token),
      "−log p of the next token, in nats; on the right with exact attention");
  add("mean KL", shown(e.kl_mean), "", "KL(exact || replaced) of the next token, in nats");
  add("largest KL", shown(e.kl_max), "", "The token whose next-token distribution changes most");
  add("same first choice", e.top1_agreement ? to_qt(format_percent(*e.top1_agreement)) : QString(),
      "", "Tokens after which the likeliest next token stays the same");
  if (!e.drift.empty())
    add("last layer", number_text(e.drift.back().relative), "",
        "|H' − H| / |H| of the hidden states after the last layer");
  add("pooled embedding", shown(e.pooled_cosine), "",
      "Cosine of the means of the last hidden states over all tokens");
  add("first token", shown(e.class_cosine), "",
      "Cosine of the last hidden states of the first token, as of a class token");
  add("cost of attention", to_qt(format_percent(e.attention_cost())), "",
      "Multiply-adds in all heads of the model, as a share of exact attention's");
  add("attention", time_words(e.attention_ms), time_words(e.exact_attention_ms),
      "Of the layers from the first replaced one on: " +
          ratio(e.exact_attention_ms, e.attention_ms));
  add("these layers", time_words(e.layers_ms), time_words(e.exact_layers_ms),
      "From the first replaced layer on: " + ratio(e.exact_layers_ms, e.layers_ms));
  add("model", time_words(e.model_ms), time_words(e.exact_model_ms),
      "One forward pass; attention is computed in another process, which takes a part of it");
  add("the variant", time_words(e.variant_ms), "", "What it takes of the forward pass");
  return rows;
}

}  // namespace fovea
