// Z, log-sum-exp and maps of P from one pass over some rows, on a device or on the emulated one,
// against the CPU back end.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/query_tile_shapes.h"
#include "kernels/round_16.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Whether the rows of `part` are, bit for bit, those of `whole` from `first` on.
bool same_rows(const Matrix& part, const Matrix& whole, Index first) {
  if (part.cols() != whole.cols() || first + part.rows() > whole.rows()) return false;
  for (Index r = 0; r < part.rows(); ++r)
    if (std::memcmp(part.row(r), whole.row(first + r),
                    static_cast<std::size_t>(part.cols()) * sizeof(float)) != 0)
      return false;
  return true;
}

bool same_sums(const std::vector<float>& part, const std::vector<float>& whole, Index first) {
  return std::equal(part.begin(), part.end(), whole.begin() + first);
}

// Largest difference relative to the larger; a NaN where the other has none is infinite.
double apart(const Matrix& a, const Matrix& b) {
  double worst = a.rows() == b.rows() && a.cols() == b.cols() ? 0 : INFINITY;
  for (Index r = 0; r < a.rows() && worst < INFINITY; ++r)
    for (Index c = 0; c < a.cols(); ++c) {
      const double x = static_cast<double>(a(r, c)), y = static_cast<double>(b(r, c));
      if (std::isnan(x) || std::isnan(y))
        worst = std::isnan(x) && std::isnan(y) ? worst : INFINITY;
      else
        worst = std::max(worst, std::abs(x - y) / (std::max(x, y) + 0x1p-100));
    }
  return worst;
}

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

std::unique_ptr<Backend> cuda(const char* precision) {
  std::string why_not;
  auto backend = make_cuda_backend({.precision = precision}, &why_not);
  if (!backend) MESSAGE(why_not);
  return backend;
}

const Backend& cpu() {
  static const std::unique_ptr<Backend> made = make_cpu_backend();
  return *made;
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
  // Both round exponents in log2 units relative to their own size, and add up to n weights in
  // different orders.
  const double unit =
      0x1p-23 * (8 + 4 * largest_logit(problem)) + 2 * static_cast<double>(n) * 0x1p-24;
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
    const auto backend = cuda(precision);
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
  constexpr double log2e = 1.44269504088896340736;
  const auto rounded_to = [](const std::string& precision, MatrixView m, float factor) {
    Matrix out(m.rows, m.cols);
    for (Index i = 0; i < m.rows; ++i)
      for (Index c = 0; c < m.cols; ++c) {
        const float x = m(i, c) * factor;
        out(i, c) = precision == "bf16"   ? from_bf16(to_bf16(x))
                    : precision == "fp16" ? from_fp16(to_fp16(x))
                                          : x;
      }
    return out;
  };
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
    std::string why_not;
    const auto backend = make_cuda_backend({.precision = c.precision, .wgmma = false}, &why_not);
    if (!backend) continue;
    const Problem problem = make_data(Data::gaussian, c.n, c.d, c.dv, true);
    const auto log2_scale = static_cast<float>(problem.scale * log2e);
    const Problem its = make_problem(rounded_to(c.precision, problem.q, log2_scale),
                                     rounded_to(c.precision, problem.k, 1),
                                     Matrix::copy_of(problem.v), 1 / log2e, true);
    const IndexRange rows = pixels_from(c.n, c.pixel, 300 / c.pixel + 1);
    const Instance x = make_instance(*backend, problem, "exact", {});
    const RowsOutput found = x.apply_rows(rows, c.pixel),
                     right = make_instance(cpu(), its, "exact", {}).apply_rows(rows, c.pixel);
    const double unit =
        0x1p-23 * (8 + 4 * largest_logit(problem)) + 2 * static_cast<double>(c.n) * 0x1p-24;
    CHECK(apart(found.most, right.most) <= 2 * unit);
    CHECK(apart(found.mean, right.mean) <= 2 * unit);
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
  const auto backend = cuda("fp32-split");
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
  Matrix q = Matrix::copy_of(good.q);
  q(broken, 2) = std::numeric_limits<float>::quiet_NaN();
  const Problem bad = make_problem(std::move(q), Matrix::copy_of(good.k), Matrix::copy_of(good.v),
                                   good.scale, true);
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
