// Sums over features of many segments of tokens, which no short head has.
#include <doctest/doctest.h>

#include <cmath>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double feature(float x) {
  return x > 0 ? 1 + static_cast<double>(x) : std::exp(static_cast<double>(x));
}

}  // namespace

TEST_CASE("features: linear attention of several segments, against float64") {
  const Index n = 2100, d = 3, dv = 2;
  for (const bool causal : {false, true}) {
    const Problem problem = make_data(Data::gaussian, n, d, dv, causal);
    for (const auto& backend : backends()) {
      CAPTURE(causal);
      CAPTURE(backend->device());
      const Instance x = make_instance(*backend, problem, "linear", {});
      const Output out = x.apply(problem.v);
      double worst = 0, worst_lse = 0;
      for (Index i = 0; i < n; ++i) {
        double total = 0, z[dv] = {};
        for (Index j = 0; j < (causal ? i + 1 : n); ++j) {
          double weight = 0;
          for (Index c = 0; c < d; ++c)
            weight += feature(problem.q(i, c)) * feature(problem.k(j, c));
          total += weight;
          for (Index c = 0; c < dv; ++c) z[c] += weight * static_cast<double>(problem.v(j, c));
        }
        for (Index c = 0; c < dv; ++c)
          worst = larger_error(worst, static_cast<double>(out.z(i, c)) - z[c] / total);
        worst_lse = larger_error(
            worst_lse, static_cast<double>(out.lse[static_cast<std::size_t>(i)]) - std::log(total));
      }
      CHECK(worst_lse <= 64 * 0x1p-24 * 16);  // of a number of at most 16
      // Values of at most 5 with weights that sum to 1, added up within segments of 1024 in
      // float32: at worst 512 ulps, and a mean of so many roundings is far below that.
      CHECK(worst <= 5 * 64 * 0x1p-24);
    }
  }
}
