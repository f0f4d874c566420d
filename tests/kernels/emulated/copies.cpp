// Copies between host and device, as the emulated device counts them.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("causal tree attention copies values and Z once, whatever memory running sums have") {
  constexpr Index n = 3000, dv = 64;
  constexpr std::size_t tensor = n * dv * sizeof(float);
  const Problem problem = make_data(Data::gaussian, n, 8, dv, true);
  const Instance x = make_instance(*backends().front(), problem, "tc", {});
  const auto apply = [&](Output& out, long copies) {
    const emulation::Copies before = emulation::copies_so_far();
    out = x.apply(problem.v);
    const emulation::Copies after = emulation::copies_so_far();
    CHECK(after.count - before.count == copies);
    CHECK(after.pieces - before.pieces == copies);
    CHECK(after.bytes - before.bytes == static_cast<std::size_t>(copies) * tensor);
  };
  Output all, in_runs;
  emulation::reset_peak();
  const std::size_t bound = emulation::memory_in_use();
  apply(all, 2);
  const std::size_t with_values = emulation::memory_in_use();
  CHECK(with_values == bound + tensor);  // they stay
  const std::size_t needed = emulation::peak_memory() - with_values;
  {
    emulation::set_device_memory(with_values + needed / 2);
    apply(in_runs, 1);
    emulation::set_device_memory(std::size_t{8} << 30);
  }
  CHECK(emulation::memory_in_use() == with_values);
  bool same = true;
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < dv; ++c) same &= all.z(i, c) == in_runs.z(i, c);
  CHECK(same);
}
