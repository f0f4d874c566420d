// fp32 on tensor cores, from products of split numbers: as exact as the formula in float32, and on
// the fp32 lanes where numbers cannot be split.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "backend/backends.h"
#include "kernels/query_tile_shapes.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const Backend& split_backend() {
  static const auto made = [] {
    std::string why_not;
    auto backend = make_cuda_backend({.precision = "fp32-split"}, &why_not);
    REQUIRE_MESSAGE(backend, why_not);
    return backend;
  }();
  return *made;
}

Matrix times_factor(MatrixView m, float factor) {
  Matrix out = Matrix::copy_of(m);
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c) out(i, c) *= factor;
  return out;
}

// Z of the back end and of the formula in float32, against the formula in float64: the law that
// fp32 meets.
void check_law(const Instance& x) {
  const Index n = x.problem.n(), dv = x.problem.dv();
  const auto truth = times(reference<double>(x), x.problem.v);
  const auto formula = times(reference<float>(x), x.problem.v);
  const double theirs = distance(rows_of(formula, dv), rows_of(truth, dv), n, dv),
               ours = distance(x.apply(x.problem.v).z, rows_of(truth, dv), n, dv);
  CHECK(ours <=
        2 * theirs + floor_of(x) * largest_entry(x.problem.v) * std::max(1.0, row_mass(x.all())));
}

Instance bound(const Problem& problem, const std::string& id = "exact", const Settings& set = {}) {
  return make_instance(split_backend(), problem, id, set);
}

// Logits of all sizes up to `most`.
Problem peaked(double most, Index n, Index d, bool causal) {
  const Problem problem = make_data(Data::gaussian, n, d, 9, causal);
  const auto factor = static_cast<float>(std::sqrt(most / largest_logit(problem)));
  return make_problem(times_factor(problem.q, factor), times_factor(problem.k, factor),
                      Matrix::copy_of(problem.v), 0, causal);
}

Problem scaled(float q, float k, float v) {
  const Problem problem = make_data(Data::gaussian, 70, 20, 12, false);
  return make_problem(times_factor(problem.q, q), times_factor(problem.k, k),
                      times_factor(problem.v, v), 0);
}

bool same_bits(const Output& a, const Output& b) {
  for (Index i = 0; i < a.z.rows(); ++i)
    if (std::memcmp(a.z.row(i), b.z.row(i), static_cast<std::size_t>(a.z.cols()) * sizeof(float)))
      return false;
  return a.lse == b.lse;
}

}  // namespace

TEST_CASE("split products: Z has at most twice the error of the formula in float32") {
  int turn = 0;
  for (const Shape shape : {Shape{1, 3, 5}, {63, 1, 64}, {65, 64, 80}, {80, 130, 200}})
    for (const Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike}) {
      const bool causal = turn++ % 3 == 0;
      CAPTURE(shape.n);
      CAPTURE(shape.d);
      CAPTURE(static_cast<int>(data));
      CAPTURE(causal);
      check_law(bound(make_data(data, shape.n, shape.d, shape.dv, causal)));
    }
}

TEST_CASE("split products: the same of logits up to 10000, and of tiny and of huge numbers") {
  for (const double most : {1e2, 1e4}) {
    CAPTURE(most);
    check_law(bound(peaked(most, 70, 64, most < 1e3)));
  }
  for (const float size : {1e-30f, 1e-10f, 1e10f, 1e30f}) {
    CAPTURE(size);
    check_law(bound(scaled(size, 1 / size, 1)));
    check_law(bound(scaled(1 / size, size, size)));
  }
  check_law(bound(scaled(1e-25f, 1e-25f, 1e-25f)));  // all logits are 0
}

TEST_CASE("split products: the same of every variant") {
  std::string before;
  int turn = 0;
  for (const Case& c : cases()) {
    if (c.id == before && turn % 3 > 0) continue;  // the first cases of each, and some others
    before = c.id;
    const bool causal = mask_of(c, ++turn % 2 == 0);
    CAPTURE(describe(c));
    CAPTURE(causal);
    const Data data = turn % 4 < 2 ? Data::huge : Data::gaussian;
    check_law(bound(make_data(data, 50, 16, 9, causal, c.head), c.id, c.settings));
  }
}

TEST_CASE("split products: numbers that cannot be split are left to the fp32 lanes") {
  const Problem plain = make_data(Data::gaussian, 70, 20, 12, false);
  const auto z_of = [](const Backend& backend, const Problem& problem) {
    return make_instance(backend, problem, "exact", {}).apply(problem.v);
  };
  const Backend& lanes = *backends().front();
  CHECK_FALSE(same_bits(z_of(split_backend(), plain), z_of(lanes, plain)));
  // A row whose largest number is `ratio` of that of the matrix: split as long as it keeps its
  // bits.
  for (const auto& tried : {std::pair(0x1p-24f, true), {0x1p-28f, false}})
    for (const int changed : {0, 1, 2}) {
      const float ratio = tried.first;
      const bool splits = tried.second;
      CAPTURE(ratio);
      CAPTURE(changed);
      Matrix parts[3] = {Matrix::copy_of(plain.q), Matrix::copy_of(plain.k),
                         Matrix::copy_of(plain.v)};
      const float largest = static_cast<float>(largest_entry(parts[changed]));
      for (Index c = 0; c < parts[changed].cols(); ++c) parts[changed](31, c) = ratio * largest;
      const Problem problem =
          make_problem(std::move(parts[0]), std::move(parts[1]), std::move(parts[2]), 0);
      CHECK(same_bits(z_of(split_backend(), problem), z_of(lanes, problem)) != splits);
      check_law(bound(problem));
    }
}

TEST_CASE("split products: a row of zeros, and numbers that are not finite, harm no others") {
  const Problem good = make_data(Data::gaussian, 90, 20, 12, true);
  Matrix q = Matrix::copy_of(good.q), k = Matrix::copy_of(good.k);
  for (Index c = 0; c < 20; ++c) {
    k(10, c) = 0;
    q(50, c) = std::numeric_limits<float>::quiet_NaN();
    q(60, c) = std::numeric_limits<float>::infinity();
  }
  const Problem bad = make_problem(q, k, Matrix::copy_of(good.v), 0, true),
                finite = make_problem(Matrix::copy_of(good.q), k, Matrix::copy_of(good.v), 0, true);
  const Output found = bound(bad).apply(bad.v), right = bound(finite).apply(finite.v);
  for (Index i = 0; i < 90; ++i)
    for (Index c = 0; c < 12; ++c)
      if (i == 50 || i == 60)
        CHECK(std::isnan(found.z(i, c)));
      else
        CHECK(found.z(i, c) == right.z(i, c));
}

// Each height of query tiles; keys divided among blocks.
TEST_CASE("split products: Z and log-sum-exp are those of the fp32 lanes, for every shape") {
  for (const Shape& shape : query_tile_shapes()) {
    CAPTURE(shape.n);
    CAPTURE(shape.d);
    CAPTURE(shape.dv);
    const Problem problem = make_data(Data::gaussian, shape.n, shape.d, shape.dv, true);
    const Output ours = bound(problem).apply(problem.v),
                 theirs = make_instance(*backends().front(), problem, "exact", {}).apply(problem.v);
    const double unit = 2 * floor_of(problem) + static_cast<double>(shape.n) * 0x1p-24;
    CHECK(distance(ours.z, theirs.z, shape.n, shape.dv) <= unit * largest_entry(problem.v));
    double worst = 0;
    for (std::size_t i = 0; i < ours.lse.size(); ++i)
      worst = larger_error(worst, double{ours.lse[i]} - double{theirs.lse[i]});
    CHECK(worst <= 2 * unit);
  }
}
