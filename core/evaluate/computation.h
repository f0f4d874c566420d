// A Computation is one variant of one head: planned, bound to a back end and applied.
#pragma once

#include <memory>

#include "analysis/cost.h"
#include "analysis/timing.h"
#include "backend/backend.h"
#include "variants/variant.h"

namespace fovea {

/// The rows of an output that are not finite; of P if the head has no values. A row without keys is
/// finite.
struct NotFinite {
  Index rows = 0;
  std::string cause;  // "the input holds them, or numbers beyond 1e14, in q"
};

struct Computation {
  const Variant* variant = nullptr;
  Values values;
  std::shared_ptr<const Operator> op;
  Output output;
  NotFinite not_finite;  // in `output`
  TimedRun first_run;    // cold
  Cost cost;
  std::string backend, device, precision;

  bool applied() const { return output.z.rows() > 0; }
  void set_output(Output all_rows);
};

struct ComputeRequest {
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  Structure given = {};
  std::vector<std::string> notes = {};  // that the plan tells besides its own
};

/// Plans a variant for a head and binds it to a back end; adds the stages of both to `timed`.
/// Planning that no stage of the planner covers is the stage "tiles".
std::shared_ptr<const Operator> plan_and_bind(const Problem& problem, const ComputeRequest& request,
                                              const Backend& backend, const Run& run,
                                              TimedRun& timed);

/// The same head as nobody else has it: its run on a device shares nothing with others, so that its
/// time is from q, k and v on the host.
Problem apart(Problem problem);

/// Times one more run from Q, K and V to Z, or without values from Q and K to the row sums.
TimedRun time_run(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                  const Run& run);

Computation compute(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run);

/// Computes exact attention.
Computation compute_exact(const Problem& problem, const Backend& backend, Run& run);

/// Plans and binds without applying: `output` and the stages of apply are empty.
Computation prepare(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run);

/// Applies a prepared computation.
void apply(Computation& prepared, const Run& run);

}  // namespace fovea
