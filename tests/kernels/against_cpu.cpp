// The CUDA back end, on a device or on the emulated one, against the CPU back end. The laws hold
// for both, but would not find a mistake that both make, nor a race.
#include <doctest/doctest.h>

#include <cmath>

#include "backend/backends.h"
#include "kernels/query_tile_shapes.h"
#include "laws/operator_cases.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double distance(MatrixView a, MatrixView b) {
  double worst = 0;
  for (Index i = 0; i < a.rows; ++i)
    for (Index c = 0; c < a.cols; ++c) {
      const double apart = std::abs(static_cast<double>(a(i, c)) - static_cast<double>(b(i, c)));
      worst = larger_error(worst, apart);
    }
  return worst;
}

/// Largest logarithm of an exponential feature, g . x - |x|^2 / 2, of which two meet in a weight:
/// |g| is at most sqrt(d) and four standard deviations.
double largest_feature_log(const Problem& problem) {
  double square = 0;
  for (const MatrixView m : {problem.q, problem.k})
    for (Index i = 0; i < m.rows; ++i) {
      double sum = 0;
      for (Index c = 0; c < m.cols; ++c)
        sum += static_cast<double>(m(i, c)) * static_cast<double>(m(i, c));
      square = std::max(square, problem.scale * sum);
    }
  const double direction = std::sqrt(static_cast<double>(problem.d())) + 4;
  return std::sqrt(square) * direction + square / 2;
}

void check_agreement(const Case& c, const Problem& problem) {
  static const std::unique_ptr<Backend> cpu = make_cpu_backend();
  const Index n = problem.n();
  const std::string where =
      describe(c) + ", n = " + std::to_string(n) + ", d = " + std::to_string(problem.d()) +
      ", dv = " + std::to_string(problem.dv()) + (problem.causal ? ", causal" : "");
  CAPTURE(where);
  const Instance theirs = make_instance(*cpu, problem, c.id, c.settings);
  const Instance ours =
      make_instance(*backends().front(), problem, c.id, c.settings, theirs.plan->structure);
  // Both round exponents in log2 units relative to their own size, and add up to n weights in
  // different orders; the rows of TC sum to at most 2.
  const double exponent =
      c.id == "performer" ? 2 * largest_feature_log(problem) : largest_logit(problem);
  const double unit = 0x1p-23 * (8 + 4 * exponent) + 2 * static_cast<double>(n) * 0x1p-24;
  // An entry is off by its own exponent's rounding and by that of the sum it is divided by, and is
  // at most what its row sums to: far more than 1 in theory mode.
  const double mass = 2 * (c.rows_sum_to_one ? 1 : std::max(1.0, row_mass(theirs.all())));
  const Output a = ours.apply(problem.v), b = theirs.apply(problem.v);
  CHECK(distance(a.z, b.z) <= mass * unit * largest_entry(problem.v));
  REQUIRE(a.lse.size() == b.lse.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.lse.size(); ++i)
    if (a.lse[i] != b.lse[i]) {
      const double apart = std::abs(static_cast<double>(a.lse[i]) - static_cast<double>(b.lse[i]));
      worst = larger_error(worst, apart);
    }
  CHECK(worst <= unit * (1 + std::log(static_cast<double>(n))));
  const IndexRange rows{n / 3, std::min(n, n / 3 + 300)}, cols{0, n - n / 4};
  for (const auto kind : {Pool::Kind::none, Pool::Kind::max, Pool::Kind::mean}) {
    const Pool pool{kind, (rows.size() + 2) / 3, (cols.size() + 4) / 5};
    CHECK(distance(ours.tile(rows, cols, pool), theirs.tile(rows, cols, pool)) <= mass * unit);
  }
}

// row_maps.cpp tests more; this is for the thread sanitizer.
void check_rows(const Problem& problem) {
  static const std::unique_ptr<Backend> cpu = make_cpu_backend();
  const Index n = problem.n(), pixel = 1 + n / 3;
  const IndexRange rows{n / 2 / pixel * pixel, n};
  const RowsOutput a = make_instance(*backends().front(), problem, "exact", {})
                           .apply_rows(rows, pixel),
                   b = make_instance(*cpu, problem, "exact", {}).apply_rows(rows, pixel);
  const double unit =
      0x1p-23 * (8 + 4 * largest_logit(problem)) + 2 * static_cast<double>(n) * 0x1p-24;
  CHECK(distance(a.output.z, b.output.z) <= 2 * unit * largest_entry(problem.v));
  CHECK(distance(a.most, b.most) <= 2 * unit);
  CHECK(distance(a.mean, b.mean) <= 2 * unit);
}

}  // namespace

TEST_CASE("cuda: Z, log-sum-exp, entries and their pooling are the CPU's") {
  int turn = 0;
  for (const Case& c : cases())
    for (const Shape& shape : shapes()) {
      const bool causal = mask_of(c, turn % 2 == 0);
      check_agreement(
          c, make_data(static_cast<Data>(turn++ % 4), shape.n, shape.d, shape.dv, causal, c.head));
    }
}

TEST_CASE("cuda: Z and maps of some rows are the CPU's") {
  for (const Shape& shape : shapes())
    check_rows(make_data(Data::gaussian, shape.n, shape.d, shape.dv, true));
}

// Query tiles of 16, 64 and 128 queries (depending on how many keep two multiprocessors busy), and
// widths of V of one, two or four chunks of 64 columns, or two passes.
TEST_CASE("cuda: every height of query tiles, every width of heads and values") {
  for (const Shape& shape : query_tile_shapes())
    for (const bool causal : {false, true})
      check_agreement({"exact", {}}, make_data(Data::gaussian, shape.n, shape.d, shape.dv, causal));
}

// tensor_cores.cpp tests this more closely.
TEST_CASE("cuda: 16 bits: Z is that of fp32 except for the rounding of the factors") {
  int turn = 0;
  for (const Shape& shape : query_tile_shapes()) {
    const char* const precision = turn++ % 2 == 0 ? "bf16" : "fp16";
    std::string why_not;
    const auto backend = make_cuda_backend({.precision = precision}, &why_not);
    if (!backend) {
      MESSAGE(why_not);
      continue;
    }
    const Problem problem = make_data(Data::gaussian, shape.n, shape.d, shape.dv, true);
    const Instance ours = make_instance(*backend, problem, "exact", {}),
                   theirs = make_instance(*backends().front(), problem, "exact", {});
    CAPTURE(precision);
    CAPTURE(shape.n);
    CAPTURE(shape.d);
    CAPTURE(shape.dv);
    // Q, K, V and the weights are rounded, bf16 by 2^-9: a logit is off by at most twice that of
    // sum |q_c k_c|, which exceeds the largest logit by less than sqrt d, and so is its weight.
    const double logit = largest_logit(problem) + std::sqrt(static_cast<double>(shape.d));
    CHECK(distance(ours.apply(problem.v).z, theirs.apply(problem.v).z) <=
          0x1p-9 * (4 + 4 * logit) * largest_entry(problem.v));
  }
}

// comparison.cpp tests the numbers.
TEST_CASE("cuda: two operators are compared row by row on the device") {
  const Problem problem = make_data(Data::gaussian, 35, 3, 5, true);
  const Backend& backend = *backends().front();
  const Instance strided = make_instance(backend, problem, "strided", {{"stride", "4"}}),
                 exact = make_instance(backend, problem, "exact", {});
  Profile profile;
  Run run{profile};
  const auto rows = strided.bound->compare_rows(*exact.bound, {0, 35}, run);
  REQUIRE(rows);
  for (const RowDifference& row : *rows) {
    CHECK(row.error >= 0);
    CHECK(row.norm > 0);
  }
}

TEST_CASE("law: masks of pairs that reach the device in several pieces are those of the CPU") {
  constexpr Index n = 4096;  // two pieces of a MiB
  std::vector<Matrix> lists;
  lists.emplace_back(n, 2);
  for (Index i = 0; i < n; ++i) {
    lists.front()(i, 0) = static_cast<float>(i);
    lists.front()(i, 1) = static_cast<float>((i + 1) % n);
  }
  Problem problem = make_data(Data::gaussian, n, 4, 4, false);
  std::vector<ImportedTensors> results{
      {.kept = {.lists = {.where = "", .entries = make_head_tensor(std::move(lists))}}}};
  problem.imported =
      std::make_shared<const ImportedResults>(ImportedResults{std::move(results), 0});
  const std::unique_ptr<Backend> cpu = make_cpu_backend();
  const Output theirs = make_instance(*cpu, problem, "imported", {}).apply(problem.v),
               ours = make_instance(*backends().front(), problem, "imported", {}).apply(problem.v);
  // Both round two exponents, in log2 units, and add two weights.
  const double unit = 0x1p-23 * (8 + 4 * largest_logit(problem)) + 4 * 0x1p-24;
  CHECK(distance(ours.z, theirs.z) <= unit * largest_entry(problem.v));
}
