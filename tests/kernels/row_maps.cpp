// Z, log-sum-exp and maps of P from one pass over some rows, on a device or on the emulated one,
// against the CPU back end.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "backend/backends.h"
#include "kernels/maps_16.h"
#include "kernels/other_backends.h"
#include "kernels/query_tile_shapes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// So many keys one block takes alone. More may be divided among several, as it suits the number of
// queries, so that the results of some queries and of all are added in different orders.
constexpr Index never_divided = 256;

void check_close(const Output& part, const Output& whole, Index first, double unit) {
  REQUIRE(first + part.z.rows() <= whole.z.rows());
  double largest = 0, worst = 0, worst_sum = 0;
  for (Index r = 0; r < part.z.rows(); ++r) {
    const Index row = first + r;
    for (Index c = 0; c < part.z.cols(); ++c) {
      const double its = double{whole.z(row, c)};
      largest = std::max(largest, std::abs(its));
      worst = larger_error(worst, std::abs(double{part.z(r, c)} - its));
    }
    const double sum = double{whole.lse[static_cast<std::size_t>(row)]};
    worst_sum =
        larger_error(worst_sum, std::abs(double{part.lse[static_cast<std::size_t>(r)]} - sum) /
                                    (1 + std::abs(sum)));
  }
  CHECK(worst <= unit * largest);
  CHECK(worst_sum <= unit);
}

// Some rows in the middle of [0, n): pixels from their first on, `count` of them or up to the end.
IndexRange pixels_from(Index n, Index pixel, Index count) {
  const Index first = n / pixel / 3;
  return {first * pixel, std::min(n, (first + count) * pixel)};
}

std::unique_ptr<Backend> backend_or_why_not(const char* precision, bool wgmma = true) {
  std::string why_not;
  auto backend = make_cuda_backend({.precision = precision, .wgmma = wgmma}, &why_not);
  if (!backend) MESSAGE(why_not);
  return backend;
}

void check_rows(const Problem& problem, Index pixel) {
  const Index n = problem.n();
  CAPTURE(n);
  CAPTURE(problem.d());
  CAPTURE(problem.dv());
  CAPTURE(problem.causal);
  CAPTURE(pixel);
  const Instance ours = make_instance(*backends().front(), problem, "exact", {}),
                 theirs = make_instance(cpu(), problem, "exact", {});
  REQUIRE(ours.bound->has_rows());
  const RowsOutput whole = ours.apply_rows({0, n}, pixel);
  const Output all = ours.apply(problem.v);
  const double unit = map_unit(problem);
  const auto check_output = [&](const Output& part, Index first) {
    if (n > never_divided) return check_close(part, all, first, 2 * unit);
    CHECK(same_rows(part.z, all.z, first));
    CHECK(same_sums(part.lse, all.lse, first));
  };
  check_output(whole.output, 0);
  const IndexRange rows = pixels_from(n, pixel, 300 / pixel + 1);
  const RowsOutput part = ours.apply_rows(rows, pixel), their = theirs.apply_rows(rows, pixel);
  check_output(part.output, rows.begin);
  if (n <= never_divided) {
    // The queries of a pixel are added one after the other, however they are cut into query tiles.
    CHECK(same_rows(part.most, whole.most, rows.begin / pixel));
    CHECK(same_rows(part.mean, whole.mean, rows.begin / pixel));
  }
  CHECK(apart(part.most, their.most) <= 2 * unit);
  CHECK(apart(part.mean, their.mean) <= 2 * unit);
}

}  // namespace

// Columns of pixels narrower and wider than a KV tile of 64 keys, pixels taller than a query tile.
TEST_CASE("maps: Z and P pooled in one pass are the CPU's, whatever rows they are of") {
  constexpr Index pixels[] = {37, 64, 100, 150};
  std::size_t turn = 0;
  for (const Shape& shape : query_tile_shapes()) {
    const Data data = turn % 3 == 0 ? Data::spike : Data::gaussian;
    check_rows(make_data(data, shape.n, shape.d, shape.dv, turn % 2 == 0), pixels[turn % 4]);
    ++turn;
  }
}

TEST_CASE("maps: one pixel for everything, and a pixel for every pair") {
  for (const Data data : {Data::huge, Data::equal}) {
    check_rows(make_data(data, 45, 3, 2, true), 45);
    check_rows(make_data(data, 45, 3, 2, true), Index{1} << 40);
    check_rows(make_data(data, 45, 3, 2, data == Data::huge), 1);
    check_rows(make_data(data, 1, 3, 2, true), 1);
  }
}

TEST_CASE("maps: entries are divided by the row sums that a pass has found") {
  for (const char* precision : {"fp32", "bf16"}) {
    const auto backend = backend_or_why_not(precision);
    if (!backend) continue;
    const Problem problem = make_data(Data::gaussian, 150, 5, 3, true);
    const auto fresh = [&] { return make_instance(*backend, problem, "exact", {}); };
    const Matrix truth = fresh().all();
    const Instance x = fresh();
    const Pool one_row{Pool::Kind::max, 30, 10, 4};
    const Matrix drawn = x.tile({0, 150}, {0, 150}, one_row);
    x.apply_rows({40, 80}, 10);
    CHECK(same_rows(x.tile({35, 90}, {0, 150}), truth, 35));
    x.apply_rows({140, 150}, 10);
    CHECK(same_rows(x.all(), truth, 0));
    CHECK(same_rows(drawn, x.tile({0, 150}, {0, 150}, one_row), 0));
  }
}

// Each height of query tiles; columns of pixels that are wider and narrower than a KV tile of 64
// keys, and that begin in the middle of one.
TEST_CASE("maps: on tensor cores they are of Z's own logits") {
  struct Case {
    const char* precision;
    Index n, d, dv, pixel;
  };
  for (const Case& c : {Case{"bf16", 130, 40, 9, 20},
                        {"bf16", 390, 64, 33, 128},
                        {"fp16", 200, 64, 64, 100},
                        {"fp16", 150, 70, 80, 37},
                        {"fp32-split", 130, 40, 9, 64},
                        {"fp32-split", 200, 70, 80, 50}}) {
    CAPTURE(c.precision);
    CAPTURE(c.n);
    // Z without maps by the same kernel: that of warpgroups rounds weights of other references.
    const auto backend = backend_or_why_not(c.precision, false);
    if (!backend) continue;
    const Problem problem = make_data(Data::gaussian, c.n, c.d, c.dv, true);
    const Problem its = rounded_to(c.precision, problem);
    const IndexRange rows = pixels_from(c.n, c.pixel, 300 / c.pixel + 1);
    const Instance x = make_instance(*backend, problem, "exact", {});
    const RowsOutput found = x.apply_rows(rows, c.pixel),
                     right = make_instance(cpu(), its, "exact", {}).apply_rows(rows, c.pixel);
    const double unit = map_unit(problem);
    CHECK(apart(found.most, right.most) <= 2 * unit);
    CHECK(apart(found.mean, right.mean) <= 2 * unit);
    if (find_cuda_device(nullptr).value().wgmma) {
      const RowsOutput by_warpgroups =
          make_instance(*backend_or_why_not(c.precision), problem, "exact", {})
              .apply_rows(rows, c.pixel);
      CHECK(apart(by_warpgroups.most, right.most) <= 2 * unit);
      CHECK(apart(by_warpgroups.mean, right.mean) <= 2 * unit);
    }
    const Output all = x.apply(problem.v);
    if (c.n > never_divided) {
      check_close(found.output, all, rows.begin, 2 * unit);
      continue;
    }
    CHECK(same_rows(found.output.z, all.z, rows.begin));
    CHECK(same_sums(found.output.lse, all.lse, rows.begin));
  }
}

TEST_CASE("maps: values that cannot be split have those of the fp32 lanes") {
  const auto backend = backend_or_why_not("fp32-split");
  if (!backend) return;
  const Problem problem = make_data(Data::gaussian, 90, 8, 3, true);
  Matrix v = Matrix::copy_of(problem.v);
  for (Index c = 0; c < 3; ++c) v(40, c) = 1e-12f;
  const Problem uneven =
      make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k), std::move(v), 0, true);
  const RowsOutput found = make_instance(*backend, uneven, "exact", {}).apply_rows({0, 90}, 20),
                   right = make_instance(*backends().front(), uneven, "exact", {})
                               .apply_rows({0, 90}, 20);
  CHECK(same_rows(found.most, right.most, 0));
  CHECK(same_rows(found.mean, right.mean, 0));
  CHECK(same_rows(found.output.z, right.output.z, 0));
}

TEST_CASE("maps: a query that is not finite is NaN where it attends, and nowhere else") {
  const Index n = 90, pixel = 20, broken = 47;
  const Problem good = make_data(Data::gaussian, n, 8, 3, true);
  const Problem bad = with_number_of_query(good, broken, std::numeric_limits<float>::quiet_NaN());
  const RowsOutput
      found = make_instance(*backends().front(), bad, "exact", {}).apply_rows({0, n}, pixel),
      right = make_instance(*backends().front(), good, "exact", {}).apply_rows({0, n}, pixel);
  for (Index r = 0; r < found.most.rows(); ++r)
    for (Index c = 0; c < found.most.cols(); ++c) {
      const bool attends = r == broken / pixel && c * pixel <= broken;
      CHECK(std::isnan(found.most(r, c)) == attends);
      CHECK(std::isnan(found.mean(r, c)) == attends);
      if (r == broken / pixel) continue;
      CHECK(found.most(r, c) == right.most(r, c));
      CHECK(found.mean(r, c) == right.mean(r, c));
    }
}

TEST_CASE("maps: an infinite query leaves the pixels that it may not see as they are") {
  const Index n = 150, pixel = 8, broken = 71;
  const Problem good = make_data(Data::gaussian, n, 8, 3, true);
  const Problem bad = with_number_of_query(good, broken, std::numeric_limits<float>::infinity());
  for (const char* precision : {"fp32", "bf16"}) {
    CAPTURE(std::string(precision));
    const auto backend = make_cuda_backend({.precision = precision}, nullptr);
    REQUIRE(backend);
    const RowsOutput found = make_instance(*backend, bad, "exact", {}).apply_rows({0, n}, pixel);
    int wrong = 0;
    for (Index c = broken / pixel + 1; c < found.most.cols(); ++c) {
      wrong += found.most(broken / pixel, c) != 0;  // queries 64 to 71 see no key from 72 on
      wrong += found.mean(broken / pixel, c) != 0;
    }
    CHECK(wrong == 0);
  }
}
