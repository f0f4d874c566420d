// Linear attention: features elu + 1 in place of exp(S).
#include "variants/variant.h"

namespace fovea {
namespace {

struct LinearParameters {
  static std::vector<TypedField<LinearParameters>> fields() { return {}; }
};

Plan plan_linear(const Problem& problem, const LinearParameters&, Planning&) {
  return {.lengths = problem.lengths(), .causal = problem.causal, .form = FeaturePlan{}};
}

}  // namespace

Variant linear_variant() {
  return make_variant<LinearParameters>(
      {.id = "linear",
       .label = "Linear",
       .paper = "Katharopoulos et al. 2020, Eq. 5 and 7",
       .formula = "Pᵢⱼ = φ(qᵢ)·φ(kⱼ) / Σⱼ φ(qᵢ)·φ(kⱼ),  φ(x) = elu(x) + 1",
       .summary = "A product of positive features of query and key, in place of exp.",
       .conditions = Conditions::none,
       .why_not_all = "it sums the features of all keys before a query meets them",
       .group = Group::baselines,
       .quick = true},
      plan_linear);
}

}  // namespace fovea
