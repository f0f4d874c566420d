#include "session/computation.h"

#include <algorithm>
#include <chrono>

namespace fovea {

BoundPlan plan_and_bind(const Problem& problem, const ComputeRequest& request,
                        const Backend& backend, Run& run) {
  BoundPlan bound;
  Run planning_run = run.in(bound.plan);
  Planning planning{backend, planning_run, request.seed, request.given};
  const auto start = std::chrono::steady_clock::now();
  auto plan =
      std::make_shared<const Plan>(request.variant->plan(problem, request.values, planning));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  bound.plan.add("tiles", std::max(0.0, took.count() - bound.plan.total_ms()));
  Run upload_run = run.in(bound.upload);
  bound.op = backend.bind(std::move(plan), problem, upload_run);
  return bound;
}

Output apply_once(const Operator& op, Profile& profile, const Run& run) {
  Run apply_run = run.in(profile);
  return op.apply(op.problem().v, apply_run);
}

Computation prepare(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run) {
  const BoundPlan bound = plan_and_bind(problem, request, backend, run);
  return {.variant = request.variant,
          .values = request.values,
          .op = bound.op,
          .timing = {.plan = summarise({bound.plan}),
                     .upload = summarise({bound.upload}),
                     .plan_total = summarise_total({bound.plan}),
                     .upload_total = summarise_total({bound.upload}),
                     .few_samples = true},
          .cost = count_cost(bound.op->plan(), problem.d(), problem.dv()),
          .backend = backend.id(),
          .device = backend.device(),
          .precision = backend.precision()};
}

Computation compute(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run) {
  Computation result = prepare(problem, request, backend, run);
  apply(result, request.repeats, run);
  return result;
}

void apply(Computation& prepared, int repeats, Run& run) {
  std::vector<Profile> profiles;
  // The first run warms caches and threads up; it counts only when it is the only one.
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    Profile profile;
    const double runs = repeats + 1;
    prepared.output =
        apply_once(*prepared.op, profile, run.part(repeat / runs, (repeat + 1) / runs));
    if (repeat > 0 || repeats == 0) profiles.push_back(std::move(profile));
  }
  prepared.timing.apply = summarise(profiles);
  prepared.timing.apply_total = summarise_total(profiles);
  prepared.timing.few_samples = profiles.size() < enough_samples;
}

std::vector<Diagnostic> diagnose(const Computation& approximate, const Computation& exact,
                                 Run& run) {
  return diagnose(*approximate.variant,
                  {*approximate.op, approximate.output, *exact.op, exact.output}, run);
}

}  // namespace fovea
