#include "bench/sampled_rows.h"

#include <algorithm>
#include <cmath>

#include "bench/in_parallel.h"
#include "kernels/round_16.h"
#include "larger_error.h"

namespace fovea::bench {
namespace {

template <class Real>
std::vector<Real> mean(MatrixView rows, IndexRange tokens) {
  std::vector<Real> sum(static_cast<std::size_t>(rows.cols), Real(0));
  for (Index t = tokens.begin; t < tokens.end; ++t)
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += static_cast<Real>(rows.row(t)[c]);
  for (Real& x : sum) x /= static_cast<Real>(tokens.size());
  return sum;
}

// z += factor times the mean.
template <class Real>
void add_mean(MatrixView rows, IndexRange tokens, Real factor, std::vector<Real>& z) {
  if (tokens.size() == 1) {
    const float* row = rows.row(tokens.begin);
    for (std::size_t c = 0; c < z.size(); ++c) z[c] += factor * static_cast<Real>(row[c]);
    return;
  }
  const std::vector<Real> row = mean<Real>(rows, tokens);
  for (std::size_t c = 0; c < z.size(); ++c) z[c] += factor * row[c];
}

template <class Real>
struct Entry {
  Real logit, weight;
  IndexRange tokens;
};

// Calls visit(position, tile) for every tile of the pass that the query's cluster lies in.
template <class Visit>
void for_tiles_of(const Pass& pass, Index cluster, Visit visit) {
  const auto at = [&](Index position) {
    for (const Tile& tile : pass.tiles)
      if (tile.rows.contains(position)) visit(tile);
  };
  if (pass.rows.empty()) return at(cluster);
  for (std::size_t p = 0; p < pass.rows.size(); ++p)
    if (pass.rows[p] == cluster) at(static_cast<Index>(p));
}

template <class Real>
void add_entries(const Pass& pass, CoarseQuery kind, const Problem& problem, Index query,
                 std::vector<Entry<Real>>& out) {
  const Index n = problem.n(), cluster = query >> pass.query_level;
  IndexRange tokens = cluster_tokens(cluster, pass.query_level, n);
  if (kind == CoarseQuery::first) tokens.end = tokens.begin + 1;
  const std::vector<Real> q = mean<Real>(problem.q, tokens);
  for_tiles_of(pass, cluster, [&](const Tile& tile) {
    for (Index position = tile.cols.begin; position < tile.cols.end; ++position) {
      const auto p = static_cast<std::size_t>(position);
      const Index key = pass.cols.empty() ? position : pass.cols[p];
      if (!tile.band.contains(cluster, key) || pass.leaves_out(cluster, key)) continue;
      const IndexRange keys = cluster_tokens(key, pass.key_level, n);
      Real product = 0;
      if (keys.size() == 1) {
        const float* k = problem.k.row(keys.begin);
        for (std::size_t c = 0; c < q.size(); ++c) product += q[c] * static_cast<Real>(k[c]);
      } else {
        const std::vector<Real> k = mean<Real>(problem.k, keys);
        for (std::size_t c = 0; c < q.size(); ++c) product += q[c] * k[c];
      }
      const Real weight =
          pass.weight.empty() ? static_cast<Real>(keys.size()) : static_cast<Real>(pass.weight[p]);
      out.push_back({product * static_cast<Real>(problem.scale), weight, keys});
    }
  });
}

// What the plain formula does to a number before it is multiplied.
using Rounding = float (*)(float);
float round_to_bf16(float x) {
  return test::from_bf16(test::to_bf16(x));
}
Rounding rounding_of(const std::string& precision) {
  return precision == "bf16" ? round_to_bf16 : nullptr;
}

template <class Real>
std::vector<Real> softmax_row(const TilePlan& plan, const Problem& problem, Index query,
                              Rounding round) {
  std::vector<Entry<Real>> entries;
  for (const Pass& pass : plan.passes)
    add_entries(pass, plan.coarse_query, problem, query, entries);
  std::vector<Real> z(static_cast<std::size_t>(problem.dv()), Real(0));
  Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
  for (const auto& entry : entries) top = std::max(top, entry.logit);
  for (const auto& entry : entries) {
    const Real weight = entry.weight * std::exp(entry.logit - top);
    sum += weight;
    const Real factor = round ? static_cast<Real>(round(static_cast<float>(weight))) : weight;
    add_mean(problem.v, entry.tokens, factor, z);
  }
  if (sum > 0)
    for (Real& x : z) x /= sum;
  return z;
}

template <class Real>
std::vector<Real> tree_row(const NodePlan& plan, const Problem& problem, bool causal, Index query) {
  std::vector<Real> z(static_cast<std::size_t>(problem.dv()), Real(0));
  Index below = 1;
  for (const int b : plan.branching) below *= b;
  for (std::size_t depth = 0; depth < plan.alpha.size(); ++depth) {
    if (depth > 0) below /= plan.branching[depth - 1];
    const Index node = plan.query_leaf[static_cast<std::size_t>(query)] / below;
    std::vector<Real> sum(z.size(), Real(0));
    Real count = 0;
    for (Index j = 0; j < (causal ? query + 1 : problem.n()); ++j) {
      if (plan.key_leaf[static_cast<std::size_t>(j)] / below != node) continue;
      count += 1;
      for (std::size_t c = 0; c < z.size(); ++c) sum[c] += static_cast<Real>(problem.v.row(j)[c]);
    }
    for (std::size_t c = 0; c < z.size() && count > 0; ++c)
      z[c] += static_cast<Real>(plan.alpha[depth]) * sum[c] / count;
  }
  return z;
}

template <class Real>
std::vector<Real> row(const Plan& plan, const Problem& problem, Index query, Rounding round) {
  if (const auto* tiles = std::get_if<TilePlan>(&plan.form))
    return softmax_row<Real>(*tiles, problem, query, round);
  return tree_row<Real>(std::get<NodePlan>(plan.form), problem, plan.causal, query);
}

// Sums of squares over a row, and the largest difference.
struct RowSquares {
  double ours = 0, plain = 0, norm = 0, largest = 0;

  void add(double found, double simple, double truth) {
    ours += (found - truth) * (found - truth);
    plain += (simple - truth) * (simple - truth);
    norm += truth * truth;
    largest = test::larger_error(largest, found - truth);
  }
};

}  // namespace

template <class Real>
std::vector<Real> row_of_z(const Plan& plan, const Problem& problem, Index query) {
  return row<Real>(plan, problem, query, nullptr);
}

template std::vector<float> row_of_z<float>(const Plan&, const Problem&, Index);
template std::vector<double> row_of_z<double>(const Plan&, const Problem&, Index);

Problem rounded_to(const Problem& problem, const std::string& precision) {
  const Rounding round = rounding_of(precision);
  if (!round) return problem;
  const auto all = [&](MatrixView from) {
    constexpr Index part = 4096;  // rows
    Matrix out(from.rows, from.cols);
    for_each_of(static_cast<int>((from.rows + part - 1) / part), [&](int p) {
      for (Index i = p * part; i < std::min(from.rows, (p + 1) * part); ++i)
        for (Index c = 0; c < from.cols; ++c) out(i, c) = round(from.row(i)[c]);
    });
    return out;
  };
  return make_problem(all(problem.q), all(problem.k), all(problem.v), problem.scale, problem.causal,
                      problem.head);
}

RowErrors errors_of(const Plan& plan, const Problem& problem, MatrixView z, int count,
                    const std::string& precision) {
  const Rounding round = rounding_of(precision);
  const Problem simple_problem = rounded_to(problem, precision);
  std::vector<RowSquares> squares(static_cast<std::size_t>(count));
  for_each_of(count, [&](int sample) {
    const Index query = (2 * sample + 1) * problem.n() / (2 * count);
    const auto truth = row_of_z<double>(plan, problem, query);
    const auto simple = row<float>(plan, simple_problem, query, round);
    for (std::size_t c = 0; c < truth.size(); ++c)
      squares[static_cast<std::size_t>(sample)].add(z.row(query)[c], simple[c], truth[c]);
  });
  RowErrors out{count};
  double ours = 0, plain = 0, norm = 0;
  for (const RowSquares& each : squares) {
    ours += each.ours;
    plain += each.plain;
    norm += each.norm;
    out.largest = test::larger_error(out.largest, each.largest);
  }
  out.ours = std::sqrt(ours / norm);
  out.plain = std::sqrt(plain / norm);
  return out;
}

bool accurate(const RowErrors& errors) {
  return errors.ours <= std::max(2 * errors.plain, 0x1p-23);
}

}  // namespace fovea::bench
