// Selections by blocks of queries, straight from their definitions, in float64.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "laws/formulas.h"
#include "laws/variants/blocks.h"

namespace fovea::test {
namespace {

/// P where blocks of queries select blocks of keys: choose(row, blocks that have a pair) gives
/// those that are kept.
template <class Real, class Choose>
Dense<Real> of_map(const Instance& x, Blocks queries, Blocks keys, Choose choose) {
  Dense<char> kept(x.problem.n());
  for (Index row = 0; row < queries.count(); ++row) {
    std::vector<Index> some;
    for (Index col = 0; col < keys.count(); ++col) {
      bool seen = false;
      for (Index i = queries.begin(row); i < queries.end(row); ++i)
        for (Index j = keys.begin(col); j < keys.end(col); ++j) seen |= sees(x.problem, i, j);
      if (seen) some.push_back(col);
    }
    choose(row, some);
    for (const Index col : some)
      for (Index i = queries.begin(row); i < queries.end(row); ++i)
        for (Index j = keys.begin(col); j < keys.end(col); ++j) kept(i, j) = 1;
  }
  return weighted<Real>(x.problem, [&](Index i, Index j) { return kept(i, j); });
}

/// The items of the largest shares, the first among equal ones, as long as more(mass of those
/// before, share of the next, how many there are).
template <class More>
std::vector<Index> by_share(std::vector<std::pair<double, Index>> items, More more) {
  std::ranges::stable_sort(items, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Index> kept;
  double mass = 0;
  for (const auto& [share, item] : items) {
    if (!more(mass, share, std::ssize(kept))) break;
    kept.push_back(item);
    mass += share;
  }
  return kept;
}

template <class Real>
Dense<Real> xattention(const Instance& x) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  const Index n = problem.n(), stride = p.integer("stride"), groups = (n + stride - 1) / stride;
  const Blocks blocks{n, p.integer("block")};
  const double tau = p.real("tau");
  return of_map<Real>(x, blocks, blocks, [&](Index row, std::vector<Index>& some) {
    std::vector<double> mass(static_cast<std::size_t>(blocks.count()));
    for (Index r = blocks.begin(row) / stride; r < groups && r * stride < blocks.end(row); ++r) {
      const Index last = problem.causal ? r : groups - 1;
      std::vector<double> logits;
      for (Index c = 0; c <= last; ++c) {
        double sum = 0;  // along the antidiagonal, tokens that do not exist are 0
        for (Index t = 0; t < stride; ++t)
          for (Index e = 0; e < problem.d(); ++e) {
            const Index i = r * stride + stride - 1 - t, j = c * stride + t;
            if (i < n && j < n) sum += double(problem.q(i, e)) * double(problem.k(j, e));
          }
        logits.push_back(sum * (problem.scale / double(stride)));
      }
      const double top = std::ranges::max(logits);
      double sum = 0;
      for (double& w : logits) sum += w = std::exp(w - top);
      for (Index c = 0; c <= last; ++c)
        mass[static_cast<std::size_t>(c * stride / blocks.size)] +=
            logits[static_cast<std::size_t>(c)] / sum;
    }
    double all = 0;
    for (const Index col : some) all += mass[static_cast<std::size_t>(col)];
    std::vector<Index> kept;
    std::vector<std::pair<double, Index>> others;
    double forced = 0;
    for (const Index col : some) {
      const double share = all > 0 ? mass[static_cast<std::size_t>(col)] / all : 0;
      if (col == 0 || col == row) {
        kept.push_back(col);
        forced += share;
      } else {
        others.emplace_back(share, col);
      }
    }
    for (const Index col : by_share(others, [&, sum = forced](double, double share, Index) mutable {
           const bool more = tau >= 1 || sum < tau;
           sum += share;
           return more;
         }))
      kept.push_back(col);
    some.swap(kept);
  });
}

/// The mean of a block as a float, and whether its vectors have a mean cosine above theta.
struct Pooled {
  std::vector<float> mean;
  bool alike;

  Pooled(MatrixView m, Index begin, Index end, double theta) {
    std::vector<double> units(static_cast<std::size_t>(m.cols));
    const auto count = double(end - begin);
    for (Index c = 0; c < m.cols; ++c) {
      double sum = 0;
      for (Index i = begin; i < end; ++i) sum += double(m(i, c));
      mean.push_back(static_cast<float>(sum / count));
    }
    for (Index i = begin; i < end; ++i) {
      double squares = 0;
      for (Index c = 0; c < m.cols; ++c) squares += double(m(i, c)) * double(m(i, c));
      for (Index c = 0; c < m.cols; ++c)
        units[static_cast<std::size_t>(c)] += double(m(i, c)) / std::sqrt(squares);
    }
    double cosines = 0;
    for (const double u : units) cosines += u * u;
    alike = theta < 1 && cosines / (count * count) > theta;
  }
};

template <class Real>
Dense<Real> sparge(const Instance& x) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  const Blocks queries{problem.n(), p.integer("query_block")},
      keys{problem.n(), p.integer("key_block")};
  const double theta = p.real("theta"), tau = p.real("tau");
  return of_map<Real>(x, queries, keys, [&](Index row, std::vector<Index>& some) {
    const Pooled query(problem.q, queries.begin(row), queries.end(row), theta);
    if (!query.alike) return;
    std::vector<Index> kept;
    std::vector<std::pair<double, Index>> others;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const Index col : some) {
      const Pooled key(problem.k, keys.begin(col), keys.end(col), theta);
      if (!key.alike) {
        kept.push_back(col);
        continue;
      }
      double dot = 0;
      for (std::size_t c = 0; c < key.mean.size(); ++c)
        dot += double(query.mean[c]) * double(key.mean[c]);
      others.emplace_back(problem.scale * dot, col);
      top = std::max(top, others.back().first);
    }
    for (auto& [share, col] : others) sum += share = std::exp(share - top);
    for (auto& [share, col] : others) share /= sum;
    for (const Index col : by_share(others, [&](double mass, double share, Index count) {
           return count == 0 || tau >= 1 || mass + share <= tau;
         }))
      kept.push_back(col);
    some.swap(kept);
  });
}

}  // namespace

VariantLaws xattention_laws() {
  VariantLaws laws = laws_from(
      "xattention", [](auto real, const Instance& x) { return xattention<decltype(real)>(x); },
      {{.settings = {{"block", "8"}, {"stride", "4"}, {"tau", "0.6"}}},
       {.settings = {{"block", "5"}, {"stride", "1"}, {"tau", "0.8"}}},
       {.settings = {{"block", "16"}, {"stride", "16"}, {"tau", "0"}}}});
  laws.exact_settings = {{{{"block", "9"}, {"stride", "3"}, {"tau", "1"}}},
                         {{{"block", "64"}, {"stride", "8"}}}};
  return laws;
}

VariantLaws sparge_laws() {
  VariantLaws laws = laws_from(
      "sparge", [](auto real, const Instance& x) { return sparge<decltype(real)>(x); },
      {{.settings = {{"query_block", "8"}, {"key_block", "4"}, {"tau", "0.5"}, {"theta", "-1"}}},
       {.settings = {{"query_block", "3"}, {"key_block", "5"}, {"tau", "0.3"}, {"theta", "0.3"}}}});
  laws.exact_settings = {{{{"key_block", "8"}, {"tau", "1"}}},
                         {{{"key_block", "8"}, {"theta", "1"}, {"tau", "0.5"}}},
                         {{{"key_block", "63"}}}};
  return laws;
}

}  // namespace fovea::test
