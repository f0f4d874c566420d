// Where products of warpgroups are not used, and what becomes of those whose copies never arrive:
// on the emulated device, which can be told its compute capability and loses copies.
#include <algorithm>

#include "async.h"  // of the emulation
#include "backend/backends.h"
#include "backend/stage_names.h"
#include "kernels/hopper.h"
#include "kernels/maps_16.h"
#include "session/self_test.h"

using namespace fovea;
using namespace fovea::test;

namespace {

bool says_timed_out(const Profile& profile) {
  return std::ranges::count(profile.stages(), wgmma_timed_out, &StageTime::name) > 0;
}

}  // namespace

TEST_CASE("warpgroups: where a copy never arrives Z is computed by warps, then and later") {
  const Hopper hopper;
  const Problem problem = make_data(Data::gaussian, 400, 64, 64, false);
  const Output right = make_instance(*on_gpu("bf16", false), problem, "exact", {}).apply(problem.v);
  for (const int lost : {0, 3}) {
    const auto backend = on_gpu("bf16");
    const Instance exact = make_instance(*backend, problem, "exact", {});
    emulation::lose_box(lost);
    for (const bool timed_out : {true, false}) {
      Profile profile;
      const long before = emulation::products_so_far();
      const Output found = exact.apply(problem.v, &profile);
      if (!timed_out) CHECK(emulation::products_so_far() == before);
      REQUIRE(!kernels_of(profile).empty());
      CHECK(kernels_of(profile).back() == "mma");
      CHECK(says_timed_out(profile) == timed_out);
      // The shape of the query tiles is that of the other kernel.
      double worst = 0;
      for (Index i = 0; i < 400; ++i)
        for (Index c = 0; c < 64; ++c)
          worst = larger_error(worst, std::abs(double{found.z(i, c)} - double{right.z(i, c)}));
      CHECK(worst <= 0x1p-8 * 5);  // a rounding of weights and values below 5
    }
  }
}

TEST_CASE("warpgroups: the self-test does not pass where a copy never arrives") {
  const Hopper hopper;
  const auto tested = on_gpu("bf16");
  const auto cpu = make_cpu_backend();
  Profile profile;
  Run run{profile};
  emulation::lose_box(0);
  // More keys than a KV tile has: only whole ones come as boxes.
  CHECK(self_test(*tested, *cpu, run, {.tokens = 200, .many_queries = 0}) ==
        "Exact, n = 200, d = 64: products of warpgroups timed out, and products of warps "
        "replaced them.");
}

TEST_CASE("warpgroup maps: where a copy never arrives they are computed by warps, then and later") {
  const Hopper hopper;
  const Problem problem = make_data(Data::gaussian, 300, 64, 64, false);
  const RowsOutput right =
      make_instance(*on_gpu("bf16", false), problem, "exact", {}).apply_rows({0, 300}, 100);
  // Loses the first and the last block of the only launch, when others have added to the maps.
  for (const int lost : {0, 8}) {
    const auto backend = on_gpu("bf16");
    const Instance x = make_instance(*backend, problem, "exact", {});
    emulation::lose_box(lost);
    for (const bool timed_out : {true, false}) {
      Profile profile;
      const RowsOutput found = x.apply_rows({0, 300}, 100, &profile);
      CHECK(says_timed_out(profile) == timed_out);
      const std::vector<std::string> kernels = kernels_of(profile);
      REQUIRE(!kernels.empty());
      CHECK(kernels.back() == "mma");
      CHECK(apart(found.most, right.most) <= 2 * map_unit(problem));
      CHECK(apart(found.mean, right.mean) <= 2 * map_unit(problem));
    }
  }
}
