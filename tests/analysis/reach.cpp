// Paths of two hops, against products of dense matrices.
#include "analysis/reach.h"

#include <doctest/doctest.h>

#include "analysis/cases.h"
#include "data/error.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Counts = std::vector<std::vector<std::int32_t>>;

/// M M of M_ij = [P_ij != 0], from the entries of P.
Counts square_of_pairs(const Matrix& p) {
  const auto n = static_cast<std::size_t>(p.rows());
  Counts out(n, std::vector<std::int32_t>(n));
  for (Index i = 0; i < p.rows(); ++i)
    for (Index k = 0; k < p.rows(); ++k)
      if (p(i, k) != 0)
        for (Index j = 0; j < p.rows(); ++j)
          out[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] += p(k, j) != 0;
  return out;
}

/// Whether P says which pairs there are: entries of mixtures may be 0 by chance.
bool is_of_pairs(const Plan& plan) {
  const auto* projected = std::get_if<ProjectedPlan>(&plan.form);
  return !projected || projected->mix.empty();
}

void check_squares(const Instance& x) {
  INFO(x.variant->id << " n=" << x.plan->lengths.n() << " causal=" << x.plan->causal);
  const Matrix p = x.all();
  const Counts expected = square_of_pairs(p);
  const TwoHops hops(*x.plan);
  bool same = true, one_is_enough = true;
  for (Index i = 0; i < x.plan->lengths.n(); ++i) {
    same &= hops.paths_from(i) == expected[static_cast<std::size_t>(i)];
    for (Index j = 0; j < (x.plan->causal ? i + 1 : x.plan->lengths.n()); ++j)
      one_is_enough &= p(i, j) != 0;
  }
  CHECK(same);
  CHECK(hops.one_is_enough() == one_is_enough);
}

}  // namespace

TEST_CASE("two hops under a mask and a window go through the pairs that these admit") {
  Problem problem = make_data(Data::gaussian, 43, 3, 4, true);
  problem.window = 15;
  std::vector<std::int32_t> documents;
  for (std::int32_t i = 0; i < 43; ++i) documents.push_back(i / 20);
  BitMatrix pairs(43, 43);
  for (Index i = 0; i < 43; ++i)
    for (Index j = 0; j < 43; ++j)
      if ((i * j) % 3 != 1) pairs.set(i, j);
  problem.mask = std::make_shared<const PairMask>(documents, documents, std::move(pairs));
  const Backend& backend = *backends().front();
  for (const char* id : {"exact", "window", "strided", "hyper", "tf"}) {
    const Instance x = make_instance(backend, problem, id, {});
    const Counts expected = square_of_pairs(x.all());
    const TwoHops hops(*x.plan);
    CAPTURE(id);
    bool same = true;
    double reached = 0, admissible = 0, beyond = 0;  // pairs
    for (Index i = 0; i < 43; ++i) {
      same &= hops.paths_from(i) == expected[static_cast<std::size_t>(i)];
      for (Index j = 0; j < 43; ++j) {
        const bool path = expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] > 0,
                   sees = problem.admits(i, j);
        reached += path && sees;
        beyond += path && !sees;
        admissible += sees;
      }
    }
    CHECK(same);
    // Neither the window nor the mask of pairs is transitive.
    CHECK(beyond > 0);
    CHECK(two_hop_reach(*x.plan).share.value == doctest::Approx(reached / admissible));
  }
}

TEST_CASE("paths of two hops are the square of the matrix of pairs, of every variant") {
  for_small_instances([](const Instance& x) {
    if (is_of_pairs(*x.plan)) check_squares(x);
  });
  // Windows, whose tiles have bands on both sides, and fixed groups that are sorted.
  const Backend& backend = *backends().front();
  for (const bool causal : {false, true}) {
    const Problem problem = make_data(Data::gaussian, 61, 3, 4, causal);
    check_squares(make_instance(backend, problem, "window", {{"width", "5"}}));
    check_squares(make_instance(backend, problem, "reformer", {{"rounds", "3"}, {"chunk", "8"}}));
    check_squares(make_instance(backend, problem, "fixed",
                                {{"stride", "8"}, {"summary", "2"}, {"heads", "first"}}));
    check_squares(
        make_instance(backend, problem, "strided", {{"stride", "7"}, {"heads", "second"}}));
  }
}

TEST_CASE("both factorized patterns, merged, reach every causal pair in two hops") {
  const std::pair<const char*, Settings> patterns[] = {
      {"fixed", {{"stride", "8"}, {"summary", "2"}}}, {"strided", {{"stride", "8"}}}};
  for (const auto& pattern : patterns)
    for (const Index n : {1, 8, 61, 64}) {
      const char* const id = pattern.first;
      const Problem problem = make_data(Data::gaussian, n, 2, 2, true);
      const auto plan = make_plan(*backends().front(), problem, id, pattern.second);
      const TwoHops hops(*plan);
      Index unreached = 0, future = 0;
      for (Index i = 0; i < n; ++i) {
        const auto paths = hops.paths_from(i);
        for (Index j = 0; j < n; ++j)
          (j <= i ? unreached : future) += (paths[static_cast<std::size_t>(j)] > 0) == (j > i);
      }
      INFO(id << " n=" << n);
      CHECK(unreached == 0);
      CHECK(future == 0);
      CHECK(hops.one_is_enough() == (n <= 8));  // stride >= n is exact attention
    }
}

TEST_CASE("a search for rows that one hop does not fill can be cancelled") {
  const Problem problem = make_data(Data::gaussian, 16, 2, 2, false);
  const auto plan = make_plan(*backends().front(), problem, "exact", {});
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(TwoHops(*plan).one_is_enough(stop.get_token()), Cancelled);
  CHECK_THROWS_AS(two_hop_reach(*plan, stop.get_token()), Cancelled);
}
