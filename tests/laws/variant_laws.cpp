#include "laws/variant_laws.h"

#include <algorithm>

namespace fovea::test {
namespace {

std::vector<VariantLaws>& list() {
  static std::vector<VariantLaws> laws{exact_laws(),
                                       h1d_laws(),
                                       fixed_laws(),
                                       strided_laws(),
                                       tf_laws(),
                                       tc_laws(),
                                       hyper_laws(),
                                       window_laws(),
                                       longformer_laws(),
                                       bigbird_laws(),
                                       reformer_laws(),
                                       kde_laws(),
                                       linformer_laws(),
                                       sinkhorn_laws(),
                                       synthesizer_laws(),
                                       linear_laws(),
                                       performer_laws(),
                                       moba_laws(),
                                       vertical_slash_laws(),
                                       msa_laws(),
                                       nsa_laws(),
                                       dsa_laws(),
                                       xattention_laws(),
                                       sparge_laws(),
                                       quest_laws(),
                                       h2o_laws(),
                                       snapkv_laws(),
                                       expected_laws(),
                                       oracle_laws(),
                                       sta_laws(),
                                       svg_laws(),
                                       radial_laws(),
                                       svg2_laws(),
                                       delta_laws(),
                                       ssd_laws(),
                                       loglinear_laws(),
                                       int8_laws(),
                                       int4_laws(),
                                       fp8_laws(),
                                       nvfp4_laws()};
  return laws;
}

}  // namespace

const std::vector<VariantLaws>& all_laws() {
  return list();
}

const VariantLaws* laws_of(const std::string& id) {
  const auto found = std::ranges::find(list(), id, &VariantLaws::id);
  return found == list().end() ? nullptr : &*found;
}

void add_laws(VariantLaws laws) {
  list().push_back(std::move(laws));
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const VariantLaws& laws : all_laws())
      all.insert(all.end(), laws.cases.begin(), laws.cases.end());
    return all;
  }();
  return cases;
}

const std::vector<Shape>& all_shapes() {
  static const std::vector<Shape> list{
      {1, 3, 5},    {2, 1, 1},  {3, 3, 2},   {15, 64, 3},  {16, 3, 16},   {17, 80, 17}, {63, 1, 64},
      {64, 64, 64}, {65, 3, 1}, {97, 80, 5}, {127, 3, 80}, {200, 64, 31}, {257, 3, 20}};
  return list;
}

std::vector<bool> masks_of(const std::string& id) {
  const Variant& variant = find_variant(id);
  std::vector<bool> masks;
  if (variant.has_bidirectional_form()) masks.push_back(false);
  if (variant.has_causal_form()) masks.push_back(true);
  return masks;
}

bool mask_of(const Case& c, bool causal) {
  const std::vector<bool> masks = masks_of(c);
  return causal ? masks.back() : masks.front();
}

std::vector<bool> masks_of(const Case& c) {
  return c.has_causal_form ? masks_of(c.id) : std::vector{false};
}

std::string describe(const Case& c) {
  std::string text = c.id;
  for (const auto& [id, value] : c.settings) text += " " + id + "=" + value;
  return text;
}

}  // namespace fovea::test
