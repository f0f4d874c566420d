#include <map>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

// |V|_2 squared: the power method with a matrix that is squared forty times.
double squared_norm(MatrixView v) {
  const Index d = v.cols;
  const auto at = [d](Index a, Index b) { return static_cast<std::size_t>(a * d + b); };
  std::vector<double> gram(static_cast<std::size_t>(d * d));
  for (Index a = 0; a < d; ++a)
    for (Index b = 0; b < d; ++b)
      for (Index i = 0; i < v.rows; ++i)
        gram[at(a, b)] += static_cast<double>(v(i, a)) * static_cast<double>(v(i, b));
  std::vector<double> power = gram;
  for (int round = 0; round < 40; ++round) {
    std::vector<double> next(power.size());
    double trace = 0;
    for (Index a = 0; a < d; ++a) trace += power[at(a, a)];
    for (double& entry : power) entry /= trace;
    for (Index a = 0; a < d; ++a)
      for (Index c = 0; c < d; ++c)
        for (Index b = 0; b < d; ++b) next[at(a, b)] += power[at(a, c)] * power[at(c, b)];
    power = std::move(next);
  }
  double product = 0, trace = 0;
  for (Index a = 0; a < d; ++a) {
    trace += power[at(a, a)];
    for (Index b = 0; b < d; ++b) product += gram[at(a, b)] * power[at(b, a)];
  }
  return product / trace;
}

template <class Real>
Dense<Real> kde(const Instance& x) {
  const Structure& s = x.plan->structure;
  const Index n = x.problem.n(), block = Parameters{x}.integer("block");
  if (block >= n) return weighted<Real>(x.problem, [](Index, Index) { return 1; });
  std::vector<double> p;
  double sum = 0;
  const double norm = std::sqrt(squared_norm(x.problem.v));
  for (Index j = 0; j < n; ++j) {
    double squares = 0;
    for (Index c = 0; c < x.problem.dv(); ++c)
      squares += std::pow(static_cast<double>(x.problem.v(j, c)), 2);
    // Where all values are 0, no key is larger than another.
    p.push_back((norm > 0 ? std::sqrt(squares) / norm : 0) + 1 / static_cast<double>(n));
    sum += p.back();
  }
  const auto& drawn = s.integers("sampled_keys");
  std::map<Index, Index> query_block, key_block, times;
  for (Index at = 0; at < n; ++at) {
    query_block[s.integers("query_order")[static_cast<std::size_t>(at)]] = at / block;
    key_block[s.integers("key_order")[static_cast<std::size_t>(at)]] = at / block;
  }
  for (const Index key : drawn) ++times[key];
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    if (query_block.at(i) == key_block.at(j)) return 1.0;
    return static_cast<double>(times[j]) * sum /
           (static_cast<double>(drawn.size()) * p[static_cast<std::size_t>(j)]);
  });
}

}  // namespace

VariantLaws kde_laws() {
  VariantLaws laws = laws_from(
      "kde", [](auto real, const Instance& x) { return kde<decltype(real)>(x); },
      {{.settings = {{"block", "4"}, {"samples", "6"}, {"projections", "3"}}, .random = true},
       {.settings = {{"block", "16"}, {"samples", "40"}, {"projections", "5"}}, .random = true},
       {.settings = {{"block", "1"}, {"samples", "1"}, {"projections", "1"}}, .random = true},
       {.settings = {{"block", "300"}}}});
  laws.exact_settings = {{{{"block", "63"}}}};
  return laws;
}

}  // namespace fovea::test
