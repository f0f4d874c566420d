// Products of warpgroups in a few shapes, which run under the sanitizers too, and with the
// roundings of a device.
#include "kernels/checks_16.h"
#include "kernels/hopper.h"
#include "kernels/maps_16.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("few warpgroups: ordered and gathered keys have at most twice the error of the formula") {
  const Hopper hopper;
  const Format bf16{"bf16", to_bf16, from_bf16, on_gpu("bf16")};
  Profile ordered, gathered;
  check_error(
      make_instance(*bf16.backend, make_data(Data::gaussian, 300, 64, 64, true), "exact", {}), bf16,
      &ordered);
  CHECK(by_warpgroups(ordered));
  // Wide heads, whose products overlap.
  check_error(
      make_instance(*bf16.backend, make_data(Data::gaussian, 300, 100, 100, true), "exact", {}),
      bf16, &ordered);
  CHECK(by_warpgroups(ordered));
  // Keys sorted by their leaf, whose rows are gathered.
  check_error(make_instance(*bf16.backend, make_data(Data::gaussian, 150, 20, 9, false), "tf",
                            {{"height", "1"}}),
              bf16, &gathered);
  CHECK(by_warpgroups(gathered));
}

TEST_CASE("few warpgroups: maps are of the logits of Z") {
  const Hopper hopper;
  const Problem problem = make_data(Data::gaussian, 200, 20, 9, true);
  const auto backend = on_gpu("bf16");
  const Instance x = make_instance(*backend, problem, "exact", {});
  Profile profile;
  const RowsOutput found = x.apply_rows({0, 200}, 50, &profile);
  CHECK(by_warpgroups(profile));
  check_maps(found, "bf16", problem, {0, 200}, 50);
}
