// A Computation is one variant of one head: planned, bound to a back end and applied.
#pragma once

#include <memory>

#include "analysis/cost.h"
#include "analysis/timing.h"
#include "backend/backend.h"
#include "variants/variant.h"

namespace fovea {

struct Computation {
  const Variant* variant = nullptr;
  Values values;
  std::shared_ptr<const Operator> op;
  Output output;
  Timing timing;
  Cost cost;
  std::string backend, device, precision;

  bool applied() const { return !output.z.empty(); }
};

struct ComputeRequest {
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  Structure given = {};
  int repeats = 1;  // timed runs of apply after one warm-up; 0: the first run is all there is
};

Computation compute(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run);

/// Planned and bound, not applied: `output` and the timing of apply are empty.
Computation prepare(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run);

/// Applies one that was prepared; `repeats` as in the request.
void apply(Computation& prepared, int repeats, Run& run);

/// The figures of the approximation's own paper (Variant::diagnostics); both are applied.
std::vector<Diagnostic> diagnose(const Computation& approximate, const Computation& exact,
                                 Run& run);

}  // namespace fovea
