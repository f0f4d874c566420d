#include <bit>
#include <cstdlib>
#include <map>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

int h1d_level(Index bi, Index bj, bool nested) {
  if (nested)
    return std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bi ^ bj))) - 1);
  int level = 0;
  while (std::abs((bi >> level) - (bj >> level)) > 1) ++level;
  return level;
}

template <class Real>
Dense<Real> h1d(const Instance& x) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  const Index block = p.integer("block");
  const std::string query = problem.causal ? p.text("causal_query") : "mean";
  const Logits<Real> logits{problem};
  std::map<std::pair<int, Index>, std::vector<Real>> queries, keys;  // by level and cluster
  const auto of = [&](auto& known, MatrixView m, Index cluster,
                      int level) -> const std::vector<Real>& {
    auto [at, is_new] = known.try_emplace({level, cluster});
    if (is_new) at->second = logits.mean(m, cluster, level);
    return at->second;
  };
  Dense<Real> weight(problem.n()), logit(problem.n());
  for (Index i = 0; i < weight.n; ++i)
    for (Index j = 0; j < weight.n; ++j) {
      if (problem.causal && j > i) continue;
      const int level = h1d_level(i / block, j / block, p.text("structure") == "nested");
      const auto& q = query == "mean"
                          ? of(queries, problem.q, i >> level, level)
                          : of(queries, problem.q, query == "fine" ? i : i >> level << level, 0);
      weight(i, j) = 1;
      logit(i, j) = ruled(problem, logits.dot(q, of(keys, problem.k, j >> level, level)), i, j);
    }
  return softmax(weight, logit, sink_of(problem));
}

}  // namespace

VariantLaws h1d_laws() {
  VariantLaws laws =
      laws_from("h1d", [](auto real, const Instance& x) { return h1d<decltype(real)>(x); },
                {{.settings = {{"block", "2"}}},
                 {.settings = {{"block", "4"}, {"structure", "nested"}}},
                 {.settings = {{"block", "2"}, {"causal_query", "fine"}}},
                 {.settings = {{"block", "6"}, {"structure", "nested"}, {"causal_query", "fine"}}},
                 {.settings = {{"block", "4"}, {"causal_query", "mean"}}, .leaks_the_future = true},
                 {.settings = {{"block", "16"}}}});
  laws.exact_settings = {{{{"block", "64"}}},
                         {{{"block", "64"}, {"structure", "nested"}}},
                         {{{"block", "32"}}}};  // two blocks: no level above 0
  return laws;
}

}  // namespace fovea::test
