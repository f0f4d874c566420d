#include "analysis/measures.h"

#include <cmath>

#include "data/number_text.h"

namespace fovea {
namespace {

using Unit = Measure::Unit;
using Better = Measure::Better;
using Value = std::function<std::optional<Measured>(const Evaluation&)>;

template <class Member>
Value of_metrics(Member member) {
  return [member](const Evaluation& e) -> std::optional<Measured> {
    if (!e.metrics) return {};
    if constexpr (std::is_same_v<Member, Estimate Metrics::*>) {
      if (!e.metrics->of_attention()) return {};
      const Estimate& estimate = e.metrics->*member;
      return Measured{estimate.value, estimate.standard_error};
    } else {
      if (!e.metrics->of_outputs()) return {};
      return Measured{e.metrics->*member};
    }
  };
}

Measure recall_of_top(std::size_t which) {
  const std::string k = std::to_string(top_counts[which]);
  return {.id = "top" + k + "_recall",
          .label = k == "1" ? "recall of the top key" : "recall of the top " + k + " keys",
          .definition = "|top_k(Pᵢ) ∩ top_k(P̃ᵢ)| / k with k = " + k +
                        ", the mean over rows: the share of the keys with the largest exact "
                        "weights that are among those with the largest approximate ones. k is the "
                        "number of keys that the query attends where that is smaller. Where all "
                        "weights of a row are equal within rounding, rounding decides.",
          .better = Better::more,
          .of = [which](const Evaluation& e) -> std::optional<Measured> {
            if (!e.metrics || !e.metrics->of_attention()) return {};
            const Estimate& recall = e.metrics->top_recall[which];
            const Index rows = e.metrics->rows_of_equal_weights;
            return Measured{recall.value, recall.standard_error,
                            rows > 0 ? "by rounding in " + plural(rows, "row") : ""};
          }};
}

/// Get returns a pointer to an Estimate of a SectionMass, or null.
template <class Get>
Value of_sections(Get get) {
  return [get](const Evaluation& e) -> std::optional<Measured> {
    const SectionMass* sections = e.sections;
    if (!sections && e.metrics && e.metrics->sections) sections = &*e.metrics->sections;
    const Estimate* mass = sections ? get(*sections) : nullptr;
    if (!mass) return {};
    return Measured{mass->value, mass->standard_error};
  };
}

Measured measured(const Divergence& divergence, const Metrics& metrics) {
  std::string note;
  if (divergence.infinite_rows > 0 && metrics.sampled())
    note = "in ≈ " + format_percent(divergence.infinite_share.value) + " ± " +
           format_percent(divergence.infinite_share.standard_error) + " of rows";
  else if (divergence.infinite_rows > 0)
    note = "in " + plural(divergence.infinite_rows, "row");
  return {divergence.value, divergence.standard_error, note};
}

/// "from 512 sampled" if not all rows of P~ were used.
std::string sample_note(const Metrics& metrics, const std::string& what) {
  return metrics.sampled() ? what + " " + std::to_string(metrics.rows) + " sampled" : "";
}

template <class Get>
Value of_cost(Get get) {
  return [get](const Evaluation& e) -> std::optional<Measured> {
    if (!e.cost) return {};
    return Measured{std::invoke(get, *e.cost)};
  };
}

template <class Get>
Value of_time(Get get) {
  return [get](const Evaluation& e) -> std::optional<Measured> {
    const std::optional<StageSummary> found = e.time ? get(*e.time) : std::nullopt;
    if (!found || found->samples == 0) return {};
    return Measured{found->median_ms};
  };
}

Value of_speed_up(std::optional<SpeedUp> MeasuredTime::*which) {
  return [which](const Evaluation& e) -> std::optional<Measured> {
    if (!e.time || !(e.time->*which)) return {};
    const SpeedUp& ratio = *(e.time->*which);
    return Measured{.value = ratio.median, .ratio = ratio};
  };
}

std::vector<Measure> make_measures() {
  return {
      {.id = "output_rel_fro",
       .label = "relative output error",
       .definition = "‖Z̃ − Z‖ / ‖Z‖ in the Frobenius norm, over all tokens. 0: the same output; "
                     "1: as bad as zeros.",
       .of_outputs = true,
       .of = of_metrics(&Metrics::output_rel_fro)},
      {.id = "output_rel_l1",
       .label = "relative output error, L1",
       .definition = "Σ |z̃ − z| / Σ |z| over all numbers of the output.",
       .of_outputs = true,
       .of = of_metrics(&Metrics::output_rel_l1)},
      {.id = "output_cosine",
       .label = "cosine of outputs",
       .definition = "z̃ · z / (‖z̃‖ ‖z‖) of all numbers of the output as one vector. A wrong "
                     "length does not show in it.",
       .better = Better::more,
       .of_outputs = true,
       .of = of_metrics(&Metrics::output_cosine)},
      {.id = "output_min_cosine",
       .label = "cosine of a token, smallest",
       .definition = "The smallest z̃ᵢ · zᵢ / (‖z̃ᵢ‖ ‖zᵢ‖) of a token: one wrong row shows in it.",
       .better = Better::more,
       .of_outputs = true,
       .of = of_metrics(&Metrics::output_min_cosine)},
      {.id = "output_pearson",
       .label = "correlation of outputs (PCC)",
       .definition = "Pearson's correlation of all numbers of both outputs. Errors of some percent "
                     "leave it at 0.999: read it beside the relative error.",
       .better = Better::more,
       .of_outputs = true,
       .of = of_metrics(&Metrics::output_pearson)},
      {.id = "row_rel_error_p50",
       .label = "token error, median",
       .definition = "The median over tokens of ‖z̃ᵢ − zᵢ‖ / ‖zᵢ‖: each token by its own norm.",
       .of_outputs = true,
       .of = of_metrics(&Metrics::row_rel_error_p50)},
      {.id = "row_rel_error_p90",
       .label = "token error, 90 %",
       .definition = "Nine of ten tokens have at most this ‖z̃ᵢ − zᵢ‖ / ‖zᵢ‖: each token by its own "
                     "norm.",
       .of_outputs = true,
       .of = of_metrics(&Metrics::row_rel_error_p90)},
      {.id = "row_rel_error_max",
       .label = "token error, worst",
       .definition = "The largest ‖z̃ᵢ − zᵢ‖ / ‖zᵢ‖ of a token: each token by its own norm, so that "
                     "a token with a small output can have a large one.",
       .of_outputs = true,
       .of = of_metrics(&Metrics::row_rel_error_max)},
      {.id = "output_max_abs",
       .label = "largest output difference",
       .definition =
           "The largest |z̃ − z| of a single component of the output, at [token, channel].",
       .of_outputs = true,
       .of = [](const Evaluation& e) -> std::optional<Measured> {
         if (!e.metrics || !e.metrics->of_outputs()) return {};
         const Metrics& m = *e.metrics;
         return Measured{.value = m.output_max_abs,
                         .note = m.output_max_abs > 0
                                     ? "at [" + std::to_string(m.max_abs_row) + ", " +
                                           std::to_string(m.max_abs_col) + "]"
                                     : ""};
       }},
      {.id = "attention_rel_fro",
       .label = "relative attention error",
       .definition = "‖P̃ − P‖ / ‖P‖ in the Frobenius norm, over all pairs.",
       .of = of_metrics(&Metrics::attention_rel_fro)},
      {.id = "attention_tv",
       .label = "total variation, mean",
       .definition = "½ Σⱼ |P̃ᵢⱼ − Pᵢⱼ|, the mean over rows: the share of a query's attention that "
                     "is placed differently, where rows sum to 1. Always finite.",
       .of = of_metrics(&Metrics::attention_tv)},
      {.id = "attention_tv_p90",
       .label = "total variation, 90 %",
       .definition = "Nine of ten rows have at most this ½ Σⱼ |P̃ᵢⱼ − Pᵢⱼ|.",
       .of = [](const Evaluation& e) -> std::optional<Measured> {
         if (!e.metrics || !e.metrics->of_attention()) return {};
         const auto& [value, standard_error] = e.metrics->attention_tv_p90;
         return Measured{value, standard_error, sample_note(*e.metrics, "from")};
       }},
      {.id = "attention_tv_max",
       .label = "total variation, worst",
       .definition = "The largest ½ Σⱼ |P̃ᵢⱼ − Pᵢⱼ| of the rows.",
       .of = [](const Evaluation& e) -> std::optional<Measured> {
         if (!e.metrics || !e.metrics->of_attention()) return {};
         return Measured{.value = e.metrics->attention_tv_max,
                         .note = sample_note(*e.metrics, "of")};
       }},
      {.id = "attention_kl",
       .label = "KL(exact ‖ approximate), nats",
       .definition = "Σⱼ Pᵢⱼ ln(Pᵢⱼ / P̃ᵢⱼ), the mean over rows. Infinite in rows where P̃ is 0 on a "
                     "key that P attends, and so is the mean then. Not defined where P̃ has "
                     "negative entries.",
       .of = [](const Evaluation& e) -> std::optional<Measured> {
         if (!e.metrics || !e.metrics->of_attention()) return {};
         return measured(e.metrics->attention_kl, *e.metrics);
       }},
      {.id = "attention_reverse_kl",
       .label = "KL(approximate ‖ exact), nats",
       .definition =
           "Σⱼ P̃ᵢⱼ ln(P̃ᵢⱼ / Pᵢⱼ), the mean over rows. Finite also where keys are left out, "
           "but infinite where P̃ attends a key whose P is 0 in single precision. Not "
           "defined where P̃ has negative entries.",
       .of = [](const Evaluation& e) -> std::optional<Measured> {
         if (!e.metrics || !e.metrics->attention_reverse_kl) return {};
         return measured(*e.metrics->attention_reverse_kl, *e.metrics);
       }},
      {.id = "mass_kept",
       .label = "mass kept",
       .definition = "The exact attention that falls on pairs to which the variant gives weight, "
                     "the mean over rows. 1: nothing is dropped.",
       .better = Better::more,
       .of = of_metrics(&Metrics::mass_kept)},
      recall_of_top(0),
      recall_of_top(1),
      recall_of_top(2),
      {.id = "density",
       .label = "density",
       .definition = "Pairs to which the variant gives weight / n².",
       .better = Better::neither,
       .of = [](const Evaluation& e) -> std::optional<Measured> {
         if (!e.metrics || !e.metrics->of_attention()) return {};
         return Measured{e.metrics->density};
       }},
      {.id = "token_mass",
       .label = "mass on tokens",
       .definition = "The weight of a row of P̃ on the keys that are tokens, those of the window "
                     "where there is one; the mean over rows. Only of heads with compressed "
                     "entries.",
       .better = Better::neither,
       .of = of_sections([](const SectionMass& mass) { return &mass.tokens; })},
      {.id = "entry_mass",
       .label = "mass on compressed entries",
       .definition = "The weight of a row of P̃ on the keys that each stand for a run of tokens; "
                     "the mean over rows.",
       .better = Better::neither,
       .of = of_sections([](const SectionMass& mass) { return &mass.entries; })},
      {.id = "sink_mass",
       .label = "mass on the sink",
       .definition = "What a row of P̃ leaves of 1, for the sink; the mean over rows. Only of heads "
                     "with compressed entries and a sink.",
       .better = Better::neither,
       .of =
           of_sections([](const SectionMass& mass) { return mass.sink ? &*mass.sink : nullptr; })},
      {.id = "multiply_adds",
       .label = "multiply-adds",
       .definition =
           "Counted from the structure that is used: the evaluated pairs times (d + d_v), "
           "and what finding the structure takes.",
       .unit = Unit::count,
       .of = of_cost(&Cost::multiply_adds)},
      {.id = "ratio_to_exact",
       .label = "multiply-adds / exact",
       .definition = "Multiply-adds relative to those of exact attention under the same mask.",
       .of = of_cost(&Cost::ratio_to_exact)},
      {.id = "bytes",
       .label = "memory",
       .definition = "Resident in memory beside Q, K, V and Z.",
       .unit = Unit::bytes,
       .of = of_cost(&Cost::bytes)},
      {.id = "total_ms",
       .label = "time, total",
       .definition = "From Q, K and V to Z, without learning: the median over rounds.",
       .unit = Unit::milliseconds,
       .of = of_time([](const MeasuredTime& t) { return std::optional(t.timing.total); })},
      {.id = "apply_ms",
       .label = "time, apply",
       .definition = "From a plan that is there to Z: the median over rounds.",
       .unit = Unit::milliseconds,
       .of = of_time([](const MeasuredTime& t) { return std::optional(t.timing.apply_total); })},
      {.id = "total_speed_up",
       .label = "speed-up, total",
       .definition = std::string("Exact's total time over this one's") + speed_up_words + ".",
       .unit = Unit::times,
       .better = Better::more,
       .of = of_speed_up(&MeasuredTime::total_speed_up)},
      {.id = "apply_speed_up",
       .label = "speed-up, apply",
       .definition = std::string("Exact's time to apply over this one's") + speed_up_words + ".",
       .unit = Unit::times,
       .better = Better::more,
       .of = of_speed_up(&MeasuredTime::apply_speed_up)},
      {.id = "learning_ms",
       .label = "time, learning",
       .definition = "What the paper does beforehand, such as building a tree; it is in no total.",
       .unit = Unit::milliseconds,
       .of = of_time([](const MeasuredTime& t) { return std::optional(t.timing.learning); })},
  };
}

}  // namespace

const std::vector<Measure>& measures() {
  static const std::vector<Measure> table = make_measures();
  return table;
}

std::string to_text(const Measure& measure, const Measured& measured) {
  if (std::isnan(measured.value)) return format_number(measured.value);
  if (measure.unit == Unit::count) return format_count(measured.value, Zeros::drop);
  if (measure.unit == Unit::bytes) return format_bytes(measured.value, Zeros::drop);
  if (measure.unit == Unit::milliseconds) return format_time(measured.value);
  if (measured.ratio) return to_text(*measured.ratio);
  if (measure.unit == Unit::times) return format_number(measured.value, 2) + " ×";
  constexpr int digits = 4;
  std::string text = std::isinf(measured.value) ? "∞" : format_number(measured.value, digits);
  if (measured.standard_error > 0) text += " ± " + format_number(measured.standard_error, 2);
  return measured.note.empty() ? text : text + " " + measured.note;
}

}  // namespace fovea
