// Figures of outputs side by side, as authors of kernels use them: against sums in double.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/measures.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("outputs: relative L1 and cosines and correlation, and where the largest difference is") {
  const Problem problem = make_data(Data::gaussian, 48, 8, 5, false);
  const Instance approximate = make_instance(*backends().front(), problem, "fixed", {}),
                 exact = make_instance(*backends().front(), problem, "exact", {});
  const Output its = approximate.apply(problem.v), truth = exact.apply(problem.v);
  Profile profile;
  Run run{profile};
  const Metrics m = compare(*approximate.bound, its, *exact.bound, truth, run);
  double apart = 0, all = 0, xy = 0, xx = 0, yy = 0, x = 0, y = 0, least = 1, largest = 0;
  Index row = 0, col = 0;
  const Matrix &a = its.z, &b = truth.z;
  const auto count = static_cast<double>(a.rows() * a.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    double own_xy = 0, own_xx = 0, own_yy = 0;
    for (Index c = 0; c < a.cols(); ++c) {
      const auto p = static_cast<double>(a(i, c)), q = static_cast<double>(b(i, c));
      apart += std::abs(p - q);
      all += std::abs(q);
      own_xy += p * q;
      own_xx += p * p;
      own_yy += q * q;
      x += p;
      y += q;
      if (std::abs(p - q) > largest) largest = std::abs(p - q), row = i, col = c;
    }
    least = std::min(least, own_xy / std::sqrt(own_xx * own_yy));
    xy += own_xy;
    xx += own_xx;
    yy += own_yy;
  }
  CHECK(m.output_rel_l1 == doctest::Approx(apart / all));
  CHECK(m.output_cosine == doctest::Approx(xy / std::sqrt(xx * yy)));
  CHECK(m.output_min_cosine == doctest::Approx(least));
  CHECK(m.output_pearson ==
        doctest::Approx((xy - x * y / count) /
                        std::sqrt((xx - x * x / count) * (yy - y * y / count))));
  CHECK(m.max_abs_row == row);
  CHECK(m.max_abs_col == col);
}

TEST_CASE("cosines and correlation of outputs without a direction") {
  const Problem problem = make_data(Data::gaussian, 4, 8, 2, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  const auto compared = [&](Matrix a, Matrix b) {
    Profile profile;
    Run run{profile};
    const Instance other = make_instance(*backends().front(), problem, "exact", {});
    return compare(*other.bound, {std::move(a), {0, 0, 0, 0}}, *exact.bound,
                   {std::move(b), {0, 0, 0, 0}}, run);
  };
  Matrix zeros(4, 2), ones(4, 2);
  for (Index i = 0; i < 4; ++i) ones(i, 0) = ones(i, 1) = 1;
  const Metrics against_ones = compared(Matrix::copy_of(zeros), Matrix::copy_of(ones));
  CHECK(against_ones.output_cosine == 0);
  CHECK(against_ones.output_min_cosine == 0);
  CHECK(std::isnan(against_ones.output_pearson));
  CHECK(against_ones.output_rel_l1 == 1);
  const Metrics same = compared(Matrix::copy_of(zeros), Matrix::copy_of(zeros));
  CHECK(same.output_cosine == 1);
  CHECK(same.output_min_cosine == 1);
  CHECK(same.output_pearson == 1);
  CHECK(same.output_rel_l1 == 0);
  Matrix turned = Matrix::copy_of(ones);
  turned(2, 1) = -1;
  const Metrics one_row = compared(Matrix::copy_of(turned), Matrix::copy_of(ones));
  CHECK(one_row.output_min_cosine == doctest::Approx(0));
  CHECK(one_row.output_cosine == doctest::Approx(0.75));
  CHECK(one_row.max_abs_row == 2);
  CHECK(one_row.max_abs_col == 1);
  const auto largest = std::ranges::find(measures(), "output_max_abs", &Measure::id);
  CHECK(to_text(*largest, *largest->of({.metrics = &one_row})) == "2 at [2, 1]");
}
