#include "learning/leaf_loss.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "data/stop.h"
#include "learning/rows.h"

namespace fovea {
namespace {

using FloatColumn = Eigen::ArrayXf;

bool forbidden(float logit) {
  return logit <= LeafBatch::no_pair / 2;
}

/// The output of every query in its own leaf, and the log of the sum of exp(S) there.
struct Outputs {
  RowMajor z;              // [queries, dv]
  std::vector<float> lse;  // no_pair without keys
};

/// Writes dE/da and returns the outputs in the queries' own leaves.
Outputs find_outputs(const LeafBatch& batch, MembershipGradient& out, const std::stop_token& stop) {
  const Index count = batch.logits.rows;
  const Rows s = rows_of(batch.logits), v = rows_of(batch.values), t = rows_of(batch.targets);
  const FloatColumn zero_loss = t.rowwise().squaredNorm().array();
  Outputs own{RowMajor::Zero(count, v.cols()), std::vector<float>(count, LeafBatch::no_pair)};
  for (Index l = 0; l < batch.leaves(); ++l) {
    check_stop(stop);
    const Index begin = batch.leaf_begin[l],
                size = batch.leaf_begin[static_cast<std::size_t>(l) + 1] - begin;
    if (size == 0) {
      for (Index i = 0; i < count; ++i) out.queries(i, l) = zero_loss(i);
      continue;
    }
    const auto logits = s.middleCols(begin, size).array();
    const FloatColumn most = logits.rowwise().maxCoeff();
    const RowMajor weight = (logits.colwise() - most).exp();
    const FloatColumn sum = weight.rowwise().sum().array();
    RowMajor z = weight * v.middleRows(begin, size);
    z.array().colwise() /= sum;
    const FloatColumn loss = (z - t).rowwise().squaredNorm().array();
    for (Index i = 0; i < count; ++i) {
      const bool empty = forbidden(most(i));
      out.queries(i, l) = empty ? zero_loss(i) : loss(i);
      if (empty || batch.query_leaf[i] != l) continue;
      own.z.row(i) = z.row(i);
      own.lse[i] = most(i) + std::log(sum(i));
    }
  }
  return own;
}

/// The queries of each leaf of the batch.
std::vector<std::vector<Index>> queries_by_leaf(const LeafBatch& batch) {
  std::vector<std::vector<Index>> out(batch.leaves());
  for (std::size_t i = 0; i < batch.query_leaf.size(); ++i) out[batch.query_leaf[i]].push_back(i);
  return out;
}

/// The loss of query i without key j of its leaf, by its definition.
double loss_without(const LeafBatch& batch, Index i, Index key, IndexRange leaf) {
  const Rows v = rows_of(batch.values), t = rows_of(batch.targets);
  float most = LeafBatch::no_pair;
  for (Index j = leaf.begin; j < leaf.end; ++j)
    if (j != key) most = std::max(most, batch.logits(i, j));
  Eigen::RowVectorXf z = Eigen::RowVectorXf::Zero(v.cols());
  float sum = 0;
  for (Index j = leaf.begin; j < leaf.end && !forbidden(most); ++j) {
    if (j == key || forbidden(batch.logits(i, j))) continue;
    const float weight = std::exp(batch.logits(i, j) - most);
    sum += weight;
    z += weight * v.row(j);
  }
  if (sum > 0) z /= sum;
  return static_cast<double>((z - t.row(i)).squaredNorm());
}

/// Adds dE/dg of the keys of the leaf itself, for one of its queries. `along` is R.(v - Z), `apart`
/// |v - Z|^2, of all keys.
void add_leaving(const LeafBatch& batch, Index i, IndexRange leaf, float lse, float loss,
                 const float* along, const float* apart, Matrix& out, Index l) {
  for (Index j = leaf.begin; j < leaf.end; ++j) {
    if (forbidden(batch.logits(i, j))) continue;
    const float p = std::exp(batch.logits(i, j) - lse);
    if (p < 0.5f) {
      const float c = -p / (1 - p);
      out(j, l) -= 2 * c * along[j] + c * c * apart[j];
    } else {  // 1 - p may be rounding alone; at most one key is like that, or two equal ones
      out(j, l) += loss - static_cast<float>(loss_without(batch, i, j, leaf));
    }
  }
}

/// Writes dE/dg of one leaf for all keys.
void find_key_changes(const LeafBatch& batch, const Outputs& own, Index l,
                      const std::vector<Index>& queries, const FloatColumn& value_square,
                      Matrix& out) {
  const Rows s = rows_of(batch.logits), v = rows_of(batch.values), t = rows_of(batch.targets);
  const auto count = static_cast<Index>(queries.size());
  const IndexRange leaf{batch.leaf_begin[l], batch.leaf_begin[static_cast<std::size_t>(l) + 1]};
  RowMajor z(count, v.cols()), r(count, v.cols());
  for (Index b = 0; b < count; ++b) {
    z.row(b) = own.z.row(queries[b]);
    r.row(b) = z.row(b) - t.row(queries[b]);
  }
  RowMajor along = r * v.transpose(), apart = -2 * (z * v.transpose());
  Eigen::RowVectorXf sum = Eigen::RowVectorXf::Zero(v.rows());
  for (Index b = 0; b < count; ++b) {
    const Index i = queries[b];
    const float lse = own.lse[i];
    along.row(b).array() -= r.row(b).dot(z.row(b));
    apart.row(b).array() += value_square.transpose() + z.row(b).squaredNorm();
    // A key that comes into a leaf without keys has weight 1.
    const auto logit = s.row(i).array();
    const Eigen::ArrayXXf c = (logit > LeafBatch::no_pair / 2)
                                  .select(((lse - logit).min(80.0f).exp() + 1).inverse(), 0.0f);
    sum.array() += c * (2 * along.row(b).array() + c * apart.row(b).array());
  }
  Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<>> column(out.data() + l, v.rows(),
                                                              Eigen::InnerStride<>(out.stride()));
  column = sum.transpose();
  column.segment(leaf.begin, leaf.size()).setZero();
  for (Index b = 0; b < count; ++b) {
    const Index i = queries[b];
    add_leaving(batch, i, leaf, own.lse[i], r.row(b).squaredNorm(), along.row(b).data(),
                apart.row(b).data(), out, l);
  }
}

/// [queries, keys] S_ij, or no_pair.
Matrix logits_of(const TokenBatch& batch) {
  Matrix out(batch.queries.rows, batch.keys.rows);
  Eigen::Map<RowMajor>(out.data(), out.rows(), out.cols()).noalias() =
      batch.scale * rows_of(batch.queries) * rows_of(batch.keys).transpose();
  for (Index i = 0; !batch.admissible.empty() && i < out.rows(); ++i)
    for (Index j = 0; j < out.cols(); ++j)
      if (batch.place[j] >= batch.admissible[i]) out(i, j) = LeafBatch::no_pair;
  return out;
}

}  // namespace

MembershipGradient leaf_loss(const TokenBatch& batch, const std::stop_token& stop) {
  const Matrix logits = logits_of(batch);
  return leaf_loss({.logits = logits,
                    .values = batch.values,
                    .leaf_begin = batch.leaf_begin,
                    .targets = batch.targets,
                    .query_leaf = batch.query_leaf},
                   stop);
}

MembershipGradient leaf_loss(const LeafBatch& batch, const std::stop_token& stop) {
  MembershipGradient out{.queries = Matrix(batch.logits.rows, batch.leaves()),
                         .keys = Matrix(batch.logits.cols, batch.leaves())};
  const Outputs own = find_outputs(batch, out, stop);
  const auto queries = queries_by_leaf(batch);
  const FloatColumn value_square = rows_of(batch.values).rowwise().squaredNorm().array();
  for (Index l = 0; l < batch.leaves(); ++l) {
    check_stop(stop);
    const auto& in_leaf = queries[l];
    for (const Index i : in_leaf) out.loss += static_cast<double>(out.queries(i, l));
    if (!in_leaf.empty()) find_key_changes(batch, own, l, in_leaf, value_square, out.keys);
  }
  return out;
}

}  // namespace fovea
