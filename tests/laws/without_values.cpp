// What holds for heads of which only queries and keys are known: their weights are those of the
// same head with values.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/cost.h"
#include "analysis/metrics.h"
#include "laws/operator_cases.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Problem without_values(const Problem& problem) {
  return make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k),
                      Matrix(problem.keys(), 0), problem.scale, problem.causal, problem.head);
}

/// Its tree was learned from outputs.
bool is_learned(const Plan& plan) {
  return std::ranges::any_of(
      plan.notes, [](const std::string& note) { return contains(note, "tree learned"); });
}

}  // namespace

TEST_CASE("law: P and the log-sum-exp of a head without values are those of the head with them") {
  int compared = 0, refused = 0;
  for_all(
      [&](const Case& c, const Instance& x) {
        const Problem problem = without_values(x.problem);
        if (is_learned(*x.plan)) return;
        for (const auto& backend : backends()) {
          const std::string why_not =
              message_of<UsageError>([&] { make_plan(*backend, problem, c.id, c.settings); });
          if (!why_not.empty()) {
            CHECK((c.id == "kde" || c.id == "hyper"));
            check_says(why_not, {"by the norms of their values, but the file has no values v"});
            ++refused;
            continue;
          }
          const Instance bare = make_instance(*backend, problem, c.id, c.settings);
          const Index n = problem.n();
          // Sums of the same products, perhaps by another number of lanes.
          const double slack = 2 * floor_of(x) * std::max(1.0, largest_entry(x.all()));
          CHECK(distance(bare.all(), x.all(), n, n) <= slack);
          const Output sums = bare.apply(problem.v), whole = x.apply(x.problem.v);
          CHECK(sums.z.rows() == n);
          CHECK(sums.z.cols() == 0);
          REQUIRE(sums.lse.size() == whole.lse.size());
          CHECK(distance(rows_of(sums.lse, 1), rows_of(whole.lse, 1), std::ssize(sums.lse), 1) <=
                slack + 0x1p-22 * largest_logit(problem));
          CHECK(distance(bare.all(), x.all(), n, n) <= slack);  // with the sums that are kept
          if (bare.bound->has_rows()) {
            const RowsOutput some = bare.apply_rows({0, n}, 4), its = x.apply_rows({0, n}, 4);
            CHECK(some.output.z.rows() == n);
            CHECK(some.output.lse.size() == its.output.lse.size());
            CHECK(distance(some.most, its.most, some.most.rows(), some.most.cols()) <= slack);
          }
          const Cost cost = count_cost(*bare.plan, problem.d(), 0);
          CHECK(cost.multiply_adds <=
                count_cost(*x.plan, problem.d(), x.problem.dv()).multiply_adds);
          CHECK(std::isfinite(cost.ratio_to_exact()));
          ++compared;
        }
      },
      100);
  CHECK(compared > 0);
  CHECK(refused > 0);
}

TEST_CASE("law: errors of weights are known without values, and errors of outputs are not") {
  for (const auto& backend : backends()) {
    const Problem whole = make_data(Data::gaussian, 60, 8, 5, false), bare = without_values(whole);
    const Settings blocks{{"block", "8"}};
    Metrics found[2];
    for (const bool values : {false, true}) {
      const Problem& problem = values ? whole : bare;
      const Instance exact = make_instance(*backend, problem, "exact", {}),
                     window = make_instance(*backend, problem, "h1d", blocks);
      Profile profile;
      Run run{profile};
      found[values] = compare(*window.bound, window.apply(problem.v), *exact.bound,
                              exact.apply(problem.v), run);
    }
    CHECK_FALSE(found[0].of_outputs());
    CHECK(found[1].of_outputs());
    CHECK(found[0].of_attention());
    CHECK_FALSE(found[0].sampled());
    CHECK(found[0].attention_tv.value > 0);
    CHECK(found[0].attention_tv.value ==
          doctest::Approx(found[1].attention_tv.value).epsilon(1e-5));
    CHECK(found[0].attention_rel_fro.value ==
          doctest::Approx(found[1].attention_rel_fro.value).epsilon(1e-5));
    CHECK(found[0].density == found[1].density);
  }
}
