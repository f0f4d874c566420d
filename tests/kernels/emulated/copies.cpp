// Copies between host and device, as the emulated device counts them.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("causal tree attention copies values and Z once, whatever memory running sums have") {
  const Index n = 3000, dv = 64;
  const Problem problem = make_data(Data::gaussian, n, 8, dv, true);
  const Instance x = make_instance(*backends().front(), problem, "tc", {});
  const auto copies_of = [&](Output& out) {
    const emulation::Copies before = emulation::copies_so_far();
    out = x.apply(problem.v);
    const emulation::Copies after = emulation::copies_so_far();
    CHECK(after.count - before.count == 2);
    CHECK(after.pieces - before.pieces == 2);
    CHECK(after.bytes - before.bytes == std::size_t{2 * n * dv} * sizeof(float));
  };
  Output all, in_runs;
  emulation::reset_peak();
  const std::size_t bound = emulation::memory_in_use();
  copies_of(all);
  const std::size_t needed = emulation::peak_memory() - bound;
  {
    emulation::set_device_memory(bound + needed / 2);
    copies_of(in_runs);
    emulation::set_device_memory(std::size_t{8} << 30);
  }
  CHECK(emulation::memory_in_use() == bound);
  bool same = true;
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < dv; ++c) same &= all.z(i, c) == in_runs.z(i, c);
  CHECK(same);
}
