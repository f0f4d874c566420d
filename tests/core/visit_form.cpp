// What decides by the form of a plan names every form.
#include "plan/visit_form.h"

#include <doctest/doctest.h>

#include <string>

using namespace fovea;

namespace {

template <class... Cases>
constexpr bool compiles(Cases... cases) {
  return requires(const Plan& plan) {
    visit_form(plan, cases...);
  };
}

std::string name_of(const Plan& plan) {
  return visit_form(
      plan, [](const TilePlan&) { return "tiles"; }, [](const NodePlan&) { return "nodes"; },
      [](const ProjectedPlan&) { return "projected"; },
      [](const one_of<FeaturePlan, GatedPlan, RecurrentPlan, ImportedPlan> auto&) {
        return "other";
      });
}

}  // namespace

TEST_CASE("a function that misses a form of a plan does not compile") {
  const auto tiles = [](const TilePlan&) {};
  const auto nodes = [](const NodePlan&) {};
  const auto projected = [](const ProjectedPlan&) {};
  const auto features = [](const FeaturePlan&) {};
  const auto gated = [](const GatedPlan&) {};
  const auto recurrent = [](const RecurrentPlan&) {};
  const auto imported = [](const ImportedPlan&) {};
  static_assert(compiles(tiles, nodes, projected, features, gated, recurrent, imported));
  static_assert(!compiles(nodes, projected, features, gated, recurrent, imported));
  static_assert(!compiles(tiles, nodes, projected, features, gated, recurrent));
  static_assert(
      compiles(tiles, nodes, projected,
               [](const one_of<FeaturePlan, GatedPlan, RecurrentPlan, ImportedPlan> auto&) {}));
  static_assert(
      !compiles(tiles, nodes,
                [](const one_of<FeaturePlan, GatedPlan, RecurrentPlan, ImportedPlan> auto&) {}));
}

TEST_CASE("the case of a plan's form is called") {
  CHECK(name_of({.form = TilePlan{}}) == "tiles");
  CHECK(name_of({.form = NodePlan{}}) == "nodes");
  CHECK(name_of({.form = ProjectedPlan{}}) == "projected");
  CHECK(name_of({.form = FeaturePlan{}}) == "other");
  CHECK(name_of({.form = ImportedPlan{}}) == "other");
}

TEST_CASE("a plan gives its form only as what it is") {
  Plan plan{.form = NodePlan{.alpha = {1, 2}}};
  REQUIRE(plan.as<NodePlan>());
  CHECK(plan.as<NodePlan>()->alpha.size() == 2);
  CHECK(!plan.as<TilePlan>());
  plan.as<NodePlan>()->alpha.clear();
  CHECK(std::as_const(plan).as<NodePlan>()->alpha.empty());
}
