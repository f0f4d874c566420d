// The product of plain matrices against float64.
#include <doctest/doctest.h>

#include <cmath>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("product: sizes around strips, steps, panels and pieces, against float64") {
  struct Sizes {
    Index m, k, n;
  };
  for (const Sizes& size : {Sizes{1, 1, 1}, Sizes{64, 96, 256}, Sizes{65, 97, 257},
                            Sizes{3, 2049, 17}, Sizes{70, 5000, 64}, Sizes{300, 2500, 300}})
    for (const auto& backend : backends()) {
      CAPTURE(size.m);
      CAPTURE(size.k);
      CAPTURE(backend->device());
      const Matrix a = gaussian(size.m, size.k, 1), b = gaussian(size.k, size.n, 2);
      Profile profile;
      Run run{profile};
      const Matrix c = backend->product(a, b, run);
      REQUIRE(c.rows() == size.m);
      REQUIRE(c.cols() == size.n);
      double worst = 0;
      for (Index i = 0; i < size.m; ++i)
        for (Index j = 0; j < size.n; ++j) {
          double sum = 0, magnitude = 0;
          for (Index t = 0; t < size.k; ++t) {
            const double term = double(a(i, t)) * double(b(t, j));
            sum += term;
            magnitude += std::abs(term);
          }
          // Each of k additions rounds by half a unit of the sum so far at most.
          worst = larger_error(
              worst, (double(c(i, j)) - sum) / (magnitude * static_cast<double>(size.k) * 0x1p-24));
        }
      CHECK(worst <= 1);
    }
}
