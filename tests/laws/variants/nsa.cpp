// NSA straight from its definition: three softmaxes, and gates.
#include <vector>

#include "laws/formulas.h"
#include "laws/variants/blocks.h"

namespace fovea::test {
namespace {

// Blocks that end at the query or before it, or all of them without a causal mask.
Index closed_blocks(const Problem& problem, Index i, Index l) {
  return problem.causal ? (i + 1) / l : Blocks{problem.n(), l}.count();
}

std::vector<double> compressed_weights(const Problem& problem, Index i, Index l) {
  const Blocks blocks{problem.n(), l};
  std::vector<double> logits;
  for (Index b = 0; b < closed_blocks(problem, i, l); ++b) {
    const auto size = double(blocks.end(b) - blocks.begin(b));
    double dot = 0;
    for (Index c = 0; c < problem.d(); ++c) {
      double mean = 0;
      for (Index j = blocks.begin(b); j < blocks.end(b); ++j) mean += double(problem.k(j, c));
      dot += double(problem.q(i, c)) * double(static_cast<float>(mean / size));
    }
    logits.push_back(problem.scale * dot + std::log(size));
  }
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double s : logits) most = std::max(most, s);
  for (const double s : logits) sum += std::exp(s - most);
  for (double& s : logits) s = std::exp(s - most) / sum;
  return logits;
}

// The own block, the first and the one before it, and then those of the largest weights.
std::vector<bool> chosen_blocks(const Problem& problem, Index i, Index l, Index count) {
  const Index own = i / l, blocks = Blocks{problem.n(), l}.count();
  std::vector<double> score = compressed_weights(problem, i, l);
  score.resize(static_cast<std::size_t>(blocks));  // later blocks have the weight 0
  score[0] = 2;                                    // no weight is as large
  if (own > 0) score[static_cast<std::size_t>(own - 1)] = 2;
  std::vector<bool> taken(score.size());
  taken[static_cast<std::size_t>(own)] = true;
  for (Index turn = 1; turn < count; ++turn) {
    Index best = -1;
    for (Index b = 0; b < (problem.causal ? own : blocks); ++b)
      if (!taken[static_cast<std::size_t>(b)] &&
          (best < 0 || score[static_cast<std::size_t>(b)] > score[static_cast<std::size_t>(best)]))
        best = b;
    if (best >= 0) taken[static_cast<std::size_t>(best)] = true;
  }
  return taken;
}

template <class Real>
Dense<Real> nsa(const Instance& x) {
  const Parameters p{x};
  const Problem& problem = x.problem;
  const Index n = problem.n(), l = p.integer("block"), window = p.integer("window");
  const Logits<Real> logits{problem};
  Dense<Real> weight(n), logit(n);
  const Blocks blocks{n, l};
  for (Index b = 0; b < blocks.count(); ++b) {
    std::vector<Real> mean(static_cast<std::size_t>(problem.d()), Real(0));
    for (std::size_t c = 0; c < mean.size(); ++c) {
      for (Index j = blocks.begin(b); j < blocks.end(b); ++j)
        mean[c] += static_cast<Real>(problem.k(j, static_cast<Index>(c)));
      mean[c] /= static_cast<Real>(blocks.end(b) - blocks.begin(b));
    }
    for (Index i = 0; i < n; ++i) {
      if (b >= closed_blocks(problem, i, l)) continue;
      const Real s = logits.dot(logits.mean(problem.q, i, 0), mean);
      for (Index j = blocks.begin(b); j < blocks.end(b); ++j) {
        weight(i, j) = 1;
        logit(i, j) = s;
      }
    }
  }
  const Dense<Real> compressed = softmax(weight, logit, sink_of(problem));
  std::vector<std::vector<bool>> chosen;
  for (Index i = 0; i < n; ++i) chosen.push_back(chosen_blocks(problem, i, l, p.integer("blocks")));
  const Dense<Real> selected = weighted<Real>(problem, [&](Index i, Index j) {
    return chosen[static_cast<std::size_t>(i)][static_cast<std::size_t>(j / l)];
  });
  const Dense<Real> nearest =
      weighted<Real>(problem, [&](Index i, Index j) { return std::abs(i - j) < window; });
  const std::vector<float>& gates = x.plan->structure.reals("gates");
  Dense<Real> sum(n);
  for (Index i = 0; i < n; ++i) {
    const float* g = gates.data() + 3 * i;
    for (Index j = 0; j < n; ++j)
      sum(i, j) = static_cast<Real>(g[0]) * compressed(i, j) +
                  static_cast<Real>(g[1]) * selected(i, j) +
                  static_cast<Real>(g[2]) * nearest(i, j);
  }
  return sum;
}

}  // namespace

VariantLaws nsa_laws() {
  VariantLaws laws = laws_from(
      "nsa", [](auto real, const Instance& x) { return nsa<decltype(real)>(x); },
      {{.settings = {{"block", "4"}, {"blocks", "4"}, {"window", "6"}}, .rows_sum_to_one = false},
       {.settings = {{"block", "8"}, {"blocks", "1"}, {"window", "1"}}, .rows_sum_to_one = false},
       {.settings = {{"block", "1"}, {"blocks", "5"}, {"window", "70"}},
        .rows_sum_to_one = false}});
  // Each branch is exact attention.
  laws.exact_settings = {{{{"block", "1"}, {"blocks", "63"}, {"window", "63"}}}};
  laws.row_sum = [](const Instance& x, Index i) {
    const Parameters p{x};
    const bool none = closed_blocks(x.problem, i, p.integer("block")) == 0;
    return none ? 2.0 / 3 : 1.0;
  };
  return laws;
}

}  // namespace fovea::test
