// The CUDA back end, on a device or on the emulated one, against the CPU back end.
#include <doctest/doctest.h>

#include "laws/cases.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("cuda: first look") {
  std::string why;
  const auto cuda = make_cuda_backend({}, &why);
  REQUIRE_MESSAGE(cuda, why);
  const Problem problem = make_data(Data::gaussian, 200, 64, 64, false);
  const Instance x = make_instance(*cuda, problem, "exact", {});
  const Instance y = make_instance(*backends().front(), problem, "exact", {});
  const Output a = x.apply(problem.v), b = y.apply(problem.v);
  double worst = 0;
  for (Index i = 0; i < 200; ++i)
    for (Index c = 0; c < 64; ++c) worst = std::max(worst, std::abs(double(a.z(i, c)) - b.z(i, c)));
  CHECK(worst < 1e-6);
}
