#include "data/problem.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace fovea;

namespace {

Matrix rows_of(Index rows, Index cols, float value) {
  Matrix m(rows, cols);
  for (Index i = 0; i < rows; ++i) std::fill_n(m.row(i), cols, value);
  return m;
}

std::vector<Index> rows_of_nan(const Problem& problem) {
  std::vector<Index> rows;
  for (Index i = 0; i < problem.q.rows; ++i)
    if (std::isnan(problem.q(i, 0))) rows.push_back(i);
  CHECK(std::ssize(rows) == problem.out_of_range);
  return rows;
}

}  // namespace

TEST_CASE(
    "a query whose logits may leave the range of a float is NaN, up to the range it is kept") {
  // |q| |k| = 1.5e19 * 2e19 is below the largest float, 3.4e38, and the default scale is below 1.
  CHECK(rows_of_nan(
            make_problem(rows_of(3, 1, 1.5e19f), rows_of(3, 1, -2e19f), rows_of(3, 1, 1), 0.5))
            .empty());
  CHECK(
      rows_of_nan(make_problem(rows_of(3, 1, 2e19f), rows_of(3, 1, -2e19f), rows_of(3, 1, 1), 0.5))
          .size() == 3);
  // A scale above ln 2 counts: 9e37 * 4 / ln 2 is beyond.
  CHECK(rows_of_nan(make_problem(rows_of(3, 1, 9e18f), rows_of(3, 1, 1e19f), rows_of(3, 1, 1), 1))
            .empty());
  CHECK(rows_of_nan(make_problem(rows_of(3, 1, 9e18f), rows_of(3, 1, 1e19f), rows_of(3, 1, 1), 4))
            .size() == 3);
  // A row of d numbers has the norm of all of them.
  CHECK(
      rows_of_nan(make_problem(rows_of(3, 16, 5e18f), rows_of(3, 16, 5e18f), rows_of(3, 1, 1), 0.5))
          .size() == 3);
}

TEST_CASE("only keys that a query may see make it NaN") {
  Matrix k = rows_of(6, 2, 1);
  k(4, 1) = 1e30f;
  const auto problem = [&](Index queries, bool causal) {
    return make_problem(rows_of(queries, 2, 1e10f), Matrix::copy_of(k), rows_of(6, 2, 1), 0,
                        causal);
  };
  CHECK(rows_of_nan(problem(6, false)).size() == 6);
  CHECK(rows_of_nan(problem(6, true)) == std::vector<Index>{4, 5});
  CHECK(rows_of_nan(problem(3, true)) == std::vector<Index>{1, 2});  // at the places 3, 4 and 5
  // At the places -2 to 5: two queries have no keys.
  CHECK(rows_of_nan(problem(8, true)) == std::vector<Index>{6, 7});
}

TEST_CASE("what is not finite already changes no other row") {
  using Limits = std::numeric_limits<float>;
  for (const float odd : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    Matrix q = rows_of(4, 2, 1), k = rows_of(4, 2, 1);
    k(2, 0) = odd;
    CHECK(rows_of_nan(make_problem(Matrix::copy_of(q), std::move(k), rows_of(4, 2, 1))).empty());
    q(1, 1) = odd;
    const Problem problem = make_problem(std::move(q), rows_of(4, 2, 1), rows_of(4, 2, 1));
    CHECK(problem.q(0, 0) == 1);
    CHECK(problem.q(2, 0) == 1);
  }
}
