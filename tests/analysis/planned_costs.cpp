// Costs of whole plans as equalities, from the formulas of the papers.
#include <doctest/doctest.h>

#include <string>

#include "analysis/cost.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Counted {
  static constexpr double n = 256, d = 3, dv = 2;
  Plan plan;
  Cost cost;

  Counted(const std::string& id, const Settings& settings, bool causal = false)
      : plan(*make_plan(*backends().front(), make_data(Data::gaussian, 256, 3, 2, causal), id,
                        settings)),
        cost(count_cost(plan, 3, 2)) {}

  /// Beside the products of pairs.
  double other_multiply_adds() const { return cost.multiply_adds - cost.pairs * (d + dv); }
  /// Beside what the plan itself holds.
  double other_bytes() const {
    double held = 0;
    for (const Pass& pass : std::get<TilePlan>(plan.form).passes)
      held += static_cast<double>(sizeof(Tile) * pass.tiles.size() +
                                  sizeof(std::int32_t) * (pass.rows.size() + pass.cols.size()) +
                                  sizeof(float) * pass.weight.size());
    return cost.bytes - held;
  }
};

}  // namespace

TEST_CASE("cost: routing takes a product for each child of a node, and one where there are two") {
  constexpr double n = Counted::n, d = Counted::d, dv = Counted::dv;
  const struct {
    Settings settings;
    double products, nodes, depths;  // of a token; of the tree with and without its root
  } trees[] = {{{{"height", "3"}}, 3, 15, 4},
               {{{"branching", "4,4"}}, 4 + 4, 1 + 4 + 16, 3},
               {{{"branching", "3,2,5"}}, 3 + 2 + 5, 1 + 3 + 6 + 30, 4}};
  for (const char* kind : {"median", "random"})
    for (const auto& tree : trees) {
      CAPTURE(kind);
      CAPTURE(tree.products);
      Settings settings = tree.settings;
      settings.emplace_back("tree", kind);
      const double routing = 2 * n * d * tree.products;
      CHECK(Counted("tf", settings).other_multiply_adds() == routing);
      // Every value is added to its leaf, every node to its parent, and read once a depth.
      CHECK(Counted("tc", settings).cost.multiply_adds ==
            routing + (n + tree.nodes) * dv + n * tree.depths * dv);
    }
}

TEST_CASE("cost: h1d adds up the levels below its top, of queries only where they are coarse") {
  constexpr double n = Counted::n, d = Counted::d, dv = Counted::dv;
  // Blocks of 16 among 256 tokens: levels of 256, 128, 64 and 32 clusters.
  const double below = 256 + 128 + 64, coarse = 128 + 64 + 32;
  const struct {
    bool causal;
    const char* query;
    double queries_added, queries_merged;  // whether Q is averaged, and Z handed down
  } cases[] = {
      {false, "mean", 1, 1}, {true, "mean", 1, 1}, {true, "first", 0, 1}, {true, "fine", 0, 0}};
  for (const char* structure : {"banded", "nested"})
    for (const auto& c : cases) {
      CAPTURE(structure);
      CAPTURE(c.causal);
      CAPTURE(c.query);
      Settings settings{{"block", "16"}, {"structure", structure}, {"causal_query", c.query}};
      const Counted h1d("h1d", settings, c.causal);
      CHECK(h1d.other_multiply_adds() ==
            below * (d + dv) + below * (c.queries_added * d + c.queries_merged * dv));
      CHECK(h1d.other_bytes() ==
            4 * (coarse * (d + dv) + coarse * c.queries_merged * (c.queries_added * d + dv + 2) +
                 2 * n));
    }
}

TEST_CASE(
    "cost: sinkhorn mixes all keys for each block, and once more where the last one is shorter") {
  constexpr double n = Counted::n, d = Counted::d, iterations = 5;
  const struct {
    std::string block;
    double blocks, mixtures;
  } cases[] = {{"32", 8, 8}, {"48", 6, 12}};
  for (const auto& [size, blocks, mixtures] : cases) {
    const std::string& block = size;
    CAPTURE(block);
    const Counted sinkhorn("sinkhorn", {{"block", block}, {"iterations", "5"}});
    // Means of Q and K, their products, two divisions of every entry in each round, mixtures.
    CHECK(sinkhorn.plan.planning_multiply_adds ==
          2 * n * d + blocks * blocks * d + 2 * blocks * blocks * iterations + mixtures * n * d);
  }
}

TEST_CASE("cost: of unequal lengths queries and keys count for themselves") {
  constexpr double d = 3, dv = 2, nodes = 1 + 3 + 6, depths = 3;
  for (const auto& [queries, keys] : {std::pair<Index, Index>{40, 256}, {256, 40}}) {
    const Problem problem =
        make_problem(gaussian(queries, 3, 1), gaussian(keys, 3, 2), gaussian(keys, 2, 3));
    const auto nq = static_cast<double>(queries), nk = static_cast<double>(keys);
    CAPTURE(nq);
    const auto cost_of = [&](const char* id, const Settings& settings) {
      return count_cost(*make_plan(*backends().front(), problem, id, settings), 3, 2);
    };
    const Settings tree{{"branching", "3,2"}, {"tree", "random"}};
    const double routing = (nq + nk) * d * (3 + 2);
    const Cost exact = cost_of("exact", {}), fine = cost_of("tf", tree),
               coarse = cost_of("tc", tree);
    CHECK(exact.multiply_adds == nq * nk * (d + dv));
    CHECK(fine.multiply_adds == routing + fine.pairs * (d + dv));
    // Every value is added to its leaf, every node to its parent, and read once a depth by a query.
    CHECK(coarse.multiply_adds == routing + (nk + nodes) * dv + nq * depths * dv);
    CHECK(coarse.exact_multiply_adds == exact.multiply_adds);
  }
}
