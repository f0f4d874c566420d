// What holds for the pairs that a file keeps, on every back end: they are a column as a variant is,
// and the same in each form.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/block_mask.h"
#include "analysis/cost.h"
#include "analysis/support.h"
#include "data/random.h"
#include "laws/kept_pairs.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

HeadTensor one_head_of(Matrix m) {
  std::vector<Matrix> heads;
  heads.push_back(std::move(m));
  return make_head_tensor(std::move(heads));
}

bool keeps_block(Index row, Index col) {
  return (3 * row + 2 * col) % 4 < 2 || col == row;
}

/// Pairs in blocks, as a file may say it: `form` 0 is a mask of them, 1 a mask of pairs, 2 lists of
/// all pairs of a block, 3 lists of those pairs that the head admits, 4 compressed lists.
constexpr int forms = 5;
SelectionTensors tensors_of(int form, Lengths lengths, Lengths block) {
  const Index rows = (lengths.queries + block.queries - 1) / block.queries,
              cols = (lengths.keys + block.keys - 1) / block.keys;
  Matrix lists(rows, cols, -1.0f), counts(rows, 1), begins(1, rows + 1), blocks(rows, cols);
  std::vector<float> all;
  for (Index r = 0; r < rows; ++r) {
    Index count = 0;
    for (Index c = cols; c-- > 0;)
      if (keeps_block(r, c)) {
        blocks(r, c) = 1;
        lists(r, count++) = static_cast<float>(c);
        all.push_back(static_cast<float>(c));
      }
    counts(r, 0) = static_cast<float>(count);
    begins(0, r + 1) = static_cast<float>(all.size());
  }
  if (form == 0) return {.block = block, .mask = one_head_of(std::move(blocks))};
  if (form == 1) {
    Matrix pairs(lengths.queries, lengths.keys);
    for (Index i = 0; i < lengths.queries; ++i)
      for (Index j = 0; j < lengths.keys; ++j)
        pairs(i, j) = keeps_block(i / block.queries, j / block.keys) ? 1.0f : 0.0f;
    return {.mask = one_head_of(std::move(pairs))};
  }
  Matrix compressed(1, std::ssize(all));
  std::ranges::copy(all, compressed.row(0));
  ListTensors its{.where = "", .entries = one_head_of(std::move(form == 4 ? compressed : lists))};
  if (form == 4)
    its.begins = one_head_of(std::move(begins));
  else
    its.counts = one_head_of(std::move(counts));
  SelectionTensors out{.block = block};
  (form == 3 ? out.partial : out.lists) = std::move(its);
  return out;
}

Problem keeping(Problem problem, SelectionTensors kept) {
  std::vector<ImportedTensors> results;
  results.push_back({.kept = std::move(kept)});
  problem.imported =
      std::make_shared<const ImportedResults>(ImportedResults{std::move(results), 0});
  return problem;
}

std::vector<double> softmax_of(const Problem& problem, Lengths block) {
  return softmax_over(
      problem, [&](Index i, Index j) { return keeps_block(i / block.queries, j / block.keys); });
}

}  // namespace

TEST_CASE("law: kept pairs of a file are a column: P is the softmax over them, in each form") {
  for (const auto& backend : backends())
    for (const Problem& problem : heads_that_keep_pairs())
      for (const Lengths block : {Lengths{16, 16}, Lengths{32, 8}, Lengths{4, 4}, Lengths{1, 1}}) {
        const std::vector<double> truth = softmax_of(problem, block);
        const Index queries = problem.queries(), keys = problem.keys();
        const auto expected = [&](Index i, Index j) {
          return truth[static_cast<std::size_t>(i * keys + j)];
        };
        Matrix first;
        for (int form = 0; form < forms; ++form) {
          CAPTURE(form);
          CAPTURE(block.queries);
          const Problem head = keeping(problem, tensors_of(form, problem.lengths(), block));
          const Instance x = make_instance(*backend, head, "imported", {});
          CHECK_FALSE(is_read(*x.plan));
          const Matrix p = x.all();
          CHECK(distance(p, expected, queries, keys) <= 2 * floor_of(x));
          const Output out = x.apply(problem.v);
          const auto true_z = [&](Index i, Index c) {
            double sum = 0;
            for (Index j = 0; j < keys; ++j)
              sum += expected(i, j) * static_cast<double>(problem.v(j, c));
            return sum;
          };
          CHECK(distance(out.z, true_z, queries, problem.dv()) <=
                2 * floor_of(x) * largest_entry(problem.v) +
                    static_cast<double>(keys) * 0x1p-24 * largest_entry(problem.v));
          double pairs = 0;
          for (const double weight : truth) pairs += weight > 0;
          CHECK(Support(*x.plan).pairs() == pairs);
          CHECK(count_cost(*x.plan, 8, 5).pairs == pairs);
          // Lists and masks of the same blocks make the same plan.
          if (form == 0) first = Matrix::copy_of(out.z);
          if (form == 1) continue;  // pairs by a mask of bits: sums are added in another order
          CHECK(distance(
                    out.z, [&](Index i, Index c) { return first(i, c); }, queries, problem.dv()) ==
                0);
        }
      }
}

namespace {

constexpr Index most_keys = 4;  // of a query: fewer than a sixteenth of the keys, so not held

/// Lists of a few keys of each query, in no order, with keys that are repeated, missing (-1) or out
/// of range; or the same in compressed rows.
struct FewKeys {
  Matrix lists, begins;
  std::vector<float> all;

  explicit FewKeys(const Problem& problem)
      : lists(problem.queries(), most_keys, -1.0f), begins(1, problem.queries() + 1) {
    Random random(7, 0);
    for (Index i = 0; i < problem.queries(); ++i) {
      for (Index e = 0; e < most_keys; ++e) {
        const auto drawn = static_cast<Index>(random.below(10));
        const auto key =
            static_cast<Index>(random.below(static_cast<std::uint64_t>(problem.keys())));
        lists(i, e) = static_cast<float>(drawn == 0   ? -1
                                         : drawn == 1 ? problem.keys() + key
                                         : drawn == 2 ? std::max<Index>(0, i - 1)
                                                      : key);
        if (lists(i, e) >= 0) all.push_back(lists(i, e));
      }
      begins(0, i + 1) = static_cast<float>(all.size());
    }
  }

  bool has(Index i, Index j) const {
    return std::find(lists.row(i), lists.row(i) + most_keys, static_cast<float>(j)) !=
           lists.row(i) + most_keys;
  }
  SelectionTensors listed() const {
    return {.lists = {.where = "", .entries = one_head_of(Matrix::copy_of(lists))}};
  }
  SelectionTensors compressed() const {
    Matrix entries(1, std::ssize(all));
    std::ranges::copy(all, entries.row(0));
    return {.lists = {.where = "",
                      .entries = one_head_of(std::move(entries)),
                      .begins = one_head_of(Matrix::copy_of(begins))}};
  }
  SelectionTensors mask(const Problem& problem) const {
    Matrix pairs(problem.queries(), problem.keys());
    for (Index i = 0; i < pairs.rows(); ++i)
      for (Index j = 0; j < pairs.cols(); ++j) pairs(i, j) = has(i, j) ? 1.0f : 0.0f;
    return {.mask = one_head_of(std::move(pairs))};
  }
};

}  // namespace

TEST_CASE("law: lists of few keys, which are not held, are the mask of the same pairs to the bit") {
  for (const auto& backend : backends())
    for (const Problem& problem : heads_that_keep_pairs()) {
      const FewKeys few(problem);
      const Instance held =
          make_instance(*backend, keeping(problem, few.mask(problem)), "imported", {});
      REQUIRE(held.plan->mask->pairs().held());
      const std::vector<double> truth =
          softmax_over(problem, [&](Index i, Index j) { return few.has(i, j); });
      const auto expected = [&](Index i, Index j) {
        return truth[static_cast<std::size_t>(i * problem.keys() + j)];
      };
      const Output of_mask = held.apply(problem.v);
      const Matrix p_of_mask = held.all();
      CHECK(distance(p_of_mask, expected, problem.queries(), problem.keys()) <= 2 * floor_of(held));
      for (const SelectionTensors& lists : {few.listed(), few.compressed()}) {
        const Instance x = make_instance(*backend, keeping(problem, lists), "imported", {});
        CHECK_FALSE(x.plan->mask->pairs().held());
        const auto same = [](const Matrix& a, const Matrix& b) {
          return distance(
                     a, [&](Index i, Index j) { return b(i, j); }, a.rows(), a.cols()) == 0;
        };
        const Output out = x.apply(problem.v);
        CHECK(same(out.z, of_mask.z));
        CHECK(out.lse == of_mask.lse);
        CHECK(same(x.all(), p_of_mask));
        double pairs = 0;
        for (const double weight : truth) pairs += weight > 0;
        CHECK(Support(*x.plan).pairs() == pairs);
        CHECK(count_cost(*x.plan, 8, 5).pairs == pairs);
        for (const Lengths block : {Lengths{64, 64}, Lengths{7, 5}, Lengths{1, 1}}) {
          const auto counted = [&](const Instance& of) {
            return block_pairs(*of.plan, {0, problem.queries()}, {0, problem.keys()}, block);
          };
          CHECK(counted(x) == counted(held));
        }
      }
    }
}

TEST_CASE("law: blocks of few queries and the head's own pairs leave the pairs of both, not held") {
  for (const auto& backend : backends()) {
    Problem problem = make_data(Data::gaussian, 75, 8, 5, true);
    BitMatrix own(75, 75);
    for (Index i = 0; i < 75; ++i)
      for (Index j = 0; j < 75; ++j)
        if ((i + 2 * j) % 5 != 0) own.set(i, j);
    problem.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                                    std::vector<std::int32_t>(), own);
    for (const Lengths block : {Lengths{1, 1}, Lengths{4, 8}}) {
      const std::vector<double> truth = softmax_of(problem, block);
      const Instance x = make_instance(
          *backend, keeping(problem, tensors_of(2, problem.lengths(), block)), "imported", {});
      CHECK_FALSE(x.plan->mask->pairs().held());
      CHECK(distance(
                x.all(),
                [&](Index i, Index j) { return truth[static_cast<std::size_t>(i * 75 + j)]; }, 75,
                75) <= 2 * floor_of(x));
    }
  }
}

TEST_CASE("law: keys that one query of a strip alone keeps, between keys that none keeps") {
  constexpr Index n = 300;  // two strips, so that no query goes through all keys
  Matrix lists(n, 2);
  const auto own = [](Index i) { return (91 * i + 5) % n; };  // of no other query
  for (Index i = 0; i < n; ++i) {
    lists(i, 0) = static_cast<float>(own(i));
    lists(i, 1) = static_cast<float>(i / 100);
  }
  const SelectionTensors kept{
      .lists = {.where = "", .entries = one_head_of(Matrix::copy_of(lists))}};
  for (const auto& backend : backends())
    for (const bool causal : {false, true}) {
      const Problem problem = make_data(Data::gaussian, n, 8, 5, causal);
      const std::vector<double> truth =
          softmax_over(problem, [&](Index i, Index j) { return j == own(i) || j == i / 100; });
      const Instance x = make_instance(*backend, keeping(problem, kept), "imported", {});
      CHECK_FALSE(x.plan->mask->pairs().held());
      const auto expected = [&](Index i, Index j) {
        return truth[static_cast<std::size_t>(i * n + j)];
      };
      CHECK(distance(x.all(), expected, n, n) <= 2 * floor_of(x));
      const Output out = x.apply(problem.v);
      const auto true_z = [&](Index i, Index c) {
        double sum = 0;
        for (Index j = 0; j < n; ++j) sum += expected(i, j) * static_cast<double>(problem.v(j, c));
        return sum;
      };
      // A row adds at most two weighted values.
      CHECK(distance(out.z, true_z, n, problem.dv()) <=
            (2 * floor_of(x) + 2 * 0x1p-24) * largest_entry(problem.v));
    }
}
