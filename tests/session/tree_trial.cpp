// Trees that are tried on heads from which they were not learned.
#include "session/tree_trial.h"

#include <doctest/doctest.h>

#include <cmath>

#include "harness.h"
#include "session/settings.h"
#include "variants/learned_tree.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double rounding = 64 * 0x1p-24;  // sums of 64 terms, relative to outputs of 1

/// Half of the tokens have the key k, the value 1 and the query q; the others have the opposite of
/// each.
Problem two_halves(std::pair<float, float> q, std::pair<float, float> k) {
  constexpr Index n = 64;
  Matrix queries(n, 2), keys(n, 2), values(n, 1);
  for (Index i = 0; i < n; ++i) {
    const float sign = i < n / 2 ? 1.0f : -1.0f;
    queries(i, 0) = sign * q.first;
    queries(i, 1) = sign * q.second;
    keys(i, 0) = sign * k.first;
    keys(i, 1) = sign * k.second;
    values(i, 0) = sign;
  }
  return make_problem(std::move(queries), std::move(keys), std::move(values));
}

ComputeRequest request_for(const std::string& id) {
  const Variant& variant = find_variant(id);
  return {.variant = &variant, .values = values_for_length(variant, 64, {{"height", "1"}})};
}

Structure learned_for(const Problem& problem, const std::string& id) {
  const Backend& backend = *backends().front();
  const ComputeRequest request = request_for(id);
  const Fit fit = fit_of(*request.variant, request.values);
  Profile profile;
  Run run{profile};
  Trainer trainer =
      make_trainer(fit, learning_options(fit.parameters, fit.goal, 0, 0), problem, 0, backend, run);
  trainer.learn(10, run);
  return tensors_of(trainer.best());
}

}  // namespace

TEST_CASE("a learned tree is tried on a head that it sorts well, badly, or not at all") {
  Profile profile;
  Run run{profile};
  const Structure tree = learned_for(two_halves({10, 0}, {10, 0}), "tf");
  REQUIRE(tree.has("tree_weight"));
  // Weights of the other half are e^-141 and less: 0 in floats. A leaf of each half is 2 of 4
  // blocks of pairs, with 2 features and 1 value, and to sort 2 x 64 tokens takes 2 each.
  const double half = (64.0 * 32 * 3 + 2 * 64 * 2) / (64.0 * 64 * 3);
  const struct {
    std::pair<float, float> q, k;
    TriedTree learned, median;
  } heads[] = {// as learned, and with other numbers
               {{10, 0}, {10, 0}, {0, half}, {0, half}},
               {{20, 1}, {20, -1}, {0, half}, {0, half}},
               // The first feature sends each query to the keys of the other half: z is -z, an
               // error of 2. The second is that by which the median tree sorts.
               {{-1, 20}, {1, 20}, {2, half}, {0, half}}};
  for (const auto& head : heads)
    for (const auto& backend : backends()) {
      ComputeRequest with_tree = request_for("tf");
      with_tree.given = tree;  // of which the median tree takes nothing
      const TreeTrial trial(two_halves(head.q, head.k), with_tree, *backend, run);
      const TriedTree learned = trial.tried(tree, *backend, run);
      CHECK(std::abs(learned.error - head.learned.error) <= rounding);
      CHECK(learned.cost == head.learned.cost);
      CHECK(std::abs(trial.median().error - head.median.error) <= rounding);
      CHECK(trial.median().cost == head.median.cost);
    }
}

TEST_CASE("a tree that sorts all tokens of a head together is exact there, and costs more") {
  Profile profile;
  Run run{profile};
  const Structure tree = learned_for(two_halves({10, 0}, {10, 0}), "tf");
  for (const auto& backend : backends()) {
    const TreeTrial trial(two_halves({0, 10}, {0, 10}), request_for("tf"), *backend, run);
    const TriedTree learned = trial.tried(tree, *backend, run);
    CHECK(learned.error <= rounding);
    CHECK(learned.cost == (64.0 * 64 * 3 + 2 * 64 * 2) / (64.0 * 64 * 3));
    CHECK(trial.median().error <= rounding);
    CHECK(trial.median().cost < 0.6);
  }
}

TEST_CASE("the weights of depths are learned with a tree, and tried with it") {
  Profile profile;
  Run run{profile};
  const Problem halves = two_halves({10, 0}, {10, 0});
  const Backend& backend = *backends().front();
  Structure tree = learned_for(halves, "tc");
  REQUIRE(tree.has("alpha"));
  const TreeTrial trial(halves, request_for("tc"), backend, run);
  // The mean of all values is 0, that of a leaf is the exact output: z is alpha_1 of it.
  CHECK(std::abs(trial.median().error - 0.5) <= rounding);  // alpha_1 = 1/2
  const float alpha = tree.reals("alpha")[1];
  CHECK(alpha > 0.5f);
  CHECK(std::abs(trial.tried(tree, backend, run).error - std::abs(1.0 - double(alpha))) <=
        rounding);
}

TEST_CASE("a tree is tried on heads with values, and with the features that it sorts by") {
  CHECK(why_not_tried_on(make_data(Data::gaussian, 16, 4, 2, false), 4).empty());
  CHECK(why_not_tried_on(make_data(Data::gaussian, 16, 4, 2, false), 8).find("4 features") !=
        std::string::npos);
  CHECK(why_not_tried_on(make_data(Data::gaussian, 16, 4, 0, false), 4) == no_values);
}
