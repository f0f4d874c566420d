// Products of warpgroups in a few shapes, which run under the sanitizers too, and with the
// roundings of a device.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "kernels/checks_16.h"
#include "products.h"  // of the emulation

using namespace fovea;
using namespace fovea::test;

namespace {

struct OneHopper {
  OneHopper() {
    emulation::set_compute_capability(9, 0);
    emulation::set_multiprocessors(1);
  }
  OneHopper(const OneHopper&) = delete;
  OneHopper& operator=(const OneHopper&) = delete;
  ~OneHopper() {
    emulation::set_compute_capability(8, 0);
    emulation::set_multiprocessors(2);
  }
};

}  // namespace

TEST_CASE("few warpgroups: ordered and gathered keys have at most twice the error of the formula") {
  const OneHopper hopper;
  std::string why_not;
  const Format bf16{"bf16", to_bf16, from_bf16, make_cuda_backend({.precision = "bf16"}, &why_not)};
  REQUIRE_MESSAGE(bf16.backend, why_not);
  const long before = emulation::products_so_far();
  check_error(
      make_instance(*bf16.backend, make_data(Data::gaussian, 300, 64, 64, true), "exact", {}),
      bf16);
  // Keys sorted by their leaf, whose rows are gathered.
  check_error(make_instance(*bf16.backend, make_data(Data::gaussian, 150, 20, 9, false), "tf",
                            {{"height", "1"}}),
              bf16);
  CHECK(emulation::products_so_far() > before);
}
