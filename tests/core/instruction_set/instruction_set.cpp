// instruction_set NAME: computes with it; ends with 77 where this machine lacks it, so that CTest
// shows as skipped what the tests of the CPU back end leave out.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "backend/backends.h"
#include "data/error.h"
#include "variants/variant.h"

using namespace fovea;

int main(int count, char** words) try {
  if (count != 2) throw UsageError("one name expected: sse2, avx2 or avx512");
  const auto backend = make_cpu_backend({.threads = 1, .isa = words[1]});
  // Equal keys: every row of P is 1/n, and Z is the mean of V.
  constexpr Index n = 33;
  Matrix q(n, 3, 1.0f), k(n, 3, 1.0f), v(n, 1);
  for (Index i = 0; i < n; ++i) v(i, 0) = static_cast<float>(i);
  const Problem problem = make_problem(std::move(q), std::move(k), std::move(v), 1, false);
  Profile profile;
  Run run{profile};
  const Variant& exact = find_variant("exact");
  Planning planning{*backend, run, 0, {}};
  const auto plan =
      std::make_shared<const Plan>(exact.plan(problem, defaults(exact.schema), planning));
  const Output output = backend->bind(plan, problem, run)->apply(problem.v, run);
  // The mean of 0 to 32 through 33 roundings of sums up to 528.
  for (Index i = 0; i < n; ++i)
    if (!(std::abs(output.z(i, 0) - 16) < 1e-4f)) throw std::runtime_error("the mean is not 16");
  std::printf("%s\n", backend->device().c_str());
  return 0;
} catch (const UnavailableError& error) {
  std::printf("skipped: %s\n", error.what());
  return 77;
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
