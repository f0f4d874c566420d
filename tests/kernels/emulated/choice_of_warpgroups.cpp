// Which compute capabilities of the emulated device use products of warpgroups.
#include <cstdlib>

#include "backend/backends.h"
#include "data/error.h"
#include "kernels/hopper.h"
#include "laws/cases.h"
#include "tiles/attend_wgmma.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("warpgroups: only where the device has them, they are wanted and the head fits") {
  const auto used = [](const Backend& backend, const Problem& problem) {
    const cuda::HeadStart ahead(0.01);  // with one, profiles name kernels
    Profile profile;
    make_instance(backend, problem, "exact", {}).apply(problem.v, &profile);
    REQUIRE(!kernels_of(profile).empty());
    return by_warpgroups(profile);
  };
  const Problem problem = make_data(Data::gaussian, 150, 64, 64, false);
  Problem capped = make_data(Data::gaussian, 150, 64, 64, false);
  LogitRule rule;
  rule.soft_cap = 20;
  capped.rule = std::make_shared<const LogitRule>(rule);
  std::string why_not;
  {
    const Hopper hopper;
    CHECK(find_cuda_device(&why_not)->wgmma);
    CHECK(used(*on_gpu("bf16"), problem));
    CHECK_FALSE(used(*on_gpu("bf16"), capped));
    CHECK_FALSE(used(*on_gpu("fp32"), problem));
    CHECK_FALSE(used(*on_gpu("bf16", false), problem));
    CHECK_FALSE(used(*on_gpu("bf16"), make_data(Data::gaussian, 150, 129, 64, false)));
    CHECK_FALSE(used(*on_gpu("bf16"), make_data(Data::gaussian, 150, 64, 129, false)));
    setenv("FOVEA_WGMMA", "0", 1);
    CHECK_FALSE(find_cuda_device(&why_not)->wgmma);
    CHECK_FALSE(used(*on_gpu("bf16"), problem));
    unsetenv("FOVEA_WGMMA");
    emulation::set_compute_capability(10, 0);
    CHECK_FALSE(find_cuda_device(&why_not)->wgmma);
    CHECK_FALSE(used(*on_gpu("bf16"), problem));
  }
  CHECK_FALSE(find_cuda_device(&why_not)->wgmma);
  CHECK_FALSE(used(*on_gpu("bf16"), problem));
  using namespace fovea::cuda;
  CHECK_THROWS_WITH_AS(
      attend_wgmma<Precision::bf16>({.states = {.dv = 64}, .d = 64}, {}, 16, nullptr, nullptr),
      doctest::Contains("there is no kernel"), UnavailableError);
}
