// The CUDA back end, on a device or on the emulated one, against the CPU back end: what the laws
// say of both says little where both could be wrong together, and shows no race.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/strip_shapes.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double distance(MatrixView a, MatrixView b) {
  double worst = 0;
  for (Index i = 0; i < a.rows; ++i)
    for (Index c = 0; c < a.cols; ++c) {
      const double apart = std::abs(static_cast<double>(a(i, c)) - static_cast<double>(b(i, c)));
      worst = apart <= worst ? worst : apart;  // a NaN is the worst
    }
  return worst;
}

double largest_entry(MatrixView m) {
  double largest = 0;
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c)
      largest = std::max(largest, std::abs(static_cast<double>(m(i, c))));
  return largest;
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
  // Both have the exponents in log2 units, rounded at their own size, and add up to n weights in
  // an order of their own; TC's rows weigh up to 2.
  const double unit =
      0x1p-23 * (8 + 4 * largest_logit(problem)) + 2 * static_cast<double>(n) * 0x1p-24;
  const Output a = ours.apply(problem.v), b = theirs.apply(problem.v);
  CHECK(distance(a.z, b.z) <= 2 * unit * largest_entry(problem.v));
  REQUIRE(a.lse.size() == b.lse.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.lse.size(); ++i)
    if (a.lse[i] != b.lse[i]) {
      const double apart = std::abs(static_cast<double>(a.lse[i]) - static_cast<double>(b.lse[i]));
      worst = apart <= worst ? worst : apart;
    }
  CHECK(worst <= unit * (1 + std::log(static_cast<double>(n))));
  const IndexRange rows{n / 3, std::min(n, n / 3 + 300)}, cols{0, n - n / 4};
  for (const auto kind : {Pool::Kind::none, Pool::Kind::max, Pool::Kind::mean}) {
    const Pool pool{kind, (rows.size() + 2) / 3, (cols.size() + 4) / 5};
    CHECK(distance(ours.tile(rows, cols, pool), theirs.tile(rows, cols, pool)) <= 2 * unit);
  }
}

}  // namespace

TEST_CASE("cuda: Z, log-sum-exp, entries and their pooling are the CPU's") {
  int turn = 0;
  for (const Case& c : cases())
    for (const Shape& shape : shapes()) {
      const bool causal = turn % 2 == 0;
      check_agreement(
          c, make_data(static_cast<Data>(turn++ % 4), shape.n, shape.d, shape.dv, causal, c.head));
    }
}

// Strips of 16, 64 and 128 queries (as many as keep two multiprocessors busy), and widths of V that
// take one, two, four chunks of 64 columns, or two passes.
TEST_CASE("cuda: every height of strips, every width of heads and values") {
  for (const Shape& shape : strip_shapes())
    for (const bool causal : {false, true})
      check_agreement({"exact", {}}, make_data(Data::gaussian, shape.n, shape.d, shape.dv, causal));
}
