#include "window/docks/effect_readings.h"

#include "window/widgets/text.h"

namespace fovea {
namespace {

QString shown(const std::optional<double>& number) {
  return number ? number_text(*number) : QString();
}

QString time_words(const std::vector<double>& times) {
  return times.empty() ? QString() : to_qt(format_time(median_ms(times)));
}

}  // namespace

std::vector<Reading> readings_of(const ModelEffect& e, const QString& what) {
  std::vector<Reading> rows{
      {.label = {}, .value = what, .tip = {}, .second = "exact", .faint = true}};
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
    add("last layer, error", number_text(e.drift.back().relative), "",
        "0: nothing changes. |H' − H| / |H| of the hidden states after the last layer");
  if (!e.drift.empty() && e.drift.back().rows_not_finite > 0)
    add("rows not finite", QString::number(e.drift.back().rows_not_finite), "",
        "Tokens whose last hidden state holds NaN or infinity; cosines leave them out");
  add("pooled embedding, cosine", shown(e.pooled_cosine), "",
      "1: nothing changes. Cosine of the means of the last hidden states over all tokens");
  add("first token, cosine", shown(e.class_cosine), "",
      "1: nothing changes. Cosine of the last hidden states of the first token, as of a class "
      "token");
  add("cost of attention", to_qt(format_percent(e.attention_cost())), "",
      "Multiply-adds in all heads of the model, as a share of exact attention's");
  const auto add_ratio = [&](const QString& label, const PassTimes& its, const QString& tip) {
    // It is of both, and takes the room of both numbers.
    if (!its.known()) return;
    const SpeedUp ratio = its.speed_up();
    rows.push_back({.label = label,
                    .value = to_qt(to_text(ratio)),
                    .tip = QString("%1: %2%3, and not the ratio of the medians above")
                               .arg(tip, to_qt(basis_text(ratio)),
                                    ratio.interval ? QString(" with an interval of 95 % confidence")
                                                   : QString(", too few for an interval"))});
  };
  const EffectTimes& times = e.times;
  const QString in_turn =
      QString("The median of %1 in which an exact pass and a replaced one take turns")
          .arg(to_qt(plural(times.rounds(), "round")));
  add("attention", time_words(times.attention.replaced_ms), time_words(times.attention.exact_ms),
      "In all layers. " + in_turn);
  add_ratio("its speed-up", times.attention,
            "Exact attention's time over that of replaced attention in the same round");
  add("model", time_words(times.model.replaced_ms), time_words(times.model.exact_ms),
      "A pass through all layers. " + in_turn);
  add_ratio("speed-up of the model", times.model,
            "The exact pass over the replaced one in the same round");
  add("the variant", time_words(times.variant_ms), "",
      "What it takes of a pass; it is computed in another process");
  return rows;
}

}  // namespace fovea
