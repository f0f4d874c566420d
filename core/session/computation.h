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

/// A variant planned for a head and bound to a back end, and how long the stages of both took.
/// Planning that no stage of the planner covers is the stage "tiles".
struct BoundPlan {
  std::shared_ptr<const Operator> op;
  Profile plan, upload;
};
BoundPlan plan_and_bind(const Problem& problem, const ComputeRequest& request,
                        const Backend& backend, Run& run);

/// Z of the operator's own V; adds the stages of applying to `profile`.
Output apply_once(const Operator& op, Profile& profile, const Run& run);

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
