// Performer: positive random features whose product is exp(S) on average (FAVOR+).
#include <algorithm>
#include <cmath>

#include "data/draw_purpose.h"
#include "data/random.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct PerformerParameters {
  Index features = 256;

  static std::vector<TypedField<PerformerParameters>> fields() {
    auto features = int_field<PerformerParameters, Index>(
        "features", "Features m", "features", &PerformerParameters::features, 1, 4096, Axis::log2,
        "Random directions, orthogonal in groups of d, of which each gives a feature.");
    features.field.for_short_head = [](Index n) {
      return Value(static_cast<std::int64_t>(short_size(n, 256)));
    };
    features.field.worth_trying = [](Index n) {
      std::vector<Value> values;
      for (const int step : coarse_to_fine(3, 3)) {
        const Index m = step < 0 ? short_size(n, 256) >> -step : short_size(n, 256) << step;
        const Value value(static_cast<std::int64_t>(m));
        if (m >= 1 && std::ranges::find(values, value) == values.end()) values.push_back(value);
      }
      return values;
    };
    return {features};
  }
};

// Rows of a group of d are orthogonal, by Gram-Schmidt in float64; each then gets the norm of a
// Gaussian vector of its own, so that it is one by itself.
Matrix draw(Index m, Index d, std::uint64_t seed, Index head) {
  Random random(seed, stream_of(DrawPurpose::random_features, head));
  Matrix out(m, d);
  std::vector<std::vector<double>> group;
  const auto gaussian = [&] {
    std::vector<double> x(static_cast<std::size_t>(d));
    for (double& value : x) value = random.normal();
    return x;
  };
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
    return sum;
  };
  for (Index r = 0; r < m; ++r) {
    if (r % d == 0) group.clear();
    std::vector<double> x;
    double left = 0;
    while (left < 1e-12) {  // what is left of a vector that lies among the others is drawn again
      x = gaussian();
      const double whole = dot(x, x);
      for (int twice = 0; twice < 2; ++twice)  // the second time takes away what was rounded
        for (const auto& other : group) {
          const double along = dot(x, other);
          for (std::size_t c = 0; c < x.size(); ++c) x[c] -= along * other[c];
        }
      left = dot(x, x) / whole;
    }
    const double size = std::sqrt(dot(x, x));
    for (double& value : x) value /= size;
    const std::vector<double> other = gaussian();
    const double norm = std::sqrt(dot(other, other));
    for (Index c = 0; c < d; ++c)
      out(r, c) = static_cast<float>(norm * x[static_cast<std::size_t>(c)]);
    group.push_back(std::move(x));
  }
  return out;
}

Plan plan_performer(const Problem& problem, const PerformerParameters& p, Planning& planning) {
  const auto stage = planning.run.profile.stage("draw");
  const Index d = problem.d();
  const auto& given = planning.reals("features", {"m", "d"});
  FeaturePlan features{.map = FeatureMap::exponential};
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal, .form = {}};
  if (given.empty()) {
    features.directions = draw(p.features, d, planning.seed, problem.head);
  } else {
    features.directions = Matrix(static_cast<Index>(given.size()) / d, d);
    std::ranges::copy(given, features.directions.data());
  }
  const Matrix& g = features.directions;
  if (g.rows() != p.features)
    plan.notes.push_back("directions as given: features = " + std::to_string(g.rows()));
  plan.structure.set(
      {"features", {g.rows(), d}, std::vector<float>(g.data(), g.data() + g.rows() * d)});
  plan.form = std::move(features);
  return plan;
}

}  // namespace

Variant performer_variant() {
  return make_variant<PerformerParameters>(
      {.id = "performer",
       .label = "Performer",
       .paper = "Choromanski et al. 2021, lemma 1 and section 2.4 (FAVOR+)",
       .formula = "Pᵢⱼ = φ(qᵢ)·φ(kⱼ) / Σⱼ φ(qᵢ)·φ(kⱼ),  φᵣ(x) = exp(gᵣ·x̂ − |x̂|²/2)/√m,  x̂ = x√s",
       .summary = "m random features whose product is exp(S) on average.",
       .conditions = Conditions::none,
       .why_not_all = "it sums the features of all keys before a query meets them",
       .group = Group::baselines,
       .quick = true,
       .structure = {{.name = "features",
                      .element = Element::real,
                      .shapes = {{"m", "d"}},
                      .meaning = "The directions g."}}},
      plan_performer);
}

}  // namespace fovea
