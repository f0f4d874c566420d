#include "evaluate/evaluate.h"

#include <utility>

#include "evaluate/not_finite.h"

namespace fovea {

Reference reference_of(Problem problem, const Backend& backend, Run& run) {
  auto exact = std::make_shared<const Computation>(compute_exact(problem, backend, run));
  return {std::move(problem), std::move(exact)};
}

Metrics compare(const Computation& approximate, const Computation& exact, Run& run) {
  return compare(*approximate.op, approximate.output, *exact.op, exact.output, run);
}

std::vector<Diagnostic> diagnose(const Computation& approximate, const Computation& exact,
                                 const Backend& backend, Run& run) {
  return diagnose(*approximate.variant,
                  {*approximate.op, approximate.output, *exact.op, exact.output, backend}, run);
}

Evaluated evaluate(const Reference& reference, const ComputeRequest& request,
                   const EvaluateOptions& options, const Backend& backend, Run& run) {
  auto computed =
      request.variant->reference && reference.exact
          ? reference.exact
          : std::make_shared<const Computation>(compute(reference.problem, request, backend, run));
  return evaluate(reference, request, std::move(computed), options, backend, run);
}

Evaluated evaluate(const Reference& reference, const ComputeRequest& request,
                   std::shared_ptr<const Computation> computed, const EvaluateOptions& options,
                   const Backend& backend, Run& run) {
  Evaluated found{.computation = std::move(computed)};
  const Computation& its = *found.computation;
  if (options.metrics) found.metrics = compare(its, *reference.exact, run);
  if (options.diagnostics) found.diagnostics = diagnose(its, *reference.exact, backend, run);
  if (options.times)
    found.rounds = measure_again(reference.problem, {{request, &its}}, reference.exact.get(),
                                 *options.times, backend, run)
                       .front();
  return found;
}

Evaluation numbers_of(const Evaluated& evaluated, const std::optional<MeasuredTime>& time) {
  return {.cost = &evaluated.computation->cost,
          .metrics = evaluated.metrics ? &*evaluated.metrics : nullptr,
          .time = time ? &*time : nullptr};
}

std::vector<std::string> notes_of(const Computation& computed, const Computation* exact) {
  std::vector<std::string> notes = computed.op->plan().notes;
  const auto add = [&](const Computation& its) {
    if (std::string note = note_of_numbers(its); !note.empty()) notes.push_back(std::move(note));
  };
  add(computed);
  if (exact && !computed.variant->reference) add(*exact);
  return notes;
}

}  // namespace fovea
