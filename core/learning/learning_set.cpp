#include "learning/learning_set.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "learning/rows.h"

namespace fovea {
namespace {

bool all_finite(MatrixView m) {
  for (Index i = 0; i < m.rows; ++i)
    if (!std::all_of(m.row(i), m.row(i) + m.cols, [](float x) { return std::isfinite(x); }))
      return false;
  return true;
}

/// Exact attention of some queries: z = sum_j exp(S_j - max) v_j / sum_j exp(S_j - max).
void write_targets(const Problem& problem, IndexRange rows, LearningSet& set) {
  const Rows q = rows_of(set.queries.view().slice(rows));
  RowMajor weight = static_cast<float>(problem.scale) * (q * rows_of(problem.k).transpose());
  for (Index r = 0; r < rows.size(); ++r) {
    const Index last = set.query_token[rows.begin + r],
                admissible = problem.causal ? last + 1 : problem.n();
    auto of_query = weight.row(r).head(admissible).array();
    of_query = (of_query - of_query.maxCoeff()).exp();
    of_query /= of_query.sum();
    weight.row(r).tail(problem.n() - admissible).setZero();
  }
  Eigen::Map<RowMajor>(set.targets.row(rows.begin), rows.size(), problem.dv()).noalias() =
      weight * rows_of(problem.v);
}

void find_targets(const Problem& problem, LearningSet& set, const Backend& backend, Run& run) {
  const Index count = set.queries.rows();
  set.targets = Matrix(count, problem.dv());
  constexpr Index together = 8;
  backend.share_out((count + together - 1) / together, run, [&](Index part) {
    write_targets(problem, {part * together, std::min(count, (part + 1) * together)}, set);
  });
  const double squares =
      rows_of(set.targets).topRows(set.learned_from).cast<double>().squaredNorm();
  set.target_square = squares > 0 ? squares / static_cast<double>(set.learned_from) : 1;
}

Matrix points_of(const LearningSet& set, const Matrix& tokens) {
  Matrix out(tokens.rows(), tokens.cols());
  for (Index i = 0; i < out.rows(); ++i)
    for (Index c = 0; c < out.cols(); ++c) out(i, c) = (tokens(i, c) - set.centre[c]) / set.spread;
  return out;
}

void find_coordinates(LearningSet& set) {
  const auto queries = rows_of(set.queries).topRows(set.learned_from).cast<double>();
  const auto keys = rows_of(set.keys).cast<double>();
  const double count = queries.rows() + keys.rows();
  const Eigen::RowVectorXd centre = (queries.colwise().sum() + keys.colwise().sum()) / count;
  const double squares =
      (queries.rowwise() - centre).squaredNorm() + (keys.rowwise() - centre).squaredNorm();
  const auto spread =
      static_cast<float>(std::sqrt(squares / (count * static_cast<double>(set.d()))));
  set.spread = spread > 0 && std::isfinite(spread) ? spread : 1;
  for (Index c = 0; c < set.d(); ++c) set.centre.push_back(static_cast<float>(centre(c)));
  set.query_points = points_of(set, set.queries);
  set.key_points = points_of(set, set.keys);
}

}  // namespace

Index LearningSet::admissible(Index query) const {
  if (!causal) return keys.rows();
  const auto last = query_token[query];
  return std::ranges::upper_bound(key_token, last) - key_token.begin();
}

std::string sample_text(Index n) {
  if (n <= LearningSet::most_queries) return {};
  return std::to_string(LearningSet::most_queries) + " queries and " +
         std::to_string(std::min(n, LearningSet::most_keys)) + " keys, drawn from " +
         std::to_string(n) + " tokens";
}

std::string why_not_learned_from(const Problem& problem) {
  if (!problem.has_values()) return no_values;
  if (!all_finite(problem.q) || !all_finite(problem.k) || !all_finite(problem.v))
    return "Q, K or V holds NaN or Inf";
  if (!problem.lengths().equal()) return "learning expects as many queries as keys";
  if (problem.window > 0 || problem.mask || problem.rule)
    return "learning knows no window, mask of pairs, bias, soft cap or sink";
  return {};
}

LearningSet make_learning_set(const Problem& problem, std::uint64_t seed, const Backend& backend,
                              Run& run) {
  if (const std::string why_not = why_not_learned_from(problem); !why_not.empty())
    throw InputError("head " + std::to_string(problem.head),
                     "no tree can be learned from it: " + why_not);
  const Index n = problem.n();
  Random random(seed, stream_of(DrawPurpose::learning_queries, problem.head));
  LearningSet set{.scale = problem.scale, .causal = problem.causal};
  set.query_token = drawn<std::int32_t>(n, std::min(n, LearningSet::most_queries), random);
  set.key_token = drawn<std::int32_t>(n, std::min(n, LearningSet::most_keys), random);
  std::ranges::sort(set.key_token);
  const auto queries = static_cast<Index>(set.query_token.size());
  const auto held_out =
      static_cast<Index>(std::ceil(LearningSet::held_out_share * static_cast<double>(queries - 1)));
  set.learned_from = queries - held_out;
  set.queries = gathered(problem.q, set.query_token);
  set.keys = gathered(problem.k, set.key_token);
  set.values = gathered(problem.v, set.key_token);
  find_targets(problem, set, backend, run);
  find_coordinates(set);
  return set;
}

}  // namespace fovea
