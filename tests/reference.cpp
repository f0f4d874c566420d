#include "reference.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace fovea::test {
namespace {

// Parameters by name.
struct Parameters {
  const Instance& instance;

  const Value& value(const std::string& id) const {
    for (std::size_t f = 0; f < instance.values.size(); ++f)
      if (instance.variant->schema[f].id == id) return instance.values[f];
    throw std::logic_error("no parameter " + id);
  }
  Index integer(const std::string& id) const { return std::get<std::int64_t>(value(id)); }
  std::string text(const std::string& id) const { return std::get<std::string>(value(id)); }
};

// Logits of fine pairs (level 0) and of clusters, which are means.
template <class Real>
struct Logits {
  const Problem& problem;

  std::vector<Real> mean(MatrixView m, Index cluster, int level) const {
    std::vector<Real> sum(static_cast<std::size_t>(m.cols), Real(0));
    const IndexRange tokens = cluster_tokens(cluster, level, m.rows);
    for (Index i = tokens.begin; i < tokens.end; ++i)
      for (Index c = 0; c < m.cols; ++c)
        sum[static_cast<std::size_t>(c)] += static_cast<Real>(m(i, c));
    for (Real& x : sum) x /= static_cast<Real>(tokens.size());
    return sum;
  }
  Real dot(const std::vector<Real>& q, const std::vector<Real>& k) const {
    Real sum = 0;
    for (std::size_t c = 0; c < q.size(); ++c) sum += q[c] * k[c];
    return static_cast<Real>(problem.scale) * sum;
  }
};

// P_ij = w_ij exp(S_ij) / sum_j of the same; a row without weight is 0.
template <class Real>
Dense<Real> softmax(const Dense<Real>& weight, const Dense<Real>& logit) {
  Dense<Real> p(weight.n);
  for (Index i = 0; i < p.n; ++i) {
    Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) top = std::max(top, logit(i, j));
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) sum += p(i, j) = weight(i, j) * std::exp(logit(i, j) - top);
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) p(i, j) /= sum;
  }
  return p;
}

template <class Real>
Dense<Real> fine_logits(const Problem& problem) {
  const Logits<Real> logits{problem};
  std::vector<std::vector<Real>> q, k;
  for (Index i = 0; i < problem.n(); ++i) {
    q.push_back(logits.mean(problem.q, i, 0));
    k.push_back(logits.mean(problem.k, i, 0));
  }
  Dense<Real> s(problem.n());
  for (Index i = 0; i < s.n; ++i)
    for (Index j = 0; j < s.n; ++j)
      s(i, j) = logits.dot(q[static_cast<std::size_t>(i)], k[static_cast<std::size_t>(j)]);
  return s;
}

// Weights of a variant whose logits are all fine: a function of the pair.
template <class Real, class Weight>
Dense<Real> weighted(const Problem& problem, Weight weight_of) {
  Dense<Real> weight(problem.n());
  for (Index i = 0; i < weight.n; ++i)
    for (Index j = 0; j < weight.n; ++j)
      if (!problem.causal || j <= i) weight(i, j) = static_cast<Real>(weight_of(i, j));
  return softmax(weight, fine_logits<Real>(problem));
}

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
      logit(i, j) = logits.dot(q, of(keys, problem.k, j >> level, level));
    }
  return softmax(weight, logit);
}

std::string sets_of(const Parameters& p, Index head) {
  const std::string sets = p.text("heads");
  return sets != "split" ? sets : head % 2 == 0 ? "first" : "second";
}

template <class Real>
Dense<Real> fixed(const Instance& x) {
  const Parameters p{x};
  const Index l = p.integer("stride"), c = p.integer("summary"),
              group = x.problem.head % p.integer("subblocks");
  const std::string sets = sets_of(p, x.problem.head);
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const bool first = i / l == j / l;
    const bool second = j % l >= l - (group + 1) * c && j % l < l - group * c;
    return (sets != "second" && first) || (sets != "first" && second);
  });
}

template <class Real>
Dense<Real> strided(const Instance& x) {
  const Parameters p{x};
  const Index l = p.integer("stride");
  const std::string sets = sets_of(p, x.problem.head);
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const bool first = std::abs(i - j) < l, second = (i - j) % l == 0;
    return (sets != "second" && first) || (sets != "first" && second);
  });
}

// Leaves under a node of each depth, root first.
std::vector<Index> leaves_below(const Tree& tree) {
  std::vector<Index> below;
  for (int depth = 0; depth <= tree.height(); ++depth)
    below.push_back(tree.leaves() / tree.nodes(depth));
  return below;
}

template <class Real>
Dense<Real> tf(const Instance& x) {
  const Parameters p{x};
  const Structure& s = x.plan->structure;
  const auto below = leaves_below(s.tree);
  const auto same = [&](Index i, Index j, Index leaves) {
    return s.query_leaf[static_cast<std::size_t>(i)] / leaves ==
           s.key_leaf[static_cast<std::size_t>(j)] / leaves;
  };
  std::vector<Index> reach;  // of each query: leaves under the node whose keys it attends
  for (Index i = 0; i < x.problem.n(); ++i) {
    std::size_t depth = below.size() - 1;
    const auto found = [&] {
      for (Index j = 0; j < (x.problem.causal ? i + 1 : x.problem.n()); ++j)
        if (same(i, j, below[depth])) return true;
      return false;
    };
    if (p.text("empty") == "ancestor")
      while (depth > 0 && !found()) --depth;
    reach.push_back(below[depth]);
  }
  return weighted<Real>(
      x.problem, [&](Index i, Index j) { return same(i, j, reach[static_cast<std::size_t>(i)]); });
}

template <class Real>
Dense<Real> tc(const Instance& x) {
  const Structure& s = x.plan->structure;
  const auto below = leaves_below(s.tree);
  Dense<Real> p(x.problem.n());
  for (Index i = 0; i < p.n; ++i)
    for (std::size_t depth = 0; depth < below.size(); ++depth) {
      const auto shares = [&](Index j) {
        return s.query_leaf[static_cast<std::size_t>(i)] / below[depth] ==
               s.key_leaf[static_cast<std::size_t>(j)] / below[depth];
      };
      const Index end = x.problem.causal ? i + 1 : p.n;
      Index count = 0;
      for (Index j = 0; j < end; ++j) count += shares(j);
      for (Index j = 0; j < end; ++j)
        if (shares(j)) p(i, j) += static_cast<Real>(s.alpha[depth]) / static_cast<Real>(count);
    }
  return p;
}

// W of one sub-problem: queries and keys at these tokens, orders of its depth, samples of its node.
struct HyperNode {
  IndexRange queries, keys;
  const std::int32_t *query_order, *key_order, *samples;
};

void hyper_weights(const HyperNode& node, Index block, Index m, Dense<double>& w) {
  std::map<Index, Index> query_block, key_block, times;
  for (Index p = node.queries.begin; p < node.queries.end; ++p)
    query_block[node.query_order[p]] = (p - node.queries.begin) / block;
  for (Index p = node.keys.begin; p < node.keys.end; ++p)
    key_block[node.key_order[p]] = (p - node.keys.begin) / block;
  for (Index t = 0; t < m; ++t) ++times[node.samples[t]];
  for (Index i = node.queries.begin; i < node.queries.end; ++i)
    for (Index j = node.keys.begin; j < node.keys.end; ++j) {
      const bool inside = block >= node.keys.size() || query_block.at(i) == key_block.at(j);
      w(i, j) = inside ? 1.0
                       : static_cast<double>(node.keys.size()) / static_cast<double>(m) *
                             static_cast<double>(times[j]);
    }
}

template <class Real>
Dense<Real> hyper(const Instance& x) {
  const Parameters p{x};
  const Structure& s = x.plan->structure;
  const Index n = x.problem.n(), block = p.integer("block"), shortest = p.integer("min_length");
  if (x.problem.causal ? n <= shortest || n == 1 || block >= n : n < shortest || block >= n)
    return weighted<Real>(x.problem, [](Index, Index) { return 1; });
  Dense<double> w(n);
  std::vector<IndexRange> segments{{0, n}};
  std::vector<std::pair<HyperNode, int>> nodes;
  if (!x.problem.causal)
    nodes.push_back({{{0, n}, {0, n}, s.query_order.data(), s.key_order.data(), nullptr}, 0});
  for (int depth = 0; x.problem.causal && !segments.empty(); ++depth) {
    std::vector<IndexRange> next;
    for (const IndexRange segment : segments) {
      if (segment.size() <= std::max<Index>(shortest, 1)) {
        for (Index i = segment.begin; i < segment.end; ++i)
          for (Index j = segment.begin; j <= i; ++j) w(i, j) = 1;
        continue;
      }
      const Index middle = segment.begin + segment.size() / 2;
      nodes.push_back({{{middle, segment.end},
                        {segment.begin, middle},
                        s.query_order.data() + depth * n,
                        s.key_order.data() + depth * n,
                        nullptr},
                       depth});
      next.push_back({segment.begin, middle});
      next.push_back({middle, segment.end});
    }
    segments = next;
  }
  const Index m = static_cast<Index>(s.sampled_keys.size() / nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    nodes[node].first.samples = s.sampled_keys.data() + static_cast<Index>(node) * m;
    hyper_weights(nodes[node].first, block, m, w);
  }
  return weighted<Real>(x.problem, [&](Index i, Index j) { return w(i, j); });
}

}  // namespace

template <class Real>
Dense<Real> reference(const Instance& x) {
  const std::string& id = x.variant->id;
  if (id == "exact") return weighted<Real>(x.problem, [](Index, Index) { return 1; });
  if (id == "h1d") return h1d<Real>(x);
  if (id == "fixed") return fixed<Real>(x);
  if (id == "strided") return strided<Real>(x);
  if (id == "tf") return tf<Real>(x);
  if (id == "tc") return tc<Real>(x);
  if (id == "hyper") return hyper<Real>(x);
  throw std::logic_error("no reference for " + id);
}

template <class Real>
std::vector<Real> times(const Dense<Real>& p, MatrixView v) {
  std::vector<Real> z(static_cast<std::size_t>(p.n * v.cols), Real(0));
  for (Index i = 0; i < p.n; ++i)
    for (Index j = 0; j < p.n; ++j)
      for (Index c = 0; c < v.cols; ++c)
        z[static_cast<std::size_t>(i * v.cols + c)] += p(i, j) * static_cast<Real>(v(j, c));
  return z;
}

double largest_logit(const Problem& problem) {
  double largest = 0;
  for (double s : fine_logits<double>(problem).values) largest = std::max(largest, std::abs(s));
  return largest;
}

template Dense<float> reference<float>(const Instance&);
template Dense<double> reference<double>(const Instance&);
template std::vector<float> times<float>(const Dense<float>&, MatrixView);
template std::vector<double> times<double>(const Dense<double>&, MatrixView);

}  // namespace fovea::test
