// A device that was lost computes again for a new back end, or says that it is lost. A program of
// its own: nothing else may hold the device.
#include <doctest/doctest.h>

#include "backend/backends.h"
#include "data/error.h"
#include "harness.h"
#include "kernels/lost_device/lose_device.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("a lost device computes again when all that was on it has ended") {
  const Problem problem = make_data(Data::gaussian, 64, 8, 8, false);
  std::string why_not;
  auto backend = make_cuda_backend({}, &why_not);
  REQUIRE_MESSAGE(backend, why_not);
  Output before;
  {
    const Instance x = make_instance(*backend, problem, "exact", {});
    before = x.apply(problem.v);
    lose_device();
    check_says(message_of<DeviceLostError>([&] { x.apply(problem.v); }),
               {"what this program had on the GPU is lost"});
    CHECK(!make_cuda_backend({}, &why_not));  // as long as x is there
  }
  backend.reset();
  backend = make_cuda_backend({}, &why_not);
#ifdef FOVEA_ON_DEVICE
  if (!backend) {  // a kernel that failed ends the use of CUDA until the process ends
    check_says(why_not, {"what this program had on the GPU is lost"});
    return;
  }
#endif
  REQUIRE_MESSAGE(backend, why_not);
  const Output after = make_instance(*backend, problem, "exact", {}).apply(problem.v);
  for (Index i = 0; i < 64; ++i)
    for (Index c = 0; c < 8; ++c) CHECK(after.z(i, c) == before.z(i, c));
}
