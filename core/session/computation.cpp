#include "session/computation.h"

#include <algorithm>
#include <chrono>

namespace fovea {

Computation prepare(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                    Run& run) {
  Computation result{.variant = request.variant,
                     .values = request.values,
                     .backend = backend.id(),
                     .device = backend.device(),
                     .precision = backend.precision()};
  std::vector<Profile> plan(1), upload(1);
  Run planning_run = run.in(plan[0]);
  Planning planning{backend, planning_run, request.seed, request.given};
  std::shared_ptr<const Plan> made;
  {
    const auto whole = std::chrono::steady_clock::now();
    made = std::make_shared<Plan>(request.variant->plan(problem, request.values, planning));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - whole;
    plan[0].add("tiles",
                std::max(0.0, took.count() - plan[0].total_ms()));  // what no stage covered
  }
  Run upload_run = run.in(upload[0]);
  result.op = backend.bind(made, problem, upload_run);

  result.timing = {.plan = summarise(plan),
                   .upload = summarise(upload),
                   .plan_total = summarise_total(plan),
                   .upload_total = summarise_total(upload),
                   .few_samples = true};
  result.cost = count_cost(*made, problem.d(), problem.dv());
  return result;
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
    Run apply_run = run.part(repeat / runs, (repeat + 1) / runs).in(profile);
    prepared.output = prepared.op->apply(prepared.op->problem().v, apply_run);
    if (repeat > 0 || repeats == 0) profiles.push_back(std::move(profile));
  }
  prepared.timing.apply = summarise(profiles);
  prepared.timing.apply_total = summarise_total(profiles);
  prepared.timing.few_samples = profiles.size() < 5;
}

bool fitted_to_all_tokens(const Computation& computation) {
  if (!computation.op->plan().structure.query_order.empty()) return true;
  const Schema& schema = computation.variant->schema;
  for (std::size_t f = 0; f < schema.size(); ++f)
    if (schema[f].id == "tree") return to_text(computation.values[f]) == "median";
  return false;
}

std::string to_text(RankSubject subject) {
  switch (subject) {
    case RankSubject::attention:
      return "attention";
    case RankSubject::unnormalised:
      return "unnormalised";
    case RankSubject::logits:
      return "logits";
    case RankSubject::error:
      return "error";
  }
  return "";
}

}  // namespace fovea
