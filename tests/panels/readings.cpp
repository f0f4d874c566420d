// Statistics of a rectangle of P, of all its rows or of some.
#include "panels/readings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "panels/scene.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Reads every `step`-th row of a rectangle.
SelectionReading by_hand(const Matrix& exact, const Matrix& approximate, IndexRange rows,
                         IndexRange cols, Index step) {
  SelectionReading out;
  double squares = 0, count = 0;
  for (Index i = rows.begin; i < rows.end; i += step, ++count)
    for (Index j = cols.begin; j < cols.end; ++j) {
      const double e = exact(i, j), a = approximate(i, j);
      out.exact_mass.value += e;
      out.approximate_mass.value += a;
      out.exact_max = std::max(out.exact_max, e);
      out.approximate_max = std::max(out.approximate_max, a);
      squares += (a - e) * (a - e);
    }
  out.exact_mass.value /= count;
  out.approximate_mass.value /= count;
  out.rms_error.value = std::sqrt(squares / count / static_cast<double>(cols.size()));
  return out;
}

void check_same(const SelectionReading& found, const SelectionReading& expected,
                doctest::Approx (*near)(double)) {
  CHECK(found.exact_mass.value == near(expected.exact_mass.value));
  CHECK(found.approximate_mass.value == near(expected.approximate_mass.value));
  CHECK(found.exact_max == near(expected.exact_max));
  CHECK(found.approximate_max == near(expected.approximate_max));
  CHECK(found.rms_error.value == near(expected.rms_error.value));
}

}  // namespace

// The rows of a reading are found alone, those by hand together: products are added up in another
// order, of numbers of 2^-24.
TEST_CASE("a selection is read as a whole, or over evenly spaced rows where it is large") {
  Scene scene(make_data(Data::gaussian, 3000, 4, 1, false), "window", {{"width", "40"}});
  const Matrix p = scene.p(false), q = scene.p(true);
  Run run{scene.profile};
  const struct {
    IndexRange rows, cols;
    Index step;  // of rows: entries over 4 million
  } cases[] = {{{7, 12}, {3, 11}, 1}, {{0, 1300}, {1500, 3000}, 1}, {{0, 3000}, {0, 3000}, 2}};
  for (const auto& c : cases) {
    CAPTURE(c.rows.size());
    const SelectionReading found =
        read_selection(scene.computation, scene.exact, c.rows, c.cols, run);
    CHECK(found.sampled() == (c.step > 1));
    CHECK((found.exact_mass.standard_error > 0) == found.sampled());
    check_same(found, by_hand(p, q, c.rows, c.cols, c.step),
               [](double x) { return doctest::Approx(x).epsilon(1e-5); });
  }
}
