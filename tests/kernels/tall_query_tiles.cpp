// Query tiles of 128 queries, which short sequences never fill.
#include <doctest/doctest.h>

#include <cmath>

#include "backend/backends.h"
#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("fp32: tall query tiles take V of any number of columns") {
  const auto cpu = make_cpu_backend({.threads = 1});
  for (const Index dv : {64, 65, 300}) {
    CAPTURE(dv);
    const Problem bound = make_data(Data::gaussian, 400, 16, 3, true);  // V may change later
    const Matrix v = gaussian(400, dv, 5);
    const Output ours = make_instance(*backends().front(), bound, "exact", {}).apply(v),
                 theirs = make_instance(*cpu, bound, "exact", {}).apply(v);
    double worst = 0;
    for (Index i = 0; i < 400; ++i)
      for (Index c = 0; c < dv; ++c) {
        const double off = std::abs(double{ours.z(i, c)} - double{theirs.z(i, c)});
        worst = std::isnan(off) ? INFINITY : std::max(worst, off);
      }
    CHECK(worst < 4e-6);  // float32: sums of 400 terms of size up to 4
  }
}
