// What the operator of a plan is said to need of the device's memory is enough for it, and at most
// a few times what it takes.
#include "device/device_need.h"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "harness.h"
#include "kernels/other_backends.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the device memory that a plan is said to need is enough, and below 2.5 times its peak") {
  double most = 0;
  for (const std::string precision : {"fp32", "fp32-split", "bf16"}) {
    const auto backend = on_gpu(precision);
    for (std::size_t i = 0; i < cases().size(); ++i)
      for (const bool causal : masks_of(cases()[i])) {
        const Case& c = cases()[i];
        if (!tried(i, precision == "bf16" ? 1 : 0, causal)) continue;
        const Problem problem = precision == "fp32"
                                    ? make_data(Data::gaussian, 300, 24, 40, causal, c.head)
                                    : make_data(Data::gaussian, 300, 64, 64, causal, c.head);
        const auto plan = make_plan(*backend, problem, c.id, c.settings);
        if (precision != "fp32" && !std::holds_alternative<TilePlan>(plan->form)) continue;
        const double need =
            cuda::device_need(*plan, problem, cuda::parse_precision(precision)).total();
        if (need == 0) continue;
        const std::string where = precision + ", " + describe(c) + (causal ? ", causal" : "");
        CAPTURE(where);
        Profile profile;
        Run run{profile};
        const std::size_t before = emulation::memory_in_use();
        emulation::reset_peak();
        emulation::set_device_memory(before + static_cast<std::size_t>(need));
        CHECK_NOTHROW(backend->bind(plan, problem, run)->apply(problem.v, run));
        emulation::set_device_memory(std::size_t{8} << 30);
        const auto peak = static_cast<double>(emulation::peak_memory() - before);
        CAPTURE(need);
        CAPTURE(peak);
        CHECK(need <= 2.5 * peak);
        most = std::max(most, need / peak);
      }
  }
  MESSAGE("need over peak: up to ", most);
}

TEST_CASE("the device memory that a plan needs has the bits of a mask of pairs") {
  const auto backend = on_gpu("fp32");
  Problem problem = make_data(Data::gaussian, 512, 8, 8, false);
  const auto need = [&] {
    const auto plan = make_plan(*backend, problem, "exact", {});
    return cuda::device_need(*plan, problem, cuda::parse_precision("fp32")).total();
  };
  const double without = need();
  BitMatrix pairs(512, 512);
  for (Index i = 0; i < 512; ++i)
    for (Index j = 0; j <= i; ++j) pairs.set(i, j);
  problem.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                                  std::vector<std::int32_t>(), std::move(pairs));
  CHECK(need() >= without + 512 * 512 / 8);
}
