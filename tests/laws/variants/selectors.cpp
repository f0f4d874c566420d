// Selections straight from their definitions, in float64: scores, then the largest, the first among
// equal ones. P in any arithmetic is then a softmax over what was selected.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

double product(const Problem& p, Index i, Index j) {
  double sum = 0;
  for (Index c = 0; c < p.d(); ++c) sum += double(p.q(i, c)) * double(p.k(j, c));
  return sum;
}

/// Which of the `scores` that are not excluded are among the `count` largest; `first` before all.
std::vector<bool> largest(const std::vector<double>& scores, const std::vector<bool>& excluded,
                          Index count, Index first = -1) {
  std::vector<bool> taken(scores.size());
  for (Index turn = 0; turn < count; ++turn) {
    Index best = -1;
    for (Index b = 0; b < std::ssize(scores); ++b) {
      const auto at = static_cast<std::size_t>(b);
      if (excluded[at] || taken[at]) continue;
      if (turn == 0 && b == first) best = b;
      if (best < 0 || (best != first && scores[at] > scores[static_cast<std::size_t>(best)]))
        best = b;
    }
    if (best >= 0) taken[static_cast<std::size_t>(best)] = true;
  }
  return taken;
}

struct Blocks {
  Index n, size;
  Index count() const { return (n + size - 1) / size; }
  Index begin(Index b) const { return b * size; }
  Index end(Index b) const { return std::min(n, (b + 1) * size); }
};

/// P where each query selects blocks: score(i, b) of query and block.
template <class Real, class Score>
Dense<Real> of_blocks(const Instance& x, Index size, Index count, bool own, Score score) {
  const Problem& problem = x.problem;
  const Blocks blocks{problem.n(), size};
  Dense<char> kept(problem.n());
  for (Index i = 0; i < problem.n(); ++i) {
    std::vector<double> scores;
    std::vector<bool> excluded;
    for (Index b = 0; b < blocks.count(); ++b) {
      bool seen = false;
      for (Index j = blocks.begin(b); j < blocks.end(b); ++j) seen |= sees(problem, i, j);
      excluded.push_back(!seen);
      scores.push_back(seen ? score(i, b, blocks) : nothing);
    }
    const auto taken = largest(scores, excluded, count, own ? i / size : -1);
    for (Index j = 0; j < problem.n(); ++j) kept(i, j) = taken[static_cast<std::size_t>(j / size)];
  }
  return weighted<Real>(problem, [&](Index i, Index j) { return kept(i, j); });
}

template <class Real>
Dense<Real> moba(const Instance& x) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  return of_blocks<Real>(
      x, p.integer("block"), p.integer("blocks"), true, [&](Index i, Index b, Blocks blocks) {
        double gate = 0;
        for (Index c = 0; c < problem.d(); ++c) {
          double sum = 0;
          for (Index j = blocks.begin(b); j < blocks.end(b); ++j) sum += double(problem.k(j, c));
          gate += double(problem.q(i, c)) * (sum / double(blocks.end(b) - blocks.begin(b)));
        }
        return gate;
      });
}

template <class Real>
Dense<Real> msa(const Instance& x) {
  const Parameters p{x};
  return of_blocks<Real>(x, p.integer("block"), p.integer("blocks"), true,
                         [&](Index i, Index b, Blocks blocks) {
                           double most = nothing;
                           for (Index j = blocks.begin(b); j < blocks.end(b); ++j)
                             if (sees(x.problem, i, j))
                               most = std::max(most, product(x.problem, i, j));
                           return most;
                         });
}

template <class Real>
Dense<Real> quest(const Instance& x) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  return of_blocks<Real>(
      x, p.integer("page"), p.integer("pages"), true, [&](Index i, Index b, Blocks blocks) {
        double bound = 0;
        for (Index c = 0; c < problem.d(); ++c) {
          double most = nothing;  // q_c k_c is largest at one end
          for (Index j = blocks.begin(b); j < blocks.end(b); ++j)
            most = std::max(most, double(problem.q(i, c)) * double(problem.k(j, c)));
          bound += most;
        }
        return bound;
      });
}

/// exp of the logits that a query sees over their sum.
std::vector<double> weights(const Problem& problem, Index i) {
  std::vector<double> out;
  double top = nothing, sum = 0;
  for (Index j = 0; j < problem.n(); ++j) {
    out.push_back(sees(problem, i, j) ? ruled(problem, problem.scale * product(problem, i, j), i, j)
                                      : nothing);
    top = std::max(top, out.back());
  }
  if (top == nothing) return std::vector<double>(out.size());
  for (double& w : out) sum += w = std::exp(w - top);
  for (double& w : out) w /= sum;
  return out;
}

template <class Real>
Dense<Real> oracle(const Instance& x) {
  const Parameters p{x};
  std::vector<std::vector<double>> rows;
  for (Index i = 0; i < x.problem.n(); ++i) rows.push_back(weights(x.problem, i));
  return of_blocks<Real>(x, p.integer("block"), p.integer("blocks"), false,
                         [&](Index i, Index b, Blocks blocks) {
                           const auto row = rows[static_cast<std::size_t>(i)].begin();
                           return std::accumulate(row + blocks.begin(b), row + blocks.end(b), 0.0);
                         });
}

template <class Real>
Dense<Real> dsa(const Instance& x) {
  const Parameters p{x};
  const bool relu = p.text("activation") == "relu";
  const Index n = x.problem.n();
  Dense<char> kept(n);
  for (Index i = 0; i < n; ++i) {
    std::vector<double> scores;
    std::vector<bool> excluded;
    for (Index j = 0; j < n; ++j) {
      const double s = product(x.problem, i, j);
      scores.push_back(relu && s < 0 ? 0 : s);
      excluded.push_back(!sees(x.problem, i, j));
    }
    const auto taken = largest(scores, excluded, p.integer("tokens"));
    for (Index j = 0; j < n; ++j) kept(i, j) = taken[static_cast<std::size_t>(j)];
  }
  return weighted<Real>(x.problem, [&](Index i, Index j) { return kept(i, j); });
}

/// The lines that are kept of those with some mass.
std::vector<bool> lines(const std::vector<double>& mass, Index forced, Index count, double gamma) {
  std::vector<bool> kept(mass.size());
  const double enough = gamma * std::accumulate(mass.begin(), mass.end(), 0.0);
  double sum = 0;
  for (Index taken = 0; taken < std::ssize(mass); ++taken) {
    if (gamma >= 0 ? taken >= std::max<Index>(1, forced) && sum >= enough : taken >= count) break;
    Index best = -1;
    for (Index line = 0; line < std::ssize(mass); ++line) {
      const auto at = static_cast<std::size_t>(line);
      if (kept[at] || (taken < forced && line >= forced)) continue;
      if (best < 0 || (taken >= forced && mass[at] > mass[static_cast<std::size_t>(best)]))
        best = line;
    }
    kept[static_cast<std::size_t>(best)] = true;
    sum += mass[static_cast<std::size_t>(best)];
  }
  return kept;
}

template <class Real>
Dense<Real> vertical_slash(const Instance& x) {
  const Parameters p{x};
  const Index n = x.problem.n();
  std::vector<double> of_keys(static_cast<std::size_t>(n)), of_distances(of_keys);
  for (Index i = std::max<Index>(0, n - p.integer("last")); i < n; ++i) {
    const std::vector<double> row = weights(x.problem, i);
    for (Index j = 0; j < n; ++j) {
      of_keys[static_cast<std::size_t>(j)] += row[static_cast<std::size_t>(j)];
      of_distances[static_cast<std::size_t>(std::abs(i - j))] += row[static_cast<std::size_t>(j)];
    }
  }
  const double gamma = p.text("rule") == "mass" ? p.real("gamma") : -1;
  const auto vertical =
                 lines(of_keys, std::min(n, p.integer("first")), p.integer("vertical"), gamma),
             slash =
                 lines(of_distances, std::min(n, p.integer("nearest")), p.integer("slash"), gamma);
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    return vertical[static_cast<std::size_t>(j)] ||
           slash[static_cast<std::size_t>(std::abs(i - j))];
  });
}

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
    double top = nothing, sum = 0;
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

VariantLaws moba_laws() {
  VariantLaws laws =
      laws_from("moba", [](auto real, const Instance& x) { return moba<decltype(real)>(x); },
                {{.settings = {{"block", "4"}, {"blocks", "3"}}},
                 {.settings = {{"block", "7"}, {"blocks", "1"}}},
                 {.settings = {{"block", "1"}, {"blocks", "5"}}}});
  laws.exact_settings = {{{{"block", "9"}, {"blocks", "7"}}}, {{{"block", "63"}, {"blocks", "1"}}}};
  return laws;
}

VariantLaws msa_laws() {
  VariantLaws laws =
      laws_from("msa", [](auto real, const Instance& x) { return msa<decltype(real)>(x); },
                {{.settings = {{"block", "5"}, {"blocks", "4"}}},
                 {.settings = {{"block", "16"}, {"blocks", "2"}}}});
  laws.exact_settings = {{{{"block", "9"}, {"blocks", "7"}}}};
  return laws;
}

VariantLaws quest_laws() {
  VariantLaws laws =
      laws_from("quest", [](auto real, const Instance& x) { return quest<decltype(real)>(x); },
                {{.settings = {{"page", "3"}, {"pages", "4"}}},
                 {.settings = {{"page", "16"}, {"pages", "2"}}}});
  laws.exact_settings = {{{{"page", "8"}, {"pages", "8"}}}};
  return laws;
}

VariantLaws oracle_laws() {
  VariantLaws laws =
      laws_from("oracle", [](auto real, const Instance& x) { return oracle<decltype(real)>(x); },
                {{.settings = {{"block", "6"}, {"blocks", "3"}}},
                 {.settings = {{"block", "17"}, {"blocks", "1"}}}});
  laws.exact_settings = {{{{"block", "32"}, {"blocks", "2"}}}};
  return laws;
}

VariantLaws dsa_laws() {
  VariantLaws laws = laws_from(
      "dsa", [](auto real, const Instance& x) { return dsa<decltype(real)>(x); },
      {{.settings = {{"tokens", "9"}}}, {.settings = {{"tokens", "2"}, {"activation", "none"}}}});
  laws.exact_settings = {{{{"tokens", "63"}}}};
  return laws;
}

VariantLaws vertical_slash_laws() {
  VariantLaws laws = laws_from(
      "vertical_slash",
      [](auto real, const Instance& x) { return vertical_slash<decltype(real)>(x); },
      {{.settings =
            {{"vertical", "5"}, {"slash", "6"}, {"last", "8"}, {"first", "2"}, {"nearest", "3"}}},
       {.settings =
            {{"vertical", "1"}, {"slash", "40"}, {"last", "70"}, {"first", "0"}, {"nearest", "0"}}},
       {.settings = {{"rule", "mass"},
                     {"gamma", "0.5"},
                     {"last", "16"},
                     {"first", "1"},
                     {"nearest", "1"}}}});
  laws.exact_settings = {{{{"vertical", "63"}}}, {{{"vertical", "1"}, {"slash", "63"}}}};
  return laws;
}

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
