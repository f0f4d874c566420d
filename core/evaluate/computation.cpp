#include "evaluate/computation.h"

#include <algorithm>
#include <chrono>

#include "evaluate/not_finite.h"

namespace fovea {

void Computation::set_output(Output all_rows) {
  not_finite = find_not_finite(*this, all_rows);
  output = std::move(all_rows);
}

std::shared_ptr<const Operator> plan_and_bind(const Problem& problem, const ComputeRequest& request,
                                              const Backend& backend, const Run& run,
                                              TimedRun& timed) {
  const std::shared_ptr<const void> held = backend.hold(problem);
  Profile planned;
  Run planning_run = run.in(planned);
  Planning planning{backend, planning_run, request.seed, request.given};
  const auto start = std::chrono::steady_clock::now();
  auto plan = std::make_shared<Plan>(request.variant->plan(problem, request.values, planning));
  plan->notes.insert(plan->notes.begin(), request.notes.begin(), request.notes.end());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  planned.add("tiles", std::max(0.0, took.count() - planned.total_ms()));
  for (const StageTime& stage : planned.stages()) {
    const bool learnt = std::ranges::count(request.variant->learning_stages, stage.name) > 0;
    (learnt ? timed.learning : timed.plan).add(stage.name, stage.milliseconds);
  }
  if (const Backend& runs = backend.backend_of(*plan); &runs != &backend)
    plan->notes.push_back("computed on " + runs.device() + ": the GPU has no kernels for it");
  Run upload_run = run.in(timed.upload);
  return backend.bind(std::move(plan), problem, upload_run);
}

Problem apart(Problem problem) {
  if (problem.owner)
    problem.owner = std::make_shared<std::shared_ptr<const void>>(std::move(problem.owner));
  return problem;
}

TimedRun time_run(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                  const Run& run) {
  TimedRun timed;
  const auto op = plan_and_bind(apart(problem), request, backend, run, timed);
  Run apply_run = run.in(timed.apply);
  op->apply(apply_run);
  return timed;
}

Computation prepare(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run) {
  Computation prepared{.variant = request.variant, .values = request.values};
  prepared.op = plan_and_bind(problem, request, backend, run, prepared.first_run);
  const Backend& runs = backend.backend_of(prepared.op->plan());
  prepared.backend = runs.id();
  prepared.device = runs.device();
  prepared.precision = runs.precision();
  prepared.cost = count_cost(prepared.op->plan(), problem.d(), problem.dv(), run.stop);
  if (problem.recurrence) {
    Cost& cost = prepared.cost;
    cost.exact_multiply_adds =
        multiply_adds_of(*problem.recurrence, problem.n(), problem.d(), problem.dv());
    if (is_read(prepared.op->plan())) cost.multiply_adds = cost.exact_multiply_adds;
  }
  return prepared;
}

Computation compute(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run) {
  Computation result = prepare(problem, request, backend, run);
  apply(result, run);
  return result;
}

Computation compute_exact(const Problem& problem, const Backend& backend, Run& run) {
  return compute(problem, {.variant = &reference_variant()}, backend, run);
}

void apply(Computation& prepared, const Run& run) {
  prepared.first_run.apply = {};
  Run apply_run = run.in(prepared.first_run.apply);
  prepared.set_output(prepared.op->apply(apply_run));
}

}  // namespace fovea
