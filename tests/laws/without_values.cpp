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
  int compared = 0, refused = 0, turn = 0;
  const auto law = [&](const Case& c, const Problem& whole, const Backend& backend) {
    const Instance x = make_instance(backend, whole, c.id, c.settings);
    if (is_learned(*x.plan)) return;
    const Problem problem = without_values(whole);
    const std::string why_not =
        message_of<UsageError>([&] { make_plan(backend, problem, c.id, c.settings); });
    if (!why_not.empty()) {
      CHECK((c.id == "kde" || c.id == "hyper" || c.id == "expected"));
      check_says(why_not, {"by the norms of their values, but the file has no values v"});
      ++refused;
      return;
    }
    const Instance bare = make_instance(backend, problem, c.id, c.settings);
    const Index n = problem.n();
    // Sums of the same products, perhaps by another number of lanes; two ulps of what is a sum.
    const Matrix p = x.all();
    const double slack = 2 * floor_of(x) * std::max(1.0, largest_entry(p));
    CHECK(distance(bare.all(), p, n, n) <= slack);
    const Output sums = bare.apply(problem.v), its = x.apply(whole.v);
    CHECK(sums.z.rows() == n);
    CHECK(sums.z.cols() == 0);
    REQUIRE(sums.lse.size() == its.lse.size());
    double largest = 0;
    for (const float lse : its.lse)
      if (std::isfinite(lse)) largest = std::max(largest, std::abs(static_cast<double>(lse)));
    CHECK(distance(rows_of(sums.lse, 1), rows_of(its.lse, 1), std::ssize(sums.lse), 1) <=
          slack + 0x1p-22 * largest);
    CHECK(distance(bare.all(), x.all(), n, n) <= slack);  // with the sums that were kept
    if (bare.bound->has_rows()) {
      const RowsOutput some = bare.apply_rows({0, n}, 4), theirs = x.apply_rows({0, n}, 4);
      CHECK(some.output.z.rows() == n);
      CHECK(some.output.lse.size() == theirs.output.lse.size());
      CHECK(distance(some.most, theirs.most, some.most.rows(), some.most.cols()) <= slack);
    }
    const Cost cost = count_cost(*bare.plan, problem.d(), 0);
    CHECK(cost.multiply_adds <= count_cost(*x.plan, problem.d(), whole.dv()).multiply_adds);
    CHECK(std::isfinite(cost.ratio_to_exact()));
    ++compared;
  };
  for (const Case& c : cases())
    for (const Index n : {1, 33, 67})
      for (const bool causal : masks_of(c)) {
        const Problem whole = make_data(static_cast<Data>(turn++ % 4), n, 6, 3, causal, c.head);
        for (const auto& backend : backends()) {
          const std::string where = describe(c) + ", n = " + std::to_string(n) +
                                    (causal ? ", causal, " : ", ") + backend->device();
          CAPTURE(where);
          law(c, whole, *backend);
        }
      }
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
