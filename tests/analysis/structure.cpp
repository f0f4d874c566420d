// Block masks, row sizes, level owners and cost, against element by element counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/block_mask.h"
#include "analysis/cost.h"
#include "analysis/support.h"
#include "cases.h"
#include "pairs.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Plan plan_of(const std::string& id, const Settings& settings, Index n, bool causal) {
  const Problem problem = make_data(Data::gaussian, n, 2, 2, causal);
  return *make_plan(*backends().front(), problem, id, settings);
}

double pairs_of(const Plan& plan) {
  double sum = 0;
  for (const Pass& pass : std::get<TilePlan>(plan.form).passes)
    for (const Tile& tile : pass.tiles) sum += count_pairs(pass, tile, plan.mask.get());
  return sum;
}

}  // namespace

TEST_CASE("the element mask is where P is not 0, row sizes are its sums") {
  for_small_instances([](const Instance& x) {
    INFO(x.variant->id << " n=" << x.plan->lengths.n() << " causal=" << x.plan->causal);
    const Index n = x.plan->lengths.n();
    const Matrix p = x.all(), mask = element_mask(*x.plan, {0, n}, {0, n});
    const Support support(*x.plan);
    bool same = true;
    for (Index i = 0; i < n; ++i) {
      Index size = 0;
      for (Index j = 0; j < n; ++j) {
        same &= (mask(i, j) == 1) == (p(i, j) != 0);
        same &= pair_info(support, i, j).covered == (p(i, j) != 0);
        size += p(i, j) != 0;
      }
      CHECK(support.count(i) == size);
    }
    CHECK(same);
  });
}

TEST_CASE("pairs of an exact segment of causal HyperAttention are of a block, not of a bucket") {
  const Problem problem = make_data(Data::gaussian, 64, 8, 8, true);
  const Instance x = make_instance(*backends().front(), problem, "hyper",
                                   {{"min_length", "16"}, {"block", "4"}, {"samples", "4"}});
  CHECK(pair_info(*x.plan, 3, 1).place == "block 0");
  CHECK(pair_info(*x.plan, 63, 60).place.starts_with("block"));
}

TEST_CASE("a block's fill is the mean of the element mask, for any view and block") {
  for_small_instances([](const Instance& x) {
    INFO(x.variant->id << " n=" << x.plan->lengths.n() << " causal=" << x.plan->causal);
    const Index n = x.plan->lengths.n();
    for (const Index block : {1, 3, 8})
      for (const auto& [rows, cols] :
           {std::pair{IndexRange{0, n}, IndexRange{0, n}},
            std::pair{IndexRange{n / 3, n}, IndexRange{n / 4, n - n / 5}}}) {
        const Matrix mask = element_mask(*x.plan, rows, cols),
                     fill = block_fill(*x.plan, rows, cols, block);
        Matrix sums(fill.rows(), fill.cols()), areas(fill.rows(), fill.cols());
        for (Index i = 0; i < mask.rows(); ++i)
          for (Index j = 0; j < mask.cols(); ++j) {
            sums(i / block, j / block) += mask(i, j);
            areas(i / block, j / block) += 1;
          }
        for (Index r = 0; r < fill.rows(); ++r)
          for (Index c = 0; c < fill.cols(); ++c) CHECK(fill(r, c) == sums(r, c) / areas(r, c));
      }
  });
}

TEST_CASE("levels are owned as the hierarchies say") {
  const Index n = 64, block = 4;
  for (const bool banded : {false, true}) {
    const Plan plan =
        plan_of("h1d", {{"block", "4"}, {"structure", banded ? "banded" : "nested"}}, n, false);
    const Matrix owner = level_owner(plan, {0, n}, {0, n});
    bool same = true;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        const auto bi = static_cast<std::uint64_t>(i / block),
                   bj = static_cast<std::uint64_t>(j / block);
        int level = std::max(0, static_cast<int>(std::bit_width(bi ^ bj)) - 1);
        if (banded)
          for (level = 0; std::llabs(static_cast<long long>(bi >> level) -
                                     static_cast<long long>(bj >> level)) > 1;)
            ++level;
        same &= static_cast<int>(owner(i, j)) == level;
      }
    CHECK(same);
  }
}

TEST_CASE("pairs of the factorized sets are those of the paper's example") {
  const Index n = 1024;
  const Settings fixed{{"stride", "128"}, {"summary", "8"}}, strided{{"stride", "128"}};
  const auto with = [](Settings s, const char* heads) {
    s.emplace_back("heads", heads);
    return s;
  };
  CHECK(pairs_of(plan_of("fixed", with(fixed, "first"), n, true)) == 66048);
  CHECK(pairs_of(plan_of("fixed", with(fixed, "second"), n, true)) == 28960);
  CHECK(pairs_of(plan_of("fixed", with(fixed, "merged"), n, true)) == 94720);
  CHECK(pairs_of(plan_of("strided", with(strided, "first"), n, true)) == 122944);
  CHECK(pairs_of(plan_of("strided", with(strided, "second"), n, true)) == 4608);
  CHECK(pairs_of(plan_of("strided", with(strided, "merged"), n, true)) == 126528);
  // Row 300 of the second fixed set: columns 120..127 and 248..255.
  const Matrix row =
      element_mask(plan_of("fixed", with(fixed, "second"), n, true), {300, 301}, {0, n});
  for (Index j = 0; j < n; ++j)
    CHECK(row(0, j) == ((j >= 120 && j < 128) || (j >= 248 && j < 256)));
}

TEST_CASE("sinks are attended by every query, and counted once") {
  const Index n = 1024;
  const Plan plan = plan_of("window", {{"width", "128"}, {"sinks", "4"}}, n, true);
  // Rows 0 to 127 have i + 1 keys of the window, the others 129. Beyond it lie one, two and three
  // sinks of rows 129, 130 and 131, and four of the 892 later ones.
  const double pairs = 128 * 129 / 2 + 896 * 129 + 1 + 2 + 3 + 892 * 4;
  CHECK(pairs_of(plan) == pairs);
  CHECK(count_cost(plan, 5, 7).multiply_adds == pairs * (5 + 7));
  const Matrix row = element_mask(plan, {300, 301}, {0, n});
  for (Index j = 0; j < n; ++j) CHECK(row(0, j) == (j < 4 || (j >= 172 && j <= 300)));
  const Matrix fill = block_fill(plan, {0, n}, {0, n}, 64);
  CHECK(fill(15, 0) == 4.0f / 64);  // the sinks alone
  CHECK(fill(15, 1) == 0);
  CHECK(fill(1, 0) == 1);
  // A window that reaches all tokens has nothing left to add.
  CHECK(pairs_of(plan_of("window", {{"width", "1023"}, {"sinks", "4"}}, n, true)) == n * 1025 / 2);
}

TEST_CASE("without coarse levels the pairs are the sum of the row sizes") {
  for_small_instances([](const Instance& x) {
    const auto* tiles = std::get_if<TilePlan>(&x.plan->form);
    if (!tiles || std::ranges::any_of(tiles->passes, [](const Pass& p) { return p.key_level > 0; }))
      return;
    INFO(x.variant->id << " n=" << x.plan->lengths.n() << " causal=" << x.plan->causal);
    double sum = 0;
    const Support support(*x.plan);
    for (Index i = 0; i < x.plan->lengths.n(); ++i) sum += static_cast<double>(support.count(i));
    CHECK(pairs_of(*x.plan) == sum);
    CHECK(count_cost(*x.plan, 3, 4).pairs == sum);
  });
}

TEST_CASE("the cost of exact attention is its closed form") {
  for (const bool causal : {false, true})
    for (const Index n : {1, 37, 1000})
      CHECK(count_cost(plan_of("exact", {}, n, causal), 5, 7).ratio_to_exact() == 1);
}

TEST_CASE("hashing, routing and coarsening are counted") {
  const double n = 256, d = 2, dv = 2;
  const Plan hyper = plan_of(
      "hyper", {{"block", "32"}, {"samples", "1"}, {"projections", "5"}, {"min_length", "0"}}, 256,
      false);
  const Cost cost = count_cost(hyper, 2, 2);
  CHECK(cost.multiply_adds == cost.pairs * (d + dv) + 2 * n * d * 5);
  const Plan tf = plan_of("tf", {{"height", "3"}}, 256, false);
  const Cost tree = count_cost(tf, 2, 2);
  CHECK(tree.multiply_adds - tree.pairs * (d + dv) >= 2 * n * d * 3);
  // Leaves that are given cost nothing to route; half of them, half of it.
  const Problem problem = make_data(Data::gaussian, 256, 2, 2, false);
  for (const char* id : {"tf", "tc"}) {
    const auto derived = make_plan(*backends().front(), problem, id, {{"height", "3"}});
    Structure given = derived->structure;
    const auto all = make_plan(*backends().front(), problem, id, {{"height", "3"}}, given);
    given.erase("query_leaf");
    const auto keys = make_plan(*backends().front(), problem, id, {{"height", "3"}}, given);
    const double full = count_cost(*derived, 2, 2).multiply_adds;
    CHECK(full - count_cost(*all, 2, 2).multiply_adds == 2 * n * d * 3);
    CHECK(full - count_cost(*keys, 2, 2).multiply_adds == n * d * 3);
  }
  // Banded h1d: about 5 n N_r pairs; each level below the top is added up once and merged once.
  const Cost h1d = count_cost(plan_of("h1d", {{"block", "16"}}, 256, false), 2, 2);
  CHECK(h1d.pairs <= 5 * n * 16);
  CHECK(h1d.pairs >= 3 * n * 16);
  CHECK(h1d.multiply_adds > h1d.pairs * (d + dv));
}

// Walking every pair would take hours.
TEST_CASE("the whole mask of a million tokens takes no n x n work") {
  const Index n = Index{1} << 20;
  const struct {
    const char* id;
    Settings settings;
  } cases[] = {{"exact", {}},
               {"h1d", {}},
               {"fixed", {}},
               {"strided", {}},
               {"fixed", {{"stride", "8"}, {"summary", "8"}}},
               {"fixed", {{"stride", "8"}, {"summary", "8"}, {"heads", "second"}}}};
  for (const auto& c : cases) {
    CAPTURE(c.id);
    const Plan plan = plan_of(c.id, c.settings, n, true);
    const Matrix fill = block_fill(plan, {0, n}, {0, n}, n / 512);
    CHECK(fill(0, 0) > 0);
    CHECK(fill(0, 511) == 0);
  }
}

TEST_CASE("a block mask stops when it is asked to") {
  const Plan plan = plan_of("hyper", {{"block", "16"}, {"min_length", "0"}}, 4096, false);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(block_fill(plan, {0, 4096}, {0, 4096}, 64, stop.get_token()), Cancelled);
}

TEST_CASE("a side whose order ascends only within a tile is searched there, not walked") {
  const std::vector<std::int32_t> residues{0, 2, 4, 6, 1, 3, 5, 7};  // mod 2
  const Side side(residues, 0, 8);
  CHECK(side.ascending({0, 4}));
  CHECK(side.ascending({4, 8}));
  CHECK_FALSE(side.ascending({3, 5}));
  CHECK(side.near({0, 4}, {2, 5}) == IndexRange{1, 3});
  CHECK(side.near({4, 8}, {2, 5}) == IndexRange{5, 6});
}
