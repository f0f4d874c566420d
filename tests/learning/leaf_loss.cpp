// The gradient of TF's loss by the memberships of queries and keys, against the loss itself.
#include "learning/leaf_loss.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "learning/memberships.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Batch {
  Matrix logits, values, targets;
  std::vector<Index> begin;
  std::vector<std::int32_t> query_leaf;

  LeafBatch view() const {
    return {.logits = logits,
            .values = values,
            .leaf_begin = begin,
            .targets = targets,
            .query_leaf = query_leaf};
  }
  Flags members() const {
    Flags flags(static_cast<std::size_t>(values.rows()), std::vector<bool>(begin.size() - 1));
    for (std::size_t l = 0; l + 1 < begin.size(); ++l)
      for (Index j = begin[l]; j < begin[l + 1]; ++j) flags[static_cast<std::size_t>(j)][l] = true;
    return flags;
  }
};

/// Leaves of 4, 0, 1, 5 and 3 keys. `size`: of the logits.
Batch make_batch(std::uint64_t seed, float size, bool masked) {
  const Index queries = 9, keys = 13, dv = 3;
  Batch batch{gaussian(queries, keys, seed),
              gaussian(keys, dv, seed + 1),
              gaussian(queries, dv, seed + 2),
              {0, 4, 4, 5, 10, 13},
              {}};
  for (Index i = 0; i < queries; ++i) {
    batch.query_leaf.push_back(static_cast<std::int32_t>((i * 3) % 5));
    for (Index j = 0; j < keys; ++j) {
      batch.logits(i, j) *= size;
      if (masked && (i + 2 * j) % 3 == 0) batch.logits(i, j) = LeafBatch::no_pair;
    }
  }
  return batch;
}

double loss_of(const Batch& batch, const Flags& members, Index i, Index l) {
  return fine_loss(batch.logits, batch.values, batch.targets, members, i, l, LeafBatch::no_pair);
}

}  // namespace

TEST_CASE("the gradient of TF by a query's leaf is its loss there") {
  for (const bool masked : {false, true})
    for (const float size : {1.0f, 12.0f}) {
      const Batch batch = make_batch(3, size, masked);
      const MembershipGradient gradient = leaf_loss(batch.view());
      double sum = 0;
      for (Index i = 0; i < 9; ++i)
        for (Index l = 0; l < 5; ++l) {
          CAPTURE(i);
          CAPTURE(l);
          const double loss = loss_of(batch, batch.members(), i, l);
          // Logits of up to 40 are rounded by 2^-24 of that, and so are their exponentials.
          CHECK(at(gradient.queries, i, l) == doctest::Approx(loss).epsilon(rounding(64, 1)));
          if (l == batch.query_leaf[static_cast<std::size_t>(i)]) sum += loss;
        }
      CHECK(gradient.loss == doctest::Approx(sum).epsilon(rounding(64, 1)));
    }
}

TEST_CASE("the gradient of TF by a key's leaf is the loss with the key less the loss without it") {
  for (const bool masked : {false, true})
    for (const float size : {1.0f, 12.0f}) {
      const Batch batch = make_batch(5, size, masked);
      const MembershipGradient gradient = leaf_loss(batch.view());
      for (Index j = 0; j < 13; ++j)
        for (Index l = 0; l < 5; ++l) {
          CAPTURE(j);
          CAPTURE(l);
          Flags with = batch.members(), without = with;
          with[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)] = true;
          without[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)] = false;
          double change = 0, losses = 0;
          for (Index i = 0; i < 9; ++i) {
            if (batch.query_leaf[static_cast<std::size_t>(i)] != l) continue;
            const double a = loss_of(batch, with, i, l), b = loss_of(batch, without, i, l);
            change += a - b;
            losses += a + b;
          }
          // A difference of losses, each of which is as exact as above; c is up to p / (1 - p) = 1.
          CHECK(std::abs(at(gradient.keys, j, l) - change) <= rounding(128, losses));
        }
    }
}

TEST_CASE("a key that holds all the weight of its leaf leaves what the others give") {
  // With 1 - p = e^-30 the difference 1 - p is lost in float32.
  Batch batch = make_batch(7, 1, false);
  batch.query_leaf.assign(9, 0);
  for (Index i = 0; i < 9; ++i) batch.logits(i, 2) = 30;
  const MembershipGradient gradient = leaf_loss(batch.view());
  Flags without = batch.members();
  without[2][0] = false;
  double change = 0, losses = 0;
  for (Index i = 0; i < 9; ++i) {
    const double a = loss_of(batch, batch.members(), i, 0), b = loss_of(batch, without, i, 0);
    change += a - b;
    losses += a + b;
  }
  CHECK(std::abs(at(gradient.keys, 2, 0) - change) <= rounding(128, losses));
}

TEST_CASE("gradients of TF are finite for logits of any size and for leaves without queries") {
  for (const float size : {0.0f, 1e4f, 1e20f}) {
    const Batch batch = make_batch(9, size, true);
    const MembershipGradient gradient = leaf_loss(batch.view());
    for (const Matrix* m : {&gradient.queries, &gradient.keys})
      for (Index i = 0; i < m->rows(); ++i)
        CHECK(std::all_of(m->row(i), m->row(i) + m->cols(),
                          [](float x) { return std::isfinite(x); }));
  }
}
