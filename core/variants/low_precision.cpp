// Exact attention of queries, keys and values that are rounded to 8 or 4 bits, as kernels round
// them before they multiply: INT8 and INT4 (SageAttention), FP8 (FlashAttention-3, caches of
// servers) and NVFP4 (SageAttention3). Weights keep their precision unless they are rounded, too;
// sums always do.
#include <string>
#include <utility>

#include "analysis/rounding_figures.h"
#include "analysis/support.h"
#include "analysis/zeroed_weights.h"
#include "variants/rounded_head.h"
#include "variants/variant.h"

namespace fovea {
namespace {

enum class Smoothing { smoothed, unsmoothed };

template <class P>
TypedField<P> smoothing_field() {
  auto made = choice_field<P, Smoothing>(
      "keys", "Keys", &P::keys, {"smoothed", "unsmoothed"},
      "smoothed: the mean key is subtracted before keys are rounded, and its products are added to "
      "the logits. This changes no weight, and scales are smaller if keys have a part in common.");
  made.field.worth_trying = try_choices(made.field);
  return made;
}

struct BlockSizes {
  Index query_block = 128, key_block = 64;
};

template <class P>
std::vector<TypedField<P>> block_fields() {
  return {int_field<P, Index>("query_block", "Queries per scale", "queries", &P::query_block, 1,
                              1 << 20, Axis::log2, "Consecutive queries that share a scale."),
          int_field<P, Index>("key_block", "Keys per scale", "keys", &P::key_block, 1, 1 << 20,
                              Axis::log2, "Consecutive keys that share a scale.")};
}

enum class Weights { as_given, rounded };

/// `rounded` names the format, and `as_whom` those who round to it.
template <class P>
TypedField<P> weights_field(const char* rounded, const std::string& as_whom) {
  return choice_field<P, Weights>(
      "weights", "Weights", &P::weights, {"as_given", rounded},
      std::string(rounded) + ": weights are rounded before they are multiplied by values, " +
          as_whom + ". Rows are divided by the sums of their weights before that.");
}

enum class ValueFormat { as_given, fp8 };

/// SageAttention leaves values as they are; SageAttention2, which has INT4, rounds them to FP8.
template <NumberFormat format>
struct IntegerParameters : BlockSizes {
  Smoothing keys = Smoothing::smoothed;
  ValueFormat values = format == NumberFormat::int4 ? ValueFormat::fp8 : ValueFormat::as_given;
  Weights weights = Weights::as_given;

  static std::vector<TypedField<IntegerParameters>> fields() {
    std::vector<TypedField<IntegerParameters>> fields{smoothing_field<IntegerParameters>()};
    for (TypedField<IntegerParameters>& field : block_fields<IntegerParameters>())
      fields.push_back(std::move(field));
    fields.push_back(choice_field("values", "Values", &IntegerParameters::values,
                                  {"as_given", "fp8"},
                                  "fp8: values are rounded to FP8 E4M3, with a scale for each "
                                  "channel, as SageAttention2 does."));
    fields.push_back(weights_field<IntegerParameters>(
        "fp8", "to FP8 E4M3, the largest of a row being 448, as SageAttention2 does"));
    return fields;
  }
};

enum class RoundedTensors { qkv, kv };

template <class P>
TypedField<P> tensors_field() {
  return choice_field<P, RoundedTensors>(
      "rounded", "Rounded", &P::rounded, {"qkv", "kv"},
      "qkv: queries, keys and values. kv: keys and values, as a cache holds them.");
}

enum class ScaleOf { tensor, block };
enum class ScaleOfValues { like_keys, channel };

struct Fp8Parameters : BlockSizes {
  ScaleOf scale = ScaleOf::tensor;
  ScaleOfValues value_scale = ScaleOfValues::like_keys;
  Smoothing keys = Smoothing::unsmoothed;
  RoundedTensors rounded = RoundedTensors::qkv;
  Weights weights = Weights::as_given;

  static std::vector<TypedField<Fp8Parameters>> fields() {
    std::vector<TypedField<Fp8Parameters>> fields{choice_field(
        "scale", "A scale for each", &Fp8Parameters::scale, {"tensor", "block"},
        "tensor: queries, keys and values have one scale each. block: consecutive tokens have "
        "one.")};
    fields.front().field.worth_trying = try_choices(fields.front().field);
    fields.push_back(smoothing_field<Fp8Parameters>());
    for (TypedField<Fp8Parameters>& field : block_fields<Fp8Parameters>()) {
      field.field.only_with = {"scale", "block"};
      fields.push_back(std::move(field));
    }
    fields.push_back(choice_field("value_scale", "Scales of values", &Fp8Parameters::value_scale,
                                  {"like_keys", "channel"},
                                  "like_keys: as keys have them. channel: one for each column of "
                                  "the values."));
    fields.push_back(tensors_field<Fp8Parameters>());
    fields.push_back(weights_field<Fp8Parameters>(
        "fp8", "to FP8 E4M3, the largest of a row being 256, as FlashAttention-3 does"));
    return fields;
  }
};

struct Nvfp4Parameters {
  Smoothing keys = Smoothing::smoothed;
  RoundedTensors rounded = RoundedTensors::qkv;
  Weights weights = Weights::as_given;

  static std::vector<TypedField<Nvfp4Parameters>> fields() {
    return {smoothing_field<Nvfp4Parameters>(), tensors_field<Nvfp4Parameters>(),
            weights_field<Nvfp4Parameters>(
                "nvfp4",
                "with a scale for each 16 keys and the largest of a row being 448·6, as "
                "SageAttention3 does")};
  }
};

Plan plan_low_precision(const Problem& problem, const HeadRounding& rule, const char* format,
                        Planning& planning) {
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal, .form = {}};
  plan.form = TilePlan{.passes = {pass_of_all_pairs(plan)}};
  round_head(plan, problem, rule, planning);
  plan.notes.push_back(std::string("costs and times are not those of a kernel in ") + format);
  if (rule.weights)
    plan.notes.push_back(
        "weights are rounded relative to the largest of their row, where kernels know only the "
        "largest so far; rows need not sum to 1");
  if (problem.causal || problem.mask)
    plan.notes.push_back(std::string(rule.smooth_k ? "scales and the mean key are" : "scales are") +
                         " found from later and masked tokens, too");
  return plan;
}

template <NumberFormat format>
Plan plan_integers(const Problem& problem, const IntegerParameters<format>& p, Planning& planning) {
  HeadRounding rule{.q = RoundingRule{format, {p.query_block, problem.d()}},
                    .k = {format, {p.key_block, problem.d()}},
                    .smooth_k = p.keys == Smoothing::smoothed};
  if (p.weights == Weights::rounded)
    rule.weights = WeightRounding{.top = largest_of(NumberFormat::e4m3)};
  if (p.values == ValueFormat::fp8) rule.v = RoundingRule{NumberFormat::e4m3, {problem.keys(), 1}};
  return plan_low_precision(problem, rule, format == NumberFormat::int8 ? "INT8" : "INT4",
                            planning);
}

Plan plan_fp8(const Problem& problem, const Fp8Parameters& p, Planning& planning) {
  const bool blocks = p.scale == ScaleOf::block;
  const Index queries = blocks ? p.query_block : problem.queries(),
              keys = blocks ? p.key_block : problem.keys();
  const ScaleBlocks of_values = p.value_scale == ScaleOfValues::channel
                                    ? ScaleBlocks{problem.keys(), 1}
                                    : ScaleBlocks{keys, problem.dv()};
  HeadRounding rule{.k = {NumberFormat::e4m3, {keys, problem.d()}},
                    .v = RoundingRule{NumberFormat::e4m3, of_values},
                    .smooth_k = p.keys == Smoothing::smoothed};
  if (p.rounded == RoundedTensors::qkv)
    rule.q = RoundingRule{NumberFormat::e4m3, {queries, problem.d()}};
  if (p.weights == Weights::rounded) rule.weights = WeightRounding{.top = 256};
  return plan_low_precision(problem, rule, "FP8", planning);
}

/// Numbers share a scale along what the products sum over: channels of queries and keys, keys of
/// values.
Plan plan_nvfp4(const Problem& problem, const Nvfp4Parameters& p, Planning& planning) {
  constexpr Index share = 16;
  const RoundingRule along_channels{NumberFormat::e2m1, {1, share}, true};
  HeadRounding rule{.k = along_channels,
                    .v = RoundingRule{NumberFormat::e2m1, {share, 1}, true},
                    .smooth_k = p.keys == Smoothing::smoothed};
  if (p.rounded == RoundedTensors::qkv) rule.q = along_channels;
  if (p.weights == Weights::rounded)
    rule.weights = WeightRounding{
        .top = largest_of(NumberFormat::e4m3) * largest_of(NumberFormat::e2m1), .share = share};
  return plan_low_precision(problem, rule, "NVFP4", planning);
}

/// The fields that all of them share.
Variant low_precision(Variant row) {
  row.unequal_lengths = UnequalLengths::all;
  row.any_keys = true;
  row.group = Group::precisions;
  row.quick = true;
  row.diagnostics = {rounding_figures, zeroed_weight_figures};
  return row;
}

/// The setting with which rows need not sum to 1.
std::string rounded_weights(const char* format) {
  return std::string("weights = ") + format;
}

template <NumberFormat format>
Variant integer_variant(const std::string& bits, const char* paper) {
  return make_variant<IntegerParameters<format>>(
      low_precision(
          {.id = "int" + bits,
           .label = "INT" + bits,
           .paper = paper,
           .formula = "P = softmax(s Q′ K′ᵀ + s q·m),  K′ = R(K − m),  R(x) = δ round(x / "
                      "δ),  δ = max|x| / " +
                      std::to_string(static_cast<int>(largest_of(format))),
           .summary =
               "Queries and keys quantised to " + bits + " bits, with a scale for each block.",
           .other_sums_with = rounded_weights("fp8")}),
      plan_integers<format>);
}

}  // namespace

Variant int8_variant() {
  return integer_variant<NumberFormat::int8>("8", "Zhang et al. 2025 (SageAttention)");
}

Variant int4_variant() {
  return integer_variant<NumberFormat::int4>("4", "Zhang et al. 2025 (SageAttention2)");
}

Variant fp8_variant() {
  return make_variant<Fp8Parameters>(
      low_precision(
          {.id = "fp8",
           .label = "FP8",
           .paper = "Shah et al. 2024 (FlashAttention-3), section 3.3",
           .formula = "P = softmax(s Q′ K′ᵀ),  Z = P V′,  x′ = δ E4M3(x / δ),  δ = max|x| / 448;  "
                      "smoothed keys as in int8",
           .summary = "Queries, keys and values quantised to FP8 E4M3, with a scale for each "
                      "tensor or block.",
           .other_sums_with = rounded_weights("fp8")}),
      plan_fp8);
}

Variant nvfp4_variant() {
  return make_variant<Nvfp4Parameters>(
      low_precision({.id = "nvfp4",
                     .label = "NVFP4",
                     .paper = "Zhang et al. 2025 (SageAttention3); NVIDIA 2025 (NVFP4)",
                     .formula = "P = softmax(s Q′ K′ᵀ + s q·m),  Z = P V′,  K′ = R(K − m),  R(x) = "
                                "δ E2M1(x / δ),  δ = t E4M3(max₁₆|x| / 6t),  t = max|x| / (448·6)",
                     .summary =
                         "Queries, keys and values quantised to FP4 E2M1, with a scale for each 16 "
                         "numbers.",
                     .other_sums_with = rounded_weights("nvfp4")}),
      plan_nvfp4);
}

}  // namespace fovea
