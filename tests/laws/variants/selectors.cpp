// Selections straight from their definitions, in float64: scores, then the largest, the first among
// equal ones. P in any arithmetic is then a softmax over what was selected.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "laws/formulas.h"
#include "laws/variants/blocks.h"

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
          gate += double(problem.q(i, c)) *
                  double(static_cast<float>(sum / double(blocks.end(b) - blocks.begin(b))));
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

}  // namespace fovea::test
