// What the operator of a plan is said to need of the device's memory is enough for it, and at most
// a few times what it takes.
#include "device/device_need.h"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "harness.h"
#include "kernels/other_backends.h"
#include "laws/operator_cases.h"
#include "nodes/node_operator.h"
#include "tiles/tile_operator.h"

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

TEST_CASE("the device memory that a plan needs holds for values in two slices") {
  for (const std::string name : {"fp32", "fp32-split", "bf16"}) {
    const auto backend = on_gpu(name);
    const Problem problem = make_data(Data::gaussian, 300, 24, 300, true);
    for (const char* id : {"exact", "h1d", "tc", "performer"}) {
      const std::string where = name + ", " + id;
      CAPTURE(where);
      const auto plan = make_plan(*backend, problem, id, {});
      Profile profile;
      Run run{profile};
      const double need = cuda::device_need(*plan, problem, cuda::parse_precision(name)).total();
      emulation::set_device_memory(emulation::memory_in_use() + static_cast<std::size_t>(need));
      CHECK_NOTHROW(backend->bind(plan, problem, run)->apply(problem.v, run));
      emulation::set_device_memory(std::size_t{8} << 30);
    }
  }
}

TEST_CASE("what other columns have of a head on the device is not needed again") {
  for (const std::string name : {"fp32", "fp32-split", "bf16"}) {
    const cuda::Precision precision = cuda::parse_precision(name);
    const auto backend = on_gpu(name);
    for (const char* id : {"exact", "h1d", "window", "tc"}) {
      const std::string where = name + ", " + id;
      CAPTURE(where);
      const auto device = std::make_shared<const cuda::Device>();
      const auto tensors = std::make_shared<cuda::SharedTensors>(device);
      const Problem problem = make_data(Data::gaussian, 300, 64, 64, true);
      const auto plan = make_plan(*backend, problem, id, {});
      Profile profile;
      Run run{profile};
      const auto column = [&] {
        auto op = plan->as<NodePlan>()
                      ? cuda::make_node_operator(plan, problem, tensors, run)
                      : cuda::make_tile_operator(plan, problem, precision, tensors, run);
        op->apply(problem.v, run);
        return op;
      };
      const auto need = [&] {
        return cuda::device_need(*plan, problem, precision, tensors.get()).total();
      };
      const double alone = need();
      CHECK(alone == cuda::device_need(*plan, problem, precision).total());
      const auto first = column();
      // q, k and v, or the values that tc sums, at least in one form.
      const double tensor = 300 * 64 * sizeof(float);
      CHECK(alone - need() >= (plan->as<NodePlan>() ? 1 : 3) * tensor);
      device->wait();
      const std::size_t before = emulation::memory_in_use();
      emulation::set_device_memory(before + static_cast<std::size_t>(need()));
      CHECK_NOTHROW(column());
      emulation::set_device_memory(std::size_t{8} << 30);
      device->wait();
      CHECK(emulation::memory_in_use() == before);
    }
  }
}
