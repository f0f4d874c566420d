// What Reformer's paper says beyond the formula of its variant.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// k_j = q_j / |q_j|.
Problem shared_queries_and_keys(Index n, bool causal) {
  const Index d = 6;
  Matrix q = gaussian(n, d, 4), k(n, d);
  for (Index i = 0; i < n; ++i) {
    double squares = 0;
    for (Index c = 0; c < d; ++c) squares += std::pow(static_cast<double>(q(i, c)), 2);
    for (Index c = 0; c < d; ++c)
      k(i, c) = static_cast<float>(static_cast<double>(q(i, c)) / std::sqrt(squares));
  }
  return make_problem(std::move(q), std::move(k), gaussian(n, 3, 5), 1.0, causal);
}

// Eq. 5-8 of the paper in float64: a softmax for each round, in which a pair that N rounds find has
// the logit q.k - log N, and the rounds merged by their log-sum-exp.
struct Merged {
  std::vector<double> z, lse;  // [n, dv], [n]
};
Merged merged_rounds(const Problem& x, const std::int32_t* buckets, Index rounds, Index chunk) {
  const Index n = x.n(), dv = x.dv();
  std::vector<std::vector<Index>> chunk_of;
  for (Index r = 0; r < rounds; ++r) {
    std::vector<Index> order(static_cast<std::size_t>(n)), its(order.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, {}, [&](Index i) { return buckets[r * n + i]; });
    for (Index s = 0; s < n; ++s)
      its[static_cast<std::size_t>(order[static_cast<std::size_t>(s)])] = s / chunk;
    chunk_of.push_back(its);
  }
  const auto found = [&](Index r, Index i, Index j) {
    const auto& its = chunk_of[static_cast<std::size_t>(r)];
    const Index apart = its[static_cast<std::size_t>(i)] - its[static_cast<std::size_t>(j)];
    return (apart == 0 || apart == 1) && (!x.causal || j <= i);
  };
  Merged out{std::vector<double>(static_cast<std::size_t>(n * dv)), {}};
  for (Index i = 0; i < n; ++i) {
    std::vector<double> z_round;  // log-sum-exp of each round
    std::vector<std::vector<double>> o_round;
    for (Index r = 0; r < rounds; ++r) {
      double sum = 0;
      std::vector<double> o(static_cast<std::size_t>(dv));
      for (Index j = 0; j < n; ++j) {
        if (!found(r, i, j)) continue;
        Index times = 0;
        for (Index other = 0; other < rounds; ++other) times += found(other, i, j);
        double logit = -std::log(static_cast<double>(times));
        for (Index c = 0; c < x.d(); ++c)
          logit += static_cast<double>(x.q(i, c)) * static_cast<double>(x.k(j, c));
        sum += std::exp(logit);
        for (Index c = 0; c < dv; ++c)
          o[static_cast<std::size_t>(c)] += std::exp(logit) * static_cast<double>(x.v(j, c));
      }
      for (double& y : o) y /= sum;
      z_round.push_back(std::log(sum));
      o_round.push_back(o);
    }
    double all = 0;
    for (const double z : z_round) all += std::exp(z);
    out.lse.push_back(std::log(all));
    for (std::size_t r = 0; r < z_round.size(); ++r)
      for (Index c = 0; c < dv; ++c)
        out.z[static_cast<std::size_t>(i * dv + c)] +=
            std::exp(z_round[r] - out.lse.back()) * o_round[r][static_cast<std::size_t>(c)];
  }
  return out;
}

std::vector<std::int32_t> buckets_of(const Plan& plan, const char* side) {
  return plan.structure.integers(side);
}

}  // namespace

TEST_CASE(
    "law: with shared queries and keys reformer is the paper's rounds, merged by log-sum-exp") {
  const Index rounds = 4;
  for (const Index n : {1, 2, 50, 97})
    for (const Index chunk : {3, 8})
      for (const bool causal : {false, true}) {
        if (chunk >= n) continue;
        CAPTURE(n);
        CAPTURE(chunk);
        CAPTURE(causal);
        const Problem problem = shared_queries_and_keys(n, causal);
        const Instance x =
            make_instance(*backends().back(), problem, "reformer",
                          {{"rounds", std::to_string(rounds)}, {"chunk", std::to_string(chunk)}});
        const auto buckets = buckets_of(*x.plan, "query_bucket");
        REQUIRE(buckets == buckets_of(*x.plan, "key_bucket"));  // |q| does not matter
        CHECK(x.plan->notes.empty());                           // every token is in its own chunk
        const Merged expected = merged_rounds(problem, buckets.data(), rounds, chunk);
        const Output found = x.apply(problem.v);
        for (Index i = 0; i < n; ++i) {
          // Logits of at most 5 are rounded to 2^-22, and so many terms are added up.
          CHECK(static_cast<double>(found.lse[static_cast<std::size_t>(i)]) ==
                doctest::Approx(expected.lse[static_cast<std::size_t>(i)]).epsilon(2e-6));
          for (Index c = 0; c < problem.dv(); ++c)
            CHECK(std::abs(static_cast<double>(found.z(i, c)) -
                           expected.z[static_cast<std::size_t>(i * problem.dv() + c)]) <= 1e-5);
        }
      }
}

TEST_CASE(
    "law: the hash of reformer takes no notice of length, and opposites are half a turn apart") {
  const Index n = 97;
  for (const auto& tried : {std::pair{Index{10}, std::vector<Index>{20}},
                            std::pair{Index{1}, std::vector<Index>{14, 14}}}) {
    const Index chunk = tried.first;
    const std::vector<Index>& factors = tried.second;
    CAPTURE(chunk);
    const Matrix q = gaussian(n, 5, 8);
    Matrix longer(n, 5), opposite(n, 5);
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < 5; ++c) {
        longer(i, c) = 8 * q(i, c);
        opposite(i, c) = -q(i, c);
      }
    const auto plan_with = [&](const Matrix& keys) {
      return make_plan(*backends().front(), make_problem(q, keys, gaussian(n, 1, 9)), "reformer",
                       {{"chunk", std::to_string(chunk)}, {"rounds", "3"}});
    };
    const auto same = plan_with(longer), across = plan_with(opposite);
    const auto buckets = buckets_of(*same, "query_bucket");
    CHECK(buckets == buckets_of(*same, "key_bucket"));
    const auto turned = buckets_of(*across, "key_bucket");
    std::vector<std::int32_t> seen;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      Index a = buckets[i], b = turned[i];
      for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
        CHECK((a % *factor + *factor / 2) % *factor == b % *factor);
        a /= *factor;
        b /= *factor;
      }
      CHECK(a == 0);  // about 2 n / chunk buckets
      CHECK(b == 0);
      seen.push_back(buckets[i]);
    }
    std::ranges::sort(seen);
    CHECK(std::unique(seen.begin(), seen.end()) - seen.begin() > std::ssize(factors) * 12);
  }
}

TEST_CASE("law: queries and keys of reformer share a bucket as often as their angle says") {
  // With four buckets, argmax over +-y1, +-y2 is the pair of signs of y1 + y2 and y1 - y2, which
  // are independent: two vectors at angle t agree with probability (1 - t / pi)^2.
  const double angle = std::numbers::pi / 5, expected = std::pow(1 - angle / std::numbers::pi, 2);
  const Index n = 8, d = 3, rounds = 16, heads = 200;
  double same = 0;
  for (Index head = 0; head < heads; ++head) {
    const Matrix a = gaussian(n, d, 1000 + static_cast<std::uint64_t>(head)),
                 b = gaussian(n, d, 5000 + static_cast<std::uint64_t>(head));
    Matrix q(n, d), k(n, d);
    for (Index i = 0; i < n; ++i) {
      double aa = 0, ab = 0, bb = 0;
      for (Index c = 0; c < d; ++c) {
        aa += static_cast<double>(a(i, c)) * static_cast<double>(a(i, c));
        ab += static_cast<double>(a(i, c)) * static_cast<double>(b(i, c));
        bb += static_cast<double>(b(i, c)) * static_cast<double>(b(i, c));
      }
      const double across = std::sqrt(bb - ab * ab / aa);
      for (Index c = 0; c < d; ++c) {
        const double along = static_cast<double>(a(i, c)) / std::sqrt(aa);
        const double aside = (static_cast<double>(b(i, c)) - ab / std::sqrt(aa) * along) / across;
        q(i, c) = a(i, c);
        k(i, c) = static_cast<float>(std::cos(angle) * along + std::sin(angle) * aside);
      }
    }
    const auto plan =
        make_plan(*backends().front(), make_problem(q, k, gaussian(n, 1, 3), 1.0, false, head),
                  "reformer", {{"chunk", "4"}, {"rounds", std::to_string(rounds)}});
    const auto of_query = buckets_of(*plan, "query_bucket"),
               of_key = buckets_of(*plan, "key_bucket");
    for (std::size_t i = 0; i < of_query.size(); ++i) same += of_query[i] == of_key[i];
  }
  const double rotations = static_cast<double>(rounds * heads);
  // Five standard deviations of the mean if all pairs of one rotation agreed with each other.
  CHECK(std::abs(same / (rotations * static_cast<double>(n)) - expected) <=
        5 * std::sqrt(expected * (1 - expected) / rotations));
}

TEST_CASE("law: rounds of reformer that find the same pairs change nothing") {
  const Index n = 70;
  for (const auto& backend : backends())
    for (const bool causal : {false, true}) {
      const Problem problem = make_data(Data::gaussian, n, 5, 4, causal);
      const Instance once =
          make_instance(*backend, problem, "reformer", {{"rounds", "1"}, {"chunk", "9"}});
      Structure given;
      for (const char* side : {"query_bucket", "key_bucket"}) {
        const auto buckets = buckets_of(*once.plan, side);
        std::vector<std::int32_t> repeated;
        for (int round = 0; round < 3; ++round)
          repeated.insert(repeated.end(), buckets.begin(), buckets.end());
        given.set({side, {3, n}, std::move(repeated)});
      }
      const Instance thrice =
          make_instance(*backend, problem, "reformer", {{"rounds", "3"}, {"chunk", "9"}}, given);
      const Matrix a = once.all(), b = thrice.all();
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) CHECK(a(i, j) == b(i, j));
    }
}

TEST_CASE("law: queries of reformer without a key before them are counted, and are 0") {
  // Query 0 has the last place, keys before it come later in the text.
  const Index n = 6;
  Structure given;
  given.set({"query_bucket", {1, n}, std::vector<std::int32_t>{9, 0, 0, 0, 0, 0}});
  given.set({"key_bucket", {1, n}, std::vector<std::int32_t>{0, 0, 0, 0, 1, 1}});
  const Instance x = make_instance(*backends().back(), make_data(Data::gaussian, n, 3, 2, true),
                                   "reformer", {{"rounds", "1"}, {"chunk", "2"}}, given);
  REQUIRE(x.plan->notes.size() == 1);
  CHECK(x.plan->notes.front() ==
        "1 of 6 queries share no chunk with a key that they may attend: Z = 0");
  const Output out = x.apply(x.problem.v);
  CHECK(out.z(0, 0) == 0);
  CHECK(out.lse[0] == -std::numeric_limits<float>::infinity());
}
