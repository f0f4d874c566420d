// To evaluate a variant on a head is to compute it, to hold it against exact attention, and to time
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/measures.h"
#include "evaluate/timed_runs.h"

namespace fovea {

/// A head with exact attention, which all that is evaluated on it is compared with.
struct Reference {
  Problem problem;
  std::shared_ptr<const Computation> exact = {};  // null: nothing is compared
};
/// Computes exact attention of the head.
Reference reference_of(Problem problem, const Backend& backend, Run& run);

/// The errors of an approximation. Both computations must be applied.
Metrics compare(const Computation& approximate, const Computation& exact, Run& run);

/// The figures of the approximation's own paper (Variant::diagnostics). Both computations must be
/// applied.
std::vector<Diagnostic> diagnose(const Computation& approximate, const Computation& exact,
                                 const Backend& backend, Run& run);

/// What is found beside the computation.
struct EvaluateOptions {
  bool metrics = false, diagnostics = false;  // which need exact attention
  std::optional<RepeatOptions> times = {};
};

/// A computation, and what was asked for.
struct Evaluated {
  std::shared_ptr<const Computation> computation;
  std::optional<Metrics> metrics = {};
  std::vector<Diagnostic> diagnostics = {};
  TimedRuns rounds = {};  // beside exact attention, if the reference has it
};

/// Computes a request and finds what is asked for. Exact attention is not computed once more.
/// Throws what a planner, a back end and Run::check() throw.
Evaluated evaluate(const Reference& reference, const ComputeRequest& request,
                   const EvaluateOptions& options, const Backend& backend, Run& run);

/// The same for a computation that is finished.
Evaluated evaluate(const Reference& reference, const ComputeRequest& request,
                   std::shared_ptr<const Computation> computed, const EvaluateOptions& options,
                   const Backend& backend, Run& run);

/// What the measures of an evaluation are taken from.
Evaluation numbers_of(const Evaluated& evaluated, const std::optional<MeasuredTime>& time);

/// The planner's notes, and those on the numbers of the computation and of exact attention, which
/// may be null.
std::vector<std::string> notes_of(const Computation& computed, const Computation* exact);

}  // namespace fovea
