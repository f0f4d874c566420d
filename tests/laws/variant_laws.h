// What the tests know of a variant that its own code does not: an independent formula for P,
// settings to try, settings that are exact, and what the rows of P sum to. A variant of the table
// without them fails the suite (planner_laws.cpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness.h"
#include "laws/cases.h"
#include "reference.h"

namespace fovea::test {

/// With these a variant equals exact attention, for heads of 63 tokens.
struct ExactSettings {
  Settings settings;
  Structure given = {};
  bool same_sums = true;  // false: equal in theory, by other sums of exp(S)
};
inline constexpr Index exact_settings_n = 63, exact_settings_d = 5;

struct VariantLaws {
  std::string id;
  std::function<Dense<double>(const Instance&)> truth;
  std::function<Dense<float>(const Instance&)> plain;  // the same formula in float32
  std::vector<Case> cases;
  std::vector<ExactSettings> exact_settings = {};
  bool never_exact = false;  // there are no such settings
  /// What it says of settings with other sums of rows is tested by laws of their own.
  bool other_sums_elsewhere = false;
  /// The sum of row i of P, if the cases say that rows need not sum to 1. Empty if only the formula
  /// knows.
  std::function<double(const Instance&, Index i)> row_sum = {};
  /// The largest magnitude of what is added up in an exponent; empty means that of the logits.
  std::function<double(const Instance&)> largest_exponent = {};
};

/// Those of the built-in variants, and then those that were added.
const std::vector<VariantLaws>& all_laws();
/// nullptr: there are none.
const VariantLaws* laws_of(const std::string& id);
/// Call it before the laws are used, as add_variant.
void add_laws(VariantLaws laws);

// One function a variant, in laws/variants.
VariantLaws exact_laws();
VariantLaws h1d_laws();
VariantLaws fixed_laws();
VariantLaws strided_laws();
VariantLaws tf_laws();
VariantLaws tc_laws();
VariantLaws hyper_laws();
VariantLaws window_laws();
VariantLaws longformer_laws();
VariantLaws bigbird_laws();
VariantLaws reformer_laws();
VariantLaws kde_laws();
VariantLaws linformer_laws();
VariantLaws sinkhorn_laws();
VariantLaws synthesizer_laws();
VariantLaws linear_laws();
VariantLaws performer_laws();
VariantLaws moba_laws();
VariantLaws vertical_slash_laws();
VariantLaws msa_laws();
VariantLaws nsa_laws();
VariantLaws dsa_laws();
VariantLaws xattention_laws();
VariantLaws sparge_laws();
VariantLaws quest_laws();
VariantLaws h2o_laws();
VariantLaws snapkv_laws();
VariantLaws expected_laws();
VariantLaws oracle_laws();
VariantLaws sta_laws();
VariantLaws svg_laws();
VariantLaws radial_laws();
VariantLaws svg2_laws();
VariantLaws delta_laws();
VariantLaws ssd_laws();
VariantLaws loglinear_laws();
VariantLaws int8_laws();
VariantLaws int4_laws();
VariantLaws fp8_laws();
VariantLaws nvfp4_laws();

}  // namespace fovea::test
