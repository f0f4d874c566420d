#include "cli/measurement.h"

#include <algorithm>
#include <chrono>

#include "backend/workers.h"
#include "data/draw_purpose.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/random.h"

namespace fovea {
namespace {

struct Samples {
  std::vector<TimedRun> runs;
  Cost cost;
  std::vector<std::string> notes;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
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

/// Runs the warm-up, which also finds the cost.
void warm_up(const Problem& problem, const ComputeRequest& request, const Backend& backend,
             const Run& run, double share, Samples& samples) {
  TimedRun timed;
  const auto op = plan_and_bind(problem, request, backend, run, timed);
  Run apply_run = run.in(timed.apply);
  op->apply(problem.v, apply_run);
  add_to(samples.cost, count_cost(op->plan(), problem.d(), problem.dv()), share);
  samples.notes = op->plan().notes;
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

Measurement measurement_of(const Contender& contender, const Samples& samples,
                           const Samples& exact) {
  std::vector<double> speed_ups;
  for (std::size_t i = 0; i < samples.runs.size(); ++i)
    speed_ups.push_back(exact.runs[i].total_ms() / samples.runs[i].total_ms());
  Measurement out{.contender = contender,
                  .timing = summarise(samples.runs),
                  .cost = samples.cost,
                  .notes = samples.notes,
                  .speed_up = speed_up_of(std::move(speed_ups)),
                  .promised_speed_up = exact.cost.multiply_adds / samples.cost.multiply_adds};
  if (contender.variant->reference) return out;
  if (auto note = unsteady_note(summarise(exact.runs).total, out.timing.total); !note.empty())
    out.notes.push_back(std::move(note));
  return out;
}

}  // namespace

std::vector<Measurement> measure(const std::vector<Problem>& heads,
                                 const std::vector<Contender>& contenders, const Backend& backend,
                                 const MeasureOptions& options, std::stop_token stop) {
  require_plannable(heads.front(), contenders, backend, options, stop);
  std::vector<Samples> samples(contenders.size());
  Profile ignored;
  const Run run{ignored, stop};
  const double share = 1.0 / static_cast<double>(heads.size());
  for (int round = 0; round <= options.rounds; ++round) {
    if (options.on_round) options.on_round(round);
    for (const Problem& problem : heads)
      for (std::size_t c = 0; c < contenders.size(); ++c) {
        const ComputeRequest request = request_of(contenders[c], options);
        if (round == 0)
          warm_up(problem, request, backend, run, share, samples[c]);
        else
          samples[c].runs.push_back(time_run(problem, request, backend, run));
      }
  }
  std::vector<Measurement> out;
  for (std::size_t c = 0; c < contenders.size(); ++c)
    out.push_back(measurement_of(contenders[c], samples[c], samples.front()));
  return out;
}

std::vector<Problem> random_heads(Index n, Index d, Index heads, bool causal, std::uint64_t seed,
                                  double scale) {
  require_memory(3.0 * sizeof(float) * static_cast<double>(heads) * static_cast<double>(n) *
                     static_cast<double>(d),
                 "Q, K and V of " + plural(heads, "head") + " of " + plural(n, "token"),
                 fewer_tokens);
  std::vector<Problem> problems;
  for (Index head = 0; head < heads; ++head) {
    Random random(seed, stream_of(DrawPurpose::bench_head, head));
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
