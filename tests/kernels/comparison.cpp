// Two operators compared on the device against the same comparison on the host.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/metrics.h"
#include "analysis/top_recall.h"
#include "backend/backends.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Setting {
  const char* id;
  Settings settings;
};
const std::vector<Setting> approximations{
    {"h1d", {{"block", "4"}}},
    {"fixed", {{"stride", "16"}, {"summary", "3"}}},
    {"tf", {{"height", "3"}}},
    {"tc", {{"height", "2"}}},
    {"tc", {{"height", "2"}, {"alpha", "0,0.5,-0.75"}}},
    {"hyper", {{"block", "16"}, {"samples", "20"}, {"min_length", "0"}}}};

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<RowDifference> on_host(const Instance& approximate, const Instance& exact) {
  const Index n = exact.problem.n();
  const Matrix q = approximate.all(), p = exact.all();
  std::vector<RowDifference> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      RowDifference& row = rows[i];
      const double a = q(i, j), e = p(i, j);
      row.error += (a - e) * (a - e);
      row.norm += e * e;
      row.variation += std::abs(a - e) / 2;
      if (e > 0) row.kl += a > 0 ? e * std::log(e / a) : infinity;
      if (a > 0) row.reverse_kl += e > 0 ? a * std::log(a / e) : infinity;
      if (a < 0) row.reverse_kl = std::numeric_limits<double>::quiet_NaN();
    }
  for (Index i = 0; i < n; ++i)
    rows[i].top_recall = top_recall({q.row(i), std::size_t(n)}, {p.row(i), std::size_t(n)});
  return rows;
}

}  // namespace

TEST_CASE("the recall of the top keys of long rows is found on the device as on the host") {
  // More positive weights than the candidates for which a block has room.
  constexpr Index n = 700;
  const Backend& backend = *backends().front();
  const Problem problem = make_data(Data::gaussian, n, 8, 3, false);
  const Instance exact = make_instance(backend, problem, "exact", {});
  for (const Setting& s : approximations) {
    CAPTURE(s.id);
    const Instance approximate = make_instance(backend, problem, s.id, s.settings);
    Profile profile;
    Run run{profile};
    const IndexRange rows{n / 2, n / 2 + 3};
    const auto there = approximate.bound->compare_rows(*exact.bound, rows, run);
    REQUIRE(there);
    const Matrix q = approximate.tile(rows, {0, n}), p = exact.tile(rows, {0, n});
    for (Index i = 0; i < rows.size(); ++i)
      CHECK((*there)[std::size_t(i)].top_recall ==
            top_recall({q.row(i), std::size_t(n)}, {p.row(i), std::size_t(n)}));
  }
}

TEST_CASE("rows of two operators are compared on the device as on the host") {
  const Backend& backend = *backends().front();
  for (const bool causal : {false, true})
    for (const Setting& s : approximations) {
      const Problem problem = make_data(Data::gaussian, 97, 8, 3, causal);
      const Instance its = make_instance(backend, problem, s.id, s.settings),
                     all_pairs = make_instance(backend, problem, "exact", {});
      // Either may have more positive weights.
      for (const bool turned : {false, true}) {
        CAPTURE(s.id);
        CAPTURE(causal);
        CAPTURE(turned);
        const Instance &approximate = turned ? all_pairs : its, &exact = turned ? its : all_pairs;
        Profile profile;
        Run run{profile};
        const auto there = approximate.bound->compare_rows(*exact.bound, {0, 97}, run);
        REQUIRE(there);
        const auto here = on_host(approximate, exact);
        REQUIRE(there->size() == here.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
          // The same doubles, added in another order: a few ulps of the sums of magnitudes.
          CHECK((*there)[i].error == doctest::Approx(here[i].error).epsilon(1e-12));
          CHECK((*there)[i].norm == doctest::Approx(here[i].norm).epsilon(1e-12));
          CHECK((*there)[i].variation == doctest::Approx(here[i].variation).epsilon(1e-12));
          for (std::size_t c = 0; c < here[i].top_recall.size(); ++c) {
            const double found = (*there)[i].top_recall[c], expected = here[i].top_recall[c];
            CHECK((found == expected || (std::isnan(found) && std::isnan(expected))));
          }
          CHECK(std::isnan((*there)[i].reverse_kl) == std::isnan(here[i].reverse_kl));
          if (std::isfinite(here[i].kl))
            CHECK((*there)[i].kl == doctest::Approx(here[i].kl).epsilon(1e-9));
          else
            CHECK((*there)[i].kl == here[i].kl);
          if (std::isfinite(here[i].reverse_kl))
            CHECK((*there)[i].reverse_kl == doctest::Approx(here[i].reverse_kl).epsilon(1e-9));
        }
      }
    }
}

TEST_CASE("metrics on the device are those of the CPU back end") {
  const auto cpu = make_cpu_backend({.threads = 1});
  for (const bool causal : {false, true})
    for (const Setting& s : approximations) {
      CAPTURE(s.id);
      CAPTURE(causal);
      const Problem problem = make_data(Data::gaussian, 80, 8, 3, causal);
      const auto metrics = [&](const Backend& backend, const Structure& given) {
        const Instance approximate = make_instance(backend, problem, s.id, s.settings, given),
                       exact = make_instance(backend, problem, "exact", {});
        Profile profile;
        Run run{profile};
        return std::pair(compare(*approximate.bound, approximate.apply(problem.v), *exact.bound,
                                 exact.apply(problem.v), run),
                         approximate.plan->structure);
      };
      const auto [host, structure] = metrics(*cpu, {});
      const auto [device, same] = metrics(*backends().front(), structure);
      // Entries agree to some 1e-6 of themselves (logits of size 8 in float32); so do sums of them.
      const double near = 1e-5;
      CHECK(device.attention_rel_fro.value ==
            doctest::Approx(host.attention_rel_fro.value).epsilon(near));
      CHECK(device.mass_kept.value == doctest::Approx(host.mass_kept.value).epsilon(near));
      CHECK(device.attention_tv.value == doctest::Approx(host.attention_tv.value).epsilon(near));
      CHECK(device.attention_kl.infinite_rows == host.attention_kl.infinite_rows);
      if (std::isnan(host.attention_kl.value))  // of negative weights it is not defined
        CHECK(std::isnan(device.attention_kl.value));
      else if (host.attention_kl.infinite_rows == 0)
        CHECK(device.attention_kl.value == doctest::Approx(host.attention_kl.value).epsilon(near));
      REQUIRE(device.attention_reverse_kl.has_value() == host.attention_reverse_kl.has_value());
      if (host.attention_reverse_kl)
        CHECK(device.attention_reverse_kl->value ==
              doctest::Approx(host.attention_reverse_kl->value).epsilon(near));
    }
}

TEST_CASE("an error map pooled on the device is that of the entries") {
  const Backend& backend = *backends().front();
  const Problem problem = make_data(Data::gaussian, 70, 8, 3, false);
  const Instance approximate =
                     make_instance(backend, problem, "fixed", {{"stride", "8"}, {"summary", "2"}}),
                 exact = make_instance(backend, problem, "exact", {});
  const Matrix q = approximate.all(), p = exact.all();
  const IndexRange rows{3, 70}, cols{5, 69};
  for (const Difference kind : {Difference::signed_difference, Difference::absolute,
                                Difference::squared, Difference::relative})
    for (const Pool pool : {Pool{}, Pool{Pool::Kind::mean, 5, 7}, Pool{Pool::Kind::max, 5, 7},
                            Pool{Pool::Kind::mean, 5, 7, 3}, Pool{Pool::Kind::max, 30, 7, 4}}) {
      Profile profile;
      Run run{profile};
      const auto map = approximate.bound->difference(*exact.bound, rows, cols, pool, kind, run);
      REQUIRE(map);
      const Index down = pool.rows > 0 ? pool.rows : rows.size(),
                  across = pool.cols > 0 ? pool.cols : cols.size();
      REQUIRE(map->rows() == down);
      REQUIRE(map->cols() == across);
      for (Index r = 0; r < down; ++r)
        for (Index c = 0; c < across; ++c) {
          double sum = 0, extreme = 0, count = 0;
          IndexRange its{rows.begin + r * rows.size() / down,
                         rows.begin + (r + 1) * rows.size() / down};
          if (pool.one_row) {
            its.begin = drawn_row(rows, pool, r);
            its.end = its.begin + 1;
          }
          for (Index i = its.begin; i < its.end; ++i)
            for (Index j = cols.begin + c * cols.size() / across;
                 j < cols.begin + (c + 1) * cols.size() / across; ++j) {
              const double difference = static_cast<double>(q(i, j)) - static_cast<double>(p(i, j));
              const double x = kind == Difference::signed_difference ? difference
                               : kind == Difference::absolute        ? std::abs(difference)
                               : kind == Difference::squared
                                   ? difference * difference
                                   : difference / static_cast<double>(p(i, j));
              sum += x;
              ++count;
              if (std::abs(x) > std::abs(extreme)) extreme = x;
            }
          // One rounding to float32, and double sums in another order.
          CHECK(
              (*map)(r, c) ==
              doctest::Approx(pool.kind == Pool::Kind::max ? extreme : sum / count).epsilon(1e-6));
        }
    }
}

TEST_CASE("the relative error of pairs to which both give no weight is 0 on the device") {
  const Backend& backend = *backends().front();
  const Problem problem = make_data(Data::gaussian, 70, 8, 3, true);
  const Instance approximate = make_instance(backend, problem, "window", {{"width", "4"}}),
                 exact = make_instance(backend, problem, "exact", {});
  Profile profile;
  Run run{profile};
  const IndexRange all{0, 70};
  for (const Pool pool : {Pool{}, Pool{Pool::Kind::mean, 5, 7}, Pool{Pool::Kind::max, 5, 7}}) {
    const auto map =
        approximate.bound->difference(*exact.bound, all, all, pool, Difference::relative, run);
    REQUIRE(map);
    CHECK((*map)(0, map->cols() - 1) == 0);  // the future
    for (Index r = 0; r < map->rows(); ++r)
      for (Index c = 0; c < map->cols(); ++c) CHECK(std::isfinite((*map)(r, c)));
  }
}
