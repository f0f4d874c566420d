#include "backend/recurrent_chunk.h"

#include <Eigen/Core>
#include <cmath>

namespace fovea {
namespace {

using Wide = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Wide wide_rows(MatrixView m, IndexRange rows) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Floats, 0, Eigen::OuterStride<>>(m.row(rows.begin), rows.size(), m.cols,
                                                           Eigen::OuterStride<>(m.stride))
      .cast<double>();
}

void make_unit(Wide& rows) {
  for (Index i = 0; i < rows.rows(); ++i)
    if (const double length = rows.row(i).norm(); length != 0) rows.row(i) /= length;
}

/// Logarithms of decays, none of which is below what is 0 in float64 already: sums of the steps of
/// a chunk then keep their digits, whatever resets the state.
Wide decays_of(MatrixView log_decay, IndexRange tokens) {
  constexpr double no_state = -1e4;
  return wide_rows(log_decay, tokens).cwiseMax(no_state);
}

/// Rows times exp(exponents), which are those of all channels or of each.
Wide decayed(const Wide& rows, const Wide& exponents) {
  const Wide factors = exponents.array().exp();
  if (factors.cols() > 1) return rows.cwiseProduct(factors);
  return rows.array().colwise() * factors.col(0).array();
}

/// out(u, t) = k_u . D_ut k_t for t < u, by halves: both sides of a product decay to the token
/// between them.
void add_products(const Wide& k, const Wide& sums, IndexRange tokens, Wide& out) {
  if (tokens.size() < 2) return;
  const Index middle = tokens.begin + tokens.size() / 2, early = middle - tokens.begin,
              late = tokens.end - middle;
  const auto at = sums.row(middle - 1);
  const Wide to_query = sums.middleRows(middle, late).rowwise() - at,
             from_key = -(sums.middleRows(tokens.begin, early).rowwise() - at);
  out.block(middle, tokens.begin, late, early).noalias() =
      decayed(k.middleRows(middle, late), to_query) *
      decayed(k.middleRows(tokens.begin, early), from_key).transpose();
  add_products(k, sums, {tokens.begin, middle}, out);
  add_products(k, sums, {middle, tokens.end}, out);
}

/// (I + N)^-1. N is strictly lower triangular.
Wide inverse_of(const Wide& n) {
  Wide inverse = Wide::Identity(n.rows(), n.rows());
  for (Index u = 1; u < n.rows(); ++u)
    for (Index v = 0; v < u; ++v)
      inverse.row(u).head(v + 1) -= n(u, v) * inverse.row(v).head(v + 1);
  return inverse;
}

/// Numbers so small that they are as good as 0 would slow down sums of floats.
float to_float(double x) {
  constexpr double least = 1e-37;
  return std::abs(x) < least ? 0.0f : static_cast<float>(x);
}

void copy(const Wide& from, Matrix& to, Index first) {
  for (Index i = 0; i < from.rows(); ++i)
    for (Index c = 0; c < from.cols(); ++c) to(first + i, c) = to_float(from(i, c));
}

}  // namespace

struct RecurrentChunk::Rows {
  IndexRange tokens;
  bool erases = false;
  Wide q, k, log_decay;  // q with the scale; log_decay empty if there is none
  Eigen::VectorXd beta;
};

RecurrentChunk::RecurrentChunk(const RecurrentPlan& plan, const Problem& problem,
                               IndexRange tokens) {
  const Recurrence& recurrence = *plan.recurrence;
  auto rows = std::make_unique<Rows>();
  rows->tokens = tokens;
  rows->erases = recurrence.erases;
  rows->q = wide_rows(problem.q, tokens);
  rows->k = wide_rows(problem.k, tokens);
  if (plan.unit_vectors) {
    make_unit(rows->q);
    make_unit(rows->k);
  }
  rows->q *= problem.scale;
  if (!recurrence.log_decay.empty()) rows->log_decay = decays_of(recurrence.log_decay, tokens);
  rows->beta.resize(tokens.size());
  for (Index t = 0; t < tokens.size(); ++t)
    rows->beta(t) = double{recurrence.beta_of(tokens.begin + t)};
  rows_ = std::move(rows);
}

RecurrentChunk::~RecurrentChunk() = default;

void RecurrentChunk::write(Matrix& keys, Matrix& erased, float* decay) const {
  const Rows& its = *rows_;
  const Index size = its.tokens.size();
  Wide sums = its.log_decay.size() > 0 ? its.log_decay : Wide::Zero(size, 1).eval();
  for (Index t = 1; t < size; ++t) sums.row(t) += sums.row(t - 1);
  const Wide last = sums.bottomRows(1);
  Wide decayed_keys = decayed(its.k, (-sums).rowwise() + last.row(0));
  if (its.erases) {
    Wide n = Wide::Zero(size, size);
    add_products(its.k, sums, {0, size}, n);
    const Wide inverse = inverse_of(its.beta.asDiagonal() * n);
    Wide all = Wide::Zero(size, its.k.cols());
    for (Index t = 0; t < size; ++t)
      for (Index u = t; u < size; ++u) all.row(t) += inverse(u, t) * decayed_keys.row(u);
    decayed_keys = std::move(all);
    copy(-decayed(its.k, sums), erased, its.tokens.begin);
  }
  copy(its.beta.asDiagonal() * decayed_keys, keys, its.tokens.begin);
  for (Index c = 0; c < last.cols(); ++c) decay[c] = to_float(std::exp(last(0, c)));
}

RecurrentChunk::Own RecurrentChunk::own(IndexRange queries) const {
  const Rows& its = *rows_;
  const Wide factors = its.log_decay.array().exp();
  Own out{Matrix(queries.size(), its.tokens.size()), Matrix(queries.size(), its.k.cols())};
  for (Index row = 0; row < queries.size(); ++row) {
    const Index i = queries.begin + row - its.tokens.begin;
    Eigen::RowVectorXd r = its.q.row(i);
    for (Index j = i; j >= 0; --j) {
      const double written = its.beta(j) * r.dot(its.k.row(j));
      out.p(row, j) = to_float(written);
      if (its.erases) r -= written * its.k.row(j);
      if (factors.cols() == 1)
        r *= factors(j, 0);
      else if (factors.cols() > 1)
        r.array() *= factors.row(j).array();
    }
    for (Index c = 0; c < r.cols(); ++c) out.r(row, c) = to_float(r(c));
  }
  return out;
}

}  // namespace fovea
