// What holds for a head with a window, documents, a mask of pairs, biases, a soft cap or a sink,
// for every variant that has a form with it, on every back end.
#include <doctest/doctest.h>

#include <cmath>

#include "laws/conditions.h"
#include "laws/formulas.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// `p` and `out`: all of P, and Z, of x.
void check_formula(const Instance& x, const Matrix& p, const Output& out) {
  const auto truth = reference<double>(x);
  const auto plain = reference<float>(x);
  const Index n = x.problem.n(), dv = x.problem.dv();
  // Beside what a head without conditions has: a cap's tanh, to 1e-6 of a logit, and the
  // rounding of each bias.
  const double floor = floor_of(x) + 2e-6 * largest_logit(x.problem);
  CHECK(distance(p, truth, n, n) <= 2 * distance(plain, truth, n, n) + floor);
  const auto true_z = times(truth, x.problem.v);
  const auto plain_z = times(plain, x.problem.v);
  const double plain_error = distance(rows_of(plain_z, dv), rows_of(true_z, dv), n, dv);
  CHECK(distance(out.z, rows_of(true_z, dv), n, dv) <=
        2 * plain_error + floor * largest_entry(x.problem.v));
}

void check_sums(const Instance& x, const Matrix& p, const Output& out) {
  const double slack = floor_of(x) + 2e-6 * largest_logit(x.problem) +
                       static_cast<double>(x.plan->lengths.n()) * 0x1p-24;
  const bool has_sink = x.problem.rule && x.problem.rule->sink;
  const double sink = has_sink ? *x.problem.rule->sink : 0;
  for (Index i = 0; i < x.plan->lengths.n(); ++i) {
    double sum = 0;
    bool any = false, seen = true;
    for (Index j = 0; j < x.plan->lengths.n(); ++j) {
      sum += static_cast<double>(p(i, j));
      any |= p(i, j) != 0;
      seen &= p(i, j) == 0 || sees(x.problem, i, j);
    }
    CHECK(seen);
    const auto lse = static_cast<double>(out.lse[static_cast<std::size_t>(i)]);
    const double expected = !any ? 0 : has_sink ? 1 - std::exp(sink - lse) : 1;
    CHECK(std::abs(sum - expected) <= 2 * slack);
    if (!any && !has_sink) CHECK(lse == -std::numeric_limits<double>::infinity());
    for (Index c = 0; !any && c < x.problem.dv(); ++c) CHECK(out.z(i, c) == 0.0f);
  }
}

}  // namespace

// P and Z take most of the time, so that one case checks all that they are needed for.
TEST_CASE("law: under every condition P is that of the formula, and so are Z, sums and pools") {
  for_all_conditions([](const Instance& x) {
    const Index n = x.plan->lengths.n();
    const Matrix p = x.all();
    const IndexRange rows{n / 4, n}, cols{n / 3, n};
    const Matrix part = x.tile(rows, cols);
    const double slack = 2 * floor_of(x) + 2e-6 * largest_logit(x.problem);
    CHECK(distance(
              part, [&](Index i, Index j) { return p(rows.begin + i, cols.begin + j); },
              rows.size(), cols.size()) <= slack);
    const Pool pool{Pool::Kind::mean, 1, 1};
    double mean = 0;
    for (Index i = rows.begin; i < rows.end; ++i)
      for (Index j = cols.begin; j < cols.end; ++j) mean += static_cast<double>(p(i, j));
    mean /= static_cast<double>(rows.size() * cols.size());
    CHECK(std::abs(static_cast<double>(x.tile(rows, cols, pool)(0, 0)) - mean) <= slack);

    const Index pixel = std::max<Index>(1, n / 2), begin = n / 2;
    RowsOutput some;  // before Z is computed
    if (x.bound->has_rows()) some = x.apply_rows({begin, n}, pixel);
    const Output whole = x.apply(x.problem.v);
    check_formula(x, p, whole);
    check_sums(x, p, whole);
    if (x.bound->has_rows())
      CHECK(distance(
                some.output.z, [&](Index i, Index c) { return whole.z(begin + i, c); }, n - begin,
                x.problem.dv()) == 0);
  });
}
