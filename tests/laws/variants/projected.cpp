// Linformer, Sinkhorn and Synthesizer: other keys than the head's own, and mixtures of values.
#include <utility>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

template <class Real>
using Rows = std::vector<std::vector<Real>>;

template <class Real>
Rows<Real> tensor(const Instance& x, const char* name, Index rows, Index cols) {
  const auto& values = x.plan->structure.reals(name);
  Rows<Real> out(static_cast<std::size_t>(rows));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      out[static_cast<std::size_t>(r)].push_back(
          static_cast<Real>(values[static_cast<std::size_t>(r * cols + c)]));
  return out;
}

// In place: exp of each over the sum of the same.
template <class Real>
void softmax_of(std::vector<Real>& logits) {
  Real top = logits.front(), sum = 0;
  for (const Real s : logits) top = std::max(top, s);
  for (Real& s : logits) sum += s = std::exp(s - top);
  for (Real& s : logits) s /= sum;
}

template <class Real>
Dense<Real> linformer(const Instance& x) {
  const Index n = x.problem.n(), d = x.problem.d(),
              k = static_cast<Index>(x.plan->structure.reals("project_k").size()) / n;
  const Rows<Real> e = tensor<Real>(x, "project_k", k, n), f = tensor<Real>(x, "project_v", k, n);
  const Logits<Real> logits{x.problem};
  Rows<Real> keys;
  for (const auto& row : e) {
    std::vector<Real> key(static_cast<std::size_t>(d));
    for (Index j = 0; j < n; ++j)
      for (Index c = 0; c < d; ++c)
        key[static_cast<std::size_t>(c)] +=
            row[static_cast<std::size_t>(j)] * static_cast<Real>(x.problem.k(j, c));
    keys.push_back(std::move(key));
  }
  Dense<Real> p(n);
  for (Index i = 0; i < n; ++i) {
    std::vector<Real> weight;
    for (const auto& key : keys) weight.push_back(logits.dot(logits.mean(x.problem.q, i, 0), key));
    softmax_of(weight);
    for (Index j = 0; j < n; ++j)
      for (std::size_t r = 0; r < weight.size(); ++r)
        p(i, j) += weight[r] * f[r][static_cast<std::size_t>(j)];
  }
  return p;
}

// R of the paper, from the block means.
template <class Real>
Rows<Real> sinkhorn_mix(const Instance& x, Index b) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  const Index n = problem.n(), blocks = (n + b - 1) / b, d = problem.d();
  Rows<Real> mix(static_cast<std::size_t>(blocks));
  const auto mean = [&](MatrixView m, Index block, Index c) {
    Real sum = 0;
    const Index end = std::min(n, (block + 1) * b);
    for (Index i = block * b; i < end; ++i) sum += static_cast<Real>(m(i, c));
    return sum / static_cast<Real>(end - block * b);
  };
  const Real tau = static_cast<Real>(std::get<double>(p.value("temperature")));
  for (Index r = 0; r < blocks; ++r)
    for (Index s = 0; s < blocks; ++s) {
      Real dot = 0;
      for (Index c = 0; c < d; ++c) dot += mean(problem.q, r, c) * mean(problem.k, s, c);
      mix[static_cast<std::size_t>(r)].push_back(static_cast<Real>(problem.scale) * dot / tau);
    }
  // S^k = F_c(F_r(S^(k-1))), in logarithms, as logits may be too large for exp.
  for (Index round = 0; round < p.integer("iterations"); ++round) {
    for (auto& row : mix) {
      Real top = row.front(), sum = 0;
      for (const Real v : row) top = std::max(top, v);
      for (const Real v : row) sum += std::exp(v - top);
      for (Real& v : row) v -= top + std::log(sum);
    }
    for (std::size_t s = 0; s < mix.size(); ++s) {
      std::vector<Real> column;
      for (const auto& row : mix) column.push_back(row[s]);
      Real top = column.front(), sum = 0;
      for (const Real v : column) top = std::max(top, v);
      for (const Real v : column) sum += std::exp(v - top);
      for (auto& row : mix) row[s] -= top + std::log(sum);
    }
  }
  for (auto& row : mix)
    for (Real& v : row) v = std::exp(v);
  return mix;
}

template <class Real>
Dense<Real> sinkhorn(const Instance& x) {
  const Problem& problem = x.problem;
  const Index n = problem.n(), b = std::min(n, Parameters{x}.integer("block"));
  const Rows<Real> all = sinkhorn_mix<Real>(x, b);
  // At the places that the last block lacks the others have all of its weight. R is kept in
  // float32, whose digits matter there when they have next to none.
  const Index last = n - (n - 1) / b * b;
  Rows<Real> others = tensor<Real>(x, "block_mix", std::ssize(all), std::ssize(all));
  for (auto& row : others) {
    const Real of_last = std::exchange(row.back(), Real(0));
    Real rest = 0;
    for (const Real share : row) rest += share;
    for (Real& share : row) share *= rest > 0 ? (rest + of_last) / rest : 0;
  }
  const auto mix_at = [&](Index t) -> const Rows<Real>& { return t < last ? all : others; };
  const Logits<Real> logits{problem};
  Dense<Real> p(n);
  for (Index i = 0; i < n; ++i) {
    const std::vector<Real> q = logits.mean(problem.q, i, 0);
    const auto block = static_cast<std::size_t>(i / b);
    const Index begin = i / b * b, own = std::min(n, begin + b) - begin;
    std::vector<Real> weight;
    for (Index t = 0; t < own; ++t)
      weight.push_back(logits.dot(q, logits.mean(problem.k, begin + t, 0)));
    for (Index t = 0; t < b; ++t) {
      std::vector<Real> key(static_cast<std::size_t>(problem.d()));
      for (Index j = t; j < n; j += b)
        for (Index c = 0; c < problem.d(); ++c)
          key[static_cast<std::size_t>(c)] += mix_at(t)[block][static_cast<std::size_t>(j / b)] *
                                              static_cast<Real>(problem.k(j, c));
      weight.push_back(logits.dot(q, key));
    }
    softmax_of(weight);
    for (Index t = 0; t < own; ++t) p(i, begin + t) += weight[static_cast<std::size_t>(t)];
    for (Index j = 0; j < n; ++j)
      p(i, j) += weight[static_cast<std::size_t>(own + j % b)] *
                 mix_at(j % b)[block][static_cast<std::size_t>(j / b)];
  }
  return p;
}

template <class Real>
Dense<Real> synthesizer(const Instance& x) {
  const Index n = x.problem.n(), k = Parameters{x}.integer("rank");
  const Rows<Real> r1 = tensor<Real>(x, "query_factors", n, k),
                   r2 = tensor<Real>(x, "key_factors", k, n);
  Dense<Real> weight(n), logit(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      weight(i, j) = !x.problem.causal || j <= i;
      for (std::size_t r = 0; r < r2.size(); ++r)
        logit(i, j) += r1[static_cast<std::size_t>(i)][r] * r2[r][static_cast<std::size_t>(j)];
    }
  return softmax(weight, logit);
}

}  // namespace

VariantLaws linformer_laws() {
  VariantLaws laws = laws_from(
      "linformer", [](auto real, const Instance& x) { return linformer<decltype(real)>(x); },
      {{.settings = {{"rank", "8"}}, .rows_sum_to_one = false, .random = true},
       {.settings = {{"rank", "1"}}, .rows_sum_to_one = false, .random = true},
       {.settings = {{"rank", "100"}}, .rows_sum_to_one = false, .random = true}});
  const Index n = exact_settings_n;
  std::vector<float> identity(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * n + i)] = 1;
  ExactSettings all{.settings = {{"rank", "63"}}};
  for (const char* name : {"project_k", "project_v"}) all.given.set({name, {n, n}, identity});
  laws.exact_settings = {all};
  return laws;
}

VariantLaws sinkhorn_laws() {
  VariantLaws laws = laws_from(
      "sinkhorn", [](auto real, const Instance& x) { return sinkhorn<decltype(real)>(x); },
      {{.settings = {{"block", "8"}}, .rows_sum_to_one = false},
       {.settings = {{"block", "1"}, {"iterations", "1"}}, .rows_sum_to_one = false},
       {.settings = {{"block", "8"}, {"iterations", "500"}, {"temperature", "10"}}},
       {.settings = {{"block", "50"}, {"temperature", "0.3"}}, .rows_sum_to_one = false}});
  laws.exact_settings = {{.settings = {{"block", "63"}}, .same_sums = false}};
  laws.largest_exponent = [](const Instance& x) {
    return largest_logit(x.problem) / Parameters{x}.real("temperature");
  };
  return laws;
}

VariantLaws synthesizer_laws() {
  VariantLaws laws = laws_from(
      "synthesizer", [](auto real, const Instance& x) { return synthesizer<decltype(real)>(x); },
      {{.settings = {{"rank", "4"}}, .random = true}, {.settings = {}, .random = true}});
  laws.never_exact = true;
  return laws;
}

}  // namespace fovea::test
