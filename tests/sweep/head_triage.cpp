// Which pattern of sparse prefill a head takes: heads that are made for one pattern, and sums over
// dense matrices in double.
#include "sweep/head_triage.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "analysis/metrics.h"
#include "laws/conditions.h"
#include "sweep/made_heads.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Order = std::vector<Index>;

TriagedHead triaged(const Problem& problem, const TriageRule& rule = {},
                    double max_entries = most_read_entries) {
  const Instance exact = make_instance(*backends().back(), problem, "exact", {});
  Profile profile;
  Run run{profile};
  return triage_head(*exact.bound, rule, *backends().back(), run, max_entries, 3);
}

// The same in double, over matrices of all pairs.

struct DensePattern {
  Index first = 0, second = 0;  // columns and diagonals, or the blocks of a row
  double pairs = 0, recall = 0;
};

class DenseHead {
 public:
  explicit DenseHead(const Problem& problem)
      : problem_(problem),
        n_(problem.n()),
        p_(std::size_t(n_ * n_)),
        unsunk_(p_),
        kept_(p_.size()) {
    for (Index i = 0; i < n_; ++i) {
      double top = -INFINITY, sum = 0;
      for (Index j = 0; j < n_; ++j)
        if (problem.admits(i, j)) top = std::max(top, problem.logit(i, j)), ++admitted_;
      for (Index j = 0; j < n_; ++j)
        if (problem.admits(i, j)) sum += p_[at(i, j)] = std::exp(problem.logit(i, j) - top);
      const auto sink = problem.rule ? problem.rule->sink : std::nullopt;
      const double all = sum + (sink ? std::exp(*sink - top) : 0.0);
      for (Index j = 0; j < n_ && sum > 0; ++j) {
        unsunk_[at(i, j)] = p_[at(i, j)] / sum;
        p_[at(i, j)] /= all;
      }
    }
  }

  double admitted() const { return admitted_; }

  std::vector<DensePattern> lines(const Order& columns, const Order& diagonals, double most) {
    std::vector<DensePattern> out;
    for (const double share : {1.0 / 16, 0.25, 0.5, 0.75, 15.0 / 16}) {
      std::fill(kept_.begin(), kept_.end(), false);
      double pairs = 0;
      const auto in_column = [](Index, Index j, Index line) { return j == line; };
      const auto on_diagonal = [](Index i, Index j, Index line) { return std::abs(i - j) == line; };
      const Index first = take(columns, in_column, share * most, pairs),
                  second = take(diagonals, on_diagonal, most, pairs);
      out.push_back({first, second, pairs, recall()});
    }
    return out;
  }

  DensePattern blocks(Index side, double most) {
    const Index count = (n_ + side - 1) / side;
    std::vector<Order> ranked;
    for (Index row = 0; row < count; ++row) ranked.push_back(by_mean_products(row, side, count));
    DensePattern out;
    std::fill(kept_.begin(), kept_.end(), false);
    for (Index rank = 0; rank < count; ++rank) {
      std::vector<bool> before = kept_;
      double more = 0;
      for (Index row = 0; row < count; ++row)
        if (rank < std::ssize(ranked[std::size_t(row)]))
          more += keep([&](Index i, Index j) {
            return i / side == row && j / side == ranked[std::size_t(row)][std::size_t(rank)];
          });
      if (out.pairs + more > most) {
        kept_ = before;
        break;
      }
      out.pairs += more;
      ++out.first;
    }
    out.recall = recall();
    return out;
  }

  Order in_sequence() const {
    Order order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), Index{0});
    return order;
  }
  Order columns() const {
    return by_mass(30 * n_ / 8192, [](Index, Index j) { return j; });
  }
  Order diagonals() const {
    return by_mass(100 * n_ / 8192, [](Index i, Index j) { return std::abs(i - j); });
  }

 private:
  std::size_t at(Index i, Index j) const { return std::size_t(i * n_ + j); }

  template <class Is>
  double keep(Is is) {
    double more = 0;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j)
        if (is(i, j) && problem_.admits(i, j) && !kept_[at(i, j)]) {
          kept_[at(i, j)] = true;
          ++more;
        }
    return more;
  }

  template <class OnLine>
  Index take(const Order& lines, OnLine on_line, double most, double& pairs) {
    Index count = 0;
    for (const Index line : lines) {
      const std::vector<bool> before = kept_;
      const double more = keep([&](Index i, Index j) { return on_line(i, j, line); });
      if (pairs + more > most) {
        kept_ = before;
        break;
      }
      pairs += more;
      ++count;
    }
    return count;
  }

  double recall() const {
    double kept = 0, all = 0;
    for (std::size_t e = 0; e < p_.size(); ++e) {
      all += p_[e];
      if (kept_[e]) kept += p_[e];
    }
    return kept / all;
  }

  template <class LineOf>
  Order by_mass(Index forced, LineOf line_of) const {
    std::vector<double> mass(static_cast<std::size_t>(n_));
    for (Index i = std::max<Index>(0, n_ - 64); i < n_; ++i)
      for (Index j = 0; j < n_; ++j) mass[std::size_t(line_of(i, j))] += unsunk_[at(i, j)];
    Order order = in_sequence();
    std::stable_sort(order.begin() + forced, order.end(),
                     [&](Index a, Index b) { return mass[std::size_t(a)] > mass[std::size_t(b)]; });
    return order;
  }

  Order by_mean_products(Index row, Index side, Index count) const {
    const auto mean = [&](MatrixView x, Index block, Index c) {
      double sum = 0;
      const Index end = std::min(n_, (block + 1) * side);
      for (Index i = block * side; i < end; ++i) sum += double{x(i, c)};
      return sum / double(end - block * side);
    };
    std::vector<std::pair<double, Index>> scores;
    for (Index block = 0; block < count; ++block) {
      bool any = false;
      for (Index i = row * side; i < std::min(n_, (row + 1) * side); ++i)
        for (Index j = block * side; j < std::min(n_, (block + 1) * side); ++j)
          any = any || problem_.admits(i, j);
      double product = 0;
      for (Index c = 0; c < problem_.d(); ++c)
        product += mean(problem_.q, row, c) * mean(problem_.k, block, c);
      if (any) scores.emplace_back(-product, block);
    }
    std::ranges::sort(scores);
    Order order;
    for (const auto& score : scores) order.push_back(score.second);
    return order;
  }

  const Problem& problem_;
  Index n_;
  double admitted_ = 0;
  std::vector<double> p_, unsunk_;  // [n, n] with what a sink takes of each row, and without
  std::vector<bool> kept_;
};

/// The recall is that of the try with these sizes, and no other try has a larger one.
void check_best(const PatternRecall& found, const std::vector<DensePattern>& tries, Index first,
                Index second, double admitted) {
  bool is_try = false;
  for (const DensePattern& one : tries) {
    CHECK(found.recall.value >= one.recall - 1e-5);
    if (one.first != first || one.second != second) continue;
    is_try = true;
    CHECK(found.recall.value == doctest::Approx(one.recall).epsilon(1e-5));
    CHECK(found.pairs == doctest::Approx(one.pairs / admitted));
  }
  CHECK(is_try);
}

void check_against_dense(const Problem& problem, double budget) {
  const TriagedHead found = triaged(problem, {.budget = budget});
  DenseHead dense(problem);
  CHECK(found.rows == problem.n());
  if (dense.admitted() == 0) {
    CHECK(found.pattern == HeadPattern::full);
    return;
  }
  const double most = budget * dense.admitted();
  for (const HeadPattern pattern : {HeadPattern::streaming, HeadPattern::vertical_slash}) {
    CAPTURE(pattern_name(pattern));
    const bool by_mass = pattern == HeadPattern::vertical_slash;
    const PatternRecall& its = found.of(pattern);
    check_best(its,
               dense.lines(by_mass ? dense.columns() : dense.in_sequence(),
                           by_mass ? dense.diagonals() : dense.in_sequence(), most),
               its.sizes.columns, its.sizes.diagonals, dense.admitted());
  }
  const PatternRecall& block = found.of(HeadPattern::block);
  check_best(block, {dense.blocks(block.sizes.block, most)}, block.sizes.blocks, 0,
             dense.admitted());
}

}  // namespace

TEST_CASE("triage: a head that is made for a pattern takes it") {
  const auto takes_pattern = [](const Problem& problem, HeadPattern pattern) {
    const TriagedHead head = triaged(problem);
    CAPTURE(pattern_name(pattern));
    CAPTURE(head.of(HeadPattern::streaming).recall.value);
    CAPTURE(head.of(HeadPattern::vertical_slash).recall.value);
    CAPTURE(head.of(HeadPattern::block).recall.value);
    CHECK(pattern_name(head.pattern) == pattern_name(pattern));
    CHECK(head.pairs() <= (pattern == HeadPattern::full ? 1 : 0.1));
    CHECK(head.recall() >= 0.9);
    CHECK(head.rows == made_n);
    CHECK_FALSE(head.near_keep);
    return head;
  };
  // Its own columns and diagonals are those of a streaming head: the cheaper pattern takes it.
  for (const bool causal : {true, false})
    CHECK(takes_pattern(sinks_and_window(causal), HeadPattern::streaming).as_good ==
          std::vector{HeadPattern::vertical_slash});
  CHECK(takes_pattern(columns_and_diagonals(), HeadPattern::vertical_slash).as_good.empty());
  CHECK(takes_pattern(random_blocks_head(), HeadPattern::block).as_good.empty());
  CHECK(takes_pattern(MadeHead().problem(), HeadPattern::full).as_good.empty());
}

TEST_CASE("triage: recall, pairs and sizes are those of sums in double over all pairs") {
  int turn = 0;
  for (const ConditionCase& condition : condition_cases())
    for (const bool causal : {true, false}) {
      CAPTURE(condition.name);
      CAPTURE(causal);
      Problem problem = make_data(Data::gaussian, turn++ % 2 ? 57 : 40, 6, 3, causal);
      condition.apply(problem);
      check_against_dense(problem, 0.3);
    }
  // From 82 tokens on the nearest diagonals are taken first, from 274 on first keys, too.
  check_against_dense(make_data(Data::gaussian, 290, 6, 3, true), 0.05);
}

TEST_CASE("triage: a pattern keeps the mass that its variant keeps") {
  Profile profile;
  Run run{profile};
  const Backend& backend = *backends().back();
  // 57 tokens have no fixed lines, 300 have first keys and nearest diagonals.
  for (const Problem& problem : {columns_and_diagonals(), make_data(Data::gaussian, 57, 4, 2, true),
                                 make_data(Data::gaussian, 300, 4, 2, false)}) {
    CAPTURE(problem.n());
    const TriagedHead head = triaged(problem, {.budget = 0.3});
    const Instance exact = make_instance(backend, problem, "exact", {});
    for (const HeadPattern pattern : {HeadPattern::streaming, HeadPattern::vertical_slash}) {
      CAPTURE(pattern_name(pattern));
      const auto setting = variant_of(pattern, head.of(pattern).sizes, problem.n());
      REQUIRE(setting);
      const Computation computed =
          prepare(problem, {.variant = setting->variant, .values = setting->values}, backend, run);
      const double kept = compare(*computed.op, computed.op->apply(problem.v, run), *exact.bound,
                                  exact.apply(problem.v), run)
                              .mass_kept.value;
      CHECK(head.of(pattern).recall.value == doctest::Approx(kept));
    }
  }
  CHECK_FALSE(variant_of(HeadPattern::block, {.block = 64, .blocks = 3}, 512));
  CHECK_FALSE(variant_of(HeadPattern::full, {}, 512));
  CHECK_FALSE(variant_of(HeadPattern::streaming, {.columns = 4}, 512));  // no diagonal
}

TEST_CASE("triage: all pairs are all mass, none are none") {
  const Problem problem = make_data(Data::gaussian, 60, 4, 2, true);
  const TriagedHead all = triaged(problem, {.budget = 1});
  CHECK(all.pattern == HeadPattern::streaming);
  CHECK(all.as_good == std::vector{HeadPattern::vertical_slash, HeadPattern::block});
  for (const PatternRecall& its : all.patterns) {
    CHECK(its.recall.value == doctest::Approx(1));
    CHECK(its.pairs == 1);
  }
  const TriagedHead none = triaged(problem, {.budget = 0});
  CHECK(none.pattern == HeadPattern::full);
  CHECK(none.recall() == 1);
  for (const PatternRecall& its : none.patterns) CHECK(its.recall.value == 0);
  CHECK(triaged(make_data(Data::gaussian, 1, 4, 2, true)).pattern == HeadPattern::full);
}

TEST_CASE("triage: rows of a long head are sampled, and what the error leaves open is said") {
  const Problem problem = columns_and_diagonals();
  const TriagedHead exact = triaged(problem), sampled = triaged(problem, {}, 64.0 * made_n);
  CHECK(sampled.rows == 64);
  for (const HeadPattern pattern : sparse_patterns) {
    CAPTURE(pattern_name(pattern));
    const Estimate estimate = sampled.of(pattern).recall;
    CHECK(exact.of(pattern).recall.standard_error == 0);
    CHECK(estimate.standard_error > 0);
    CHECK(std::abs(estimate.value - exact.of(pattern).recall.value) < 4 * estimate.standard_error);
    CHECK(sampled.of(pattern).sizes.block == exact.of(pattern).sizes.block);
  }
  const Estimate best = sampled.of(HeadPattern::vertical_slash).recall;
  const auto keeping = [&](double keep) { return triaged(problem, {.keep = keep}, 64.0 * made_n); };
  CHECK(keeping(best.value + best.standard_error).pattern == HeadPattern::full);
  CHECK(keeping(best.value + best.standard_error).near_keep);
  CHECK(keeping(best.value - best.standard_error).near_keep);
  CHECK_FALSE(keeping(best.value - 3 * best.standard_error).near_keep);
}

TEST_CASE("triage: a head with numbers that are not finite stays full") {
  MadeHead head;
  head.q(7, 3) = NAN;
  const TriagedHead found = triaged(head.problem());
  CHECK(found.pattern == HeadPattern::full);
  CHECK(std::isnan(found.of(HeadPattern::streaming).recall.value));
}

TEST_CASE("triage stops when it is cancelled") {
  const Problem problem = make_data(Data::gaussian, 200, 4, 2, true);
  const Instance exact = make_instance(*backends().back(), problem, "exact", {});
  std::stop_source stop;
  stop.request_stop();
  Profile profile;
  Run run{profile, stop.get_token()};
  CHECK_THROWS_AS(triage_head(*exact.bound, {}, *backends().back(), run), Cancelled);
}
