#include "laws/formulas.h"

namespace fovea::test {
namespace {

// The chunks of one round from its buckets, as the definition counts them: the place of a key is
// the number of keys before it by (bucket, position), that of a query the number of keys that would
// be before it.
struct Round {
  const std::int32_t *query, *key;
  Index n, chunk;

  Index chunk_of(std::int32_t bucket, Index token) const {
    Index place = 0;
    for (Index j = 0; j < n; ++j) place += key[j] < bucket || (key[j] == bucket && j < token);
    return std::min(place, n - 1) / chunk;
  }
};

template <class Real>
Dense<Real> reformer(const Instance& x) {
  const Parameters p{x};
  const Index n = x.problem.n(), chunk = p.integer("chunk");
  if (chunk >= n) return weighted<Real>(x.problem, [](Index, Index) { return 1; });
  Dense<char> found(n);
  for (Index r = 0; r < p.integer("rounds"); ++r) {
    const Round round{x.plan->structure.integers("query_bucket").data() + r * n,
                      x.plan->structure.integers("key_bucket").data() + r * n, n, chunk};
    std::vector<Index> of_query, of_key;
    for (Index i = 0; i < n; ++i) {
      of_query.push_back(round.chunk_of(round.query[i], i));
      of_key.push_back(round.chunk_of(round.key[i], i));
    }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        const Index apart =
            of_query[static_cast<std::size_t>(i)] - of_key[static_cast<std::size_t>(j)];
        if (apart == 0 || apart == 1) found(i, j) = 1;
      }
  }
  return weighted<Real>(x.problem, [&](Index i, Index j) { return found(i, j); });
}

}  // namespace

VariantLaws reformer_laws() {
  VariantLaws laws = laws_from(
      "reformer", [](auto real, const Instance& x) { return reformer<decltype(real)>(x); },
      {{.settings = {{"rounds", "1"}, {"chunk", "4"}}, .random = true},
       {.settings = {{"rounds", "4"}, {"chunk", "7"}}, .random = true},
       {.settings = {{"rounds", "3"}, {"chunk", "1"}}, .random = true},
       {.settings = {{"rounds", "8"}, {"chunk", "16"}}, .random = true},
       {.settings = {{"rounds", "2"}, {"chunk", "90"}}, .random = true},
       {.settings = {{"rounds", "2"}, {"chunk", "300"}}}});
  laws.exact_settings = {{{{"chunk", "63"}}}, {{{"chunk", "100"}, {"rounds", "1"}}}};
  return laws;
}

}  // namespace fovea::test
