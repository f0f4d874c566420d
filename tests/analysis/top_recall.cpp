// The recall of the top keys against sorting whole rows.
#include "analysis/top_recall.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "analysis/metrics.h"
#include "analysis/selected_recall.h"
#include "cases.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Row = std::vector<float>;

/// The top k by sorting: larger first, the lower key first among equal ones, only positive ones.
template <class Real>
std::vector<Index> sorted_top(const std::vector<Real>& row, Index k) {
  std::vector<Index> keys(row.size());
  std::iota(keys.begin(), keys.end(), Index{0});
  std::erase_if(keys, [&](Index j) { return !(row[j] > 0); });
  std::ranges::stable_sort(keys, [&](Index a, Index b) { return row[a] > row[b]; });
  if (std::ssize(keys) > k) keys.resize(k);
  return keys;
}

template <class Real>
double sorted_recall(const std::vector<Real>& approximate, const std::vector<Real>& exact,
                     Index k) {
  const std::vector<Index> wanted = sorted_top(exact, k),
                           found = sorted_top(approximate, std::ssize(wanted));
  double both = 0;
  for (const Index key : wanted) both += std::ranges::count(found, key);
  return both / double(wanted.size());
}

}  // namespace

TEST_CASE("the recall of the top keys is that of sorted rows, whatever is in them") {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  const std::vector<std::function<float(Index, Index)>> weights{
      [&](Index, Index) { return std::exp(normal(random)); },
      [&](Index j, Index) { return float(j + 1); },
      [&](Index j, Index n) { return float(n - j); },
      [&](Index, Index) { return 0.25f; },
      [&](Index, Index) { return float(random() % 4); },
      [&](Index j, Index) { return j % 128 == 3 ? std::exp(normal(random)) : 0.0f; },
      [&](Index j, Index) { return j / 32 % 5 == 1 ? float(1 + j / 32) : 0.0f; },
      [&](Index, Index) { return normal(random); },
      [&](Index j, Index n) { return j == n / 2 ? 1.0f : 0.0f; },
      [&](Index, Index) { return std::numeric_limits<float>::denorm_min() * float(random() % 9); },
      [&](Index, Index) {
        return random() % 3 == 0 ? std::numeric_limits<float>::quiet_NaN() : normal(random);
      }};
  for (const Index n : {1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 200, 257, 1000, 4099})
    for (std::size_t e = 0; e < weights.size(); ++e)
      for (std::size_t a = 0; a < weights.size(); ++a) {
        CAPTURE(n);
        CAPTURE(e);
        CAPTURE(a);
        Row exact, approximate;
        for (Index j = 0; j < n; ++j) {
          exact.push_back(weights[e](j, n));
          approximate.push_back(weights[a](j, n));
        }
        const TopRecall recall = top_recall(approximate, exact);
        const bool none = sorted_top(exact, 1).empty();
        for (std::size_t c = 0; c < top_counts.size(); ++c) {
          CAPTURE(top_counts[c]);
          if (none)
            CHECK(std::isnan(recall[c]));
          else  // both are one quotient of the same small numbers
            CHECK(recall[c] == sorted_recall(approximate, exact, top_counts[c]));
        }
        const TopRecall same = top_recall(exact, exact);
        if (!none) CHECK(same == TopRecall{1, 1, 1});
      }
}

TEST_CASE("the recall of the top keys of a variant is that of the dense matrices") {
  for_small_instances([](Instance x) {
    const std::string which = x.variant->id + " n=" + std::to_string(x.plan->lengths.n()) +
                              (x.plan->causal ? " causal" : "");
    CAPTURE(which);
    const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
    Profile profile;
    Run run{profile};
    const Metrics m =
        compare(*x.bound, x.apply(x.problem.v), *exact.bound, exact.apply(x.problem.v), run);
    const Index n = x.plan->lengths.n();
    const auto p = reference<double>(exact), q = reference<double>(x);
    TopRecall lowest{}, highest{};
    for (Index i = 0; i < n; ++i) {
      // Approximate weights that are equal up to rounding may be ordered either way: some 40
      // roundings of 2^-24 in logits of size 1 and in the sum of a row are less than this.
      constexpr double rounding = 1e-5;
      for (std::size_t c = 0; c < top_counts.size(); ++c) {
        std::vector<double> exact_row, low, high;
        for (Index j = 0; j < n; ++j) exact_row.push_back(p(i, j));
        const std::vector<Index> wanted = sorted_top(exact_row, top_counts[c]);
        for (Index j = 0; j < n; ++j) {
          const bool in = std::ranges::count(wanted, j) > 0;
          low.push_back(q(i, j) * (in ? 1 - rounding : 1 + rounding));
          high.push_back(q(i, j) * (in ? 1 + rounding : 1 - rounding));
        }
        lowest[c] += sorted_recall(low, exact_row, top_counts[c]) / double(n);
        highest[c] += sorted_recall(high, exact_row, top_counts[c]) / double(n);
      }
    }
    for (std::size_t c = 0; c < top_counts.size(); ++c) {
      CAPTURE(top_counts[c]);
      // Means of 37 quotients in double.
      CHECK(m.top_recall[c].value >= lowest[c] - 1e-12);
      CHECK(m.top_recall[c].value <= highest[c] + 1e-12);
      CHECK(m.top_recall[c].value <= 1);
      CHECK(m.top_recall[c].standard_error == 0);
    }
    if (x.variant->reference)
      for (const Estimate& recall : m.top_recall) CHECK(recall.value == 1);
  });
}

TEST_CASE(
    "the recall of selected keys is that of sorted rows, for each row as many as it selects") {
  for_small_instances([](const Instance& x) {
    if (x.variant->group != Group::selectors) return;
    CAPTURE(x.variant->id);
    const Index n = x.plan->lengths.n();
    const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
    const Matrix p = exact.all(), q = x.all();
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      const Row row(p.row(i), p.row(i) + n), its(q.row(i), q.row(i) + n);
      const auto selected = sorted_top(its, n);
      double both = 0;
      for (const Index key : sorted_top(row, std::ssize(selected)))
        both += double(std::ranges::count(selected, key));
      sum += selected.empty() ? 1 : both / double(selected.size());
    }
    Profile profile;
    Run run{profile};
    const SelectedRecall all = selected_recall(*x.bound, *exact.bound, run);
    CHECK(all.share.value == doctest::Approx(sum / double(n)));
    CHECK_FALSE(all.sampled);
    if (n > 30) CHECK(selected_recall(*x.bound, *exact.bound, run, 20.0 * double(n)).sampled);
  });
}

TEST_CASE("law: the oracle's recall is that of a column of the oracle with as many blocks") {
  Profile profile;
  Run run{profile};
  for (const bool causal : {false, true})
    for (const char* id : {"moba", "msa", "quest", "oracle"}) {
      CAPTURE(id);
      const Problem head = make_data(Data::gaussian, 40, 6, 3, causal);
      const Settings own = std::string(id) == "quest" ? Settings{{"page", "4"}, {"pages", "3"}}
                                                      : Settings{{"block", "4"}, {"blocks", "3"}};
      const auto recall_of = [&](const char* variant, const Settings& settings) {
        const Backend& backend = *backends().front();
        const Instance x = make_instance(backend, head, variant, settings),
                       exact = make_instance(backend, head, "exact", {});
        return selected_recall(*x.bound, *exact.bound, run);
      };
      const SelectedRecall its = recall_of(id, own),
                           oracle = recall_of("oracle", {{"block", "4"}, {"blocks", "3"}});
      REQUIRE(its.oracle);
      // Masses are sums of the weights of P in fp32 here and of their own in double there, which
      // selects alike where no two are equal but for rounding.
      CHECK(its.oracle->value == doctest::Approx(oracle.share.value));
    }
  // Where the last block is shorter, also if few queries or none select another one.
  for (const Index n : {100, 65, 130}) {
    const Problem longer = make_data(Data::gaussian, n, 6, 3, false);
    for (const char* blocks : {"1", "2"}) {
      const Instance x = make_instance(*backends().front(), longer, "oracle",
                                       {{"block", "64"}, {"blocks", blocks}}),
                     exact = make_instance(*backends().front(), longer, "exact", {});
      const SelectedRecall its = selected_recall(*x.bound, *exact.bound, run);
      CAPTURE(n);
      if (its.oracle) CHECK(its.oracle->value == doctest::Approx(its.share.value));
    }
  }
  const Problem head = make_data(Data::gaussian, 40, 6, 3, false);
  const Instance window = make_instance(*backends().front(), head, "window", {{"width", "4"}}),
                 exact = make_instance(*backends().front(), head, "exact", {});
  CHECK_FALSE(selected_recall(*window.bound, *exact.bound, run).oracle);
}
