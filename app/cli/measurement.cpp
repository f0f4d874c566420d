#include "cli/measurement.h"

#include <algorithm>
#include <chrono>

#include "backend/workers.h"
#include "data/random.h"

namespace fovea {
namespace {

/// Raw profiles of one contender.
struct Samples : TimingSamples {
  std::vector<double> used_ms;
  Cost cost;
  std::vector<std::string> notes;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double without_learning(const Profile& plan, const Variant& variant) {
  double sum = 0;
  for (const StageTime& stage : plan.stages())
    if (std::ranges::count(variant.learning_stages, stage.name) == 0) sum += stage.milliseconds;
  return sum;
}

void add_to(Cost& sum, const Cost& cost, double share) {
  sum.multiply_adds += share * cost.multiply_adds;
  sum.bytes += share * cost.bytes;
  sum.exact_multiply_adds += share * cost.exact_multiply_adds;
  sum.pairs += share * cost.pairs;
}

ComputeRequest request_of(const Contender& contender, const MeasureOptions& options) {
  return {.variant = contender.variant, .values = contender.values, .seed = options.seed};
}

void run_once(const Problem& problem, const Contender& contender, const Backend& backend,
              const MeasureOptions& options, std::stop_token stop, bool counted, double share,
              Samples& samples) {
  Profile apply;
  Run run{apply, stop};
  BoundPlan bound = plan_and_bind(problem, request_of(contender, options), backend, run);
  apply_once(*bound.op, apply, run);
  const Plan& plan = bound.op->plan();
  if (!counted) {
    add_to(samples.cost, count_cost(plan, problem.d(), problem.dv()), share);
    samples.notes = plan.notes;
    return;
  }
  samples.used_ms.push_back(without_learning(bound.plan, *contender.variant) +
                            bound.upload.total_ms() + apply.total_ms());
  samples.plan.push_back(std::move(bound.plan));
  samples.upload.push_back(std::move(bound.upload));
  samples.apply.push_back(std::move(apply));
}

/// Reports what a planner refuses before anything is measured.
void require_plannable(const Problem& problem, const std::vector<Contender>& contenders,
                       const Backend& backend, const MeasureOptions& options,
                       std::stop_token stop) {
  Profile profile;
  Run run{profile, stop};
  const Structure derive_all;
  Planning planning{backend, run, options.seed, derive_all};
  for (const Contender& contender : contenders)
    contender.variant->plan(problem, contender.values, planning);
}

Measurement summary_of(const Contender& contender, const Samples& samples) {
  return {.contender = contender,
          .timing = summarise(samples),
          .cost = samples.cost,
          .notes = samples.notes,
          .used_ms = median(samples.used_ms)};
}

}  // namespace

std::vector<Measurement> measure(const std::vector<Problem>& heads,
                                 const std::vector<Contender>& contenders, const Backend& backend,
                                 const MeasureOptions& options, std::stop_token stop) {
  require_plannable(heads.front(), contenders, backend, options, stop);
  std::vector<Samples> samples(contenders.size());
  for (int round = 0; round <= options.rounds; ++round) {
    if (options.on_round) options.on_round(round);
    for (const Problem& problem : heads)
      for (std::size_t c = 0; c < contenders.size(); ++c)
        run_once(problem, contenders[c], backend, options, stop, round > 0,
                 1.0 / static_cast<double>(heads.size()), samples[c]);
  }
  std::vector<Measurement> out;
  for (std::size_t c = 0; c < contenders.size(); ++c)
    out.push_back(summary_of(contenders[c], samples[c]));
  for (Measurement& measurement : out) {
    measurement.speed_up = out.front().used_ms / measurement.used_ms;
    measurement.promised_speed_up = out.front().cost.multiply_adds / measurement.cost.multiply_adds;
  }
  return out;
}

std::vector<Problem> random_heads(Index n, Index d, Index heads, bool causal, std::uint64_t seed,
                                  double scale) {
  std::vector<Problem> problems;
  for (Index head = 0; head < heads; ++head) {
    Random random(seed, stream_of(0xbe7c4, head));
    const auto gaussian = [&] {
      Matrix out(n, d);
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c) out(i, c) = static_cast<float>(random.normal());
      return out;
    };
    Matrix q = gaussian(), k = gaussian(), v = gaussian();
    problems.push_back(make_problem(std::move(q), std::move(k), std::move(v), scale, causal, head));
  }
  return problems;
}

double memory_pass_ms(Index n, Index d, int threads, int rounds) {
  const Index size = n * d, turn_size = 1 << 16;
  std::vector<float> q(static_cast<std::size_t>(size), 1.0f), k = q, v = q, z = q;
  Workers workers(threads);
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    workers.loop((size + turn_size - 1) / turn_size, {}, [&](Index turn, int) {
      const Index begin = turn * turn_size, end = std::min(size, begin + turn_size);
      const float *a = q.data(), *b = k.data(), *c = v.data();
      for (Index i = begin; i < end; ++i) z[static_cast<std::size_t>(i)] = a[i] + b[i] + c[i];
    });
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (round > 0) times.push_back(took.count());
  }
  return median(times);
}

}  // namespace fovea
