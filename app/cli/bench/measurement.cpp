#include "cli/bench/measurement.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "backend/workers.h"
#include "data/draw_purpose.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/random.h"

namespace fovea {
namespace {

void add_to(Cost& sum, const Cost& cost, double share) {
  sum.multiply_adds += share * cost.multiply_adds;
  sum.bytes += share * cost.bytes;
  sum.exact_multiply_adds += share * cost.exact_multiply_adds;
  sum.pairs += share * cost.pairs;
}

/// Finds costs and notes, and reports what a planner refuses before anything is measured.
void find_cost(const std::vector<Problem>& heads, const ComputeRequest& request,
               const Backend& backend, Run& run, Measurement& out) {
  for (const Problem& problem : heads) {
    const Computation prepared = prepare(problem, request, backend, run);
    add_to(out.cost, prepared.cost, 1.0 / static_cast<double>(heads.size()));
    out.notes = prepared.op->plan().notes;
  }
}

/// `exact`: the first contender, whose cost and time are known.
void put_times(const TimedRuns& rounds, const Measurement& exact, Measurement& out) {
  const MeasuredTime its = *summarise(rounds, std::numeric_limits<double>::infinity());
  out.timing = its.timing;
  const std::vector<double> of_exact(rounds.rounds.size(), 1);
  out.speed_up = its.total_speed_up.value_or(speed_up_of(of_exact));
  out.promised_speed_up = exact.cost.multiply_adds / out.cost.multiply_adds;
  if (out.contender.variant->reference) return;
  if (auto note = unsteady_note(exact.timing.total, out.timing.total); !note.empty())
    out.notes.push_back(std::move(note));
}

}  // namespace

std::vector<Measurement> measure(const std::vector<Problem>& heads,
                                 const std::vector<Contender>& contenders, const Backend& backend,
                                 const MeasureOptions& options, std::stop_token stop) {
  Profile ignored;
  Run run{ignored, std::move(stop)};
  std::vector<Measurement> measured;
  std::vector<ComputeRequest> requests;
  for (const Contender& contender : contenders) {
    requests.push_back(
        {.variant = contender.variant, .values = contender.values, .seed = options.seed});
    measured.push_back({.contender = contender});
    find_cost(heads, requests.back(), backend, run, measured.back());
  }
  std::vector<TimedRuns> all(contenders.size());
  for (const Problem& problem : heads) {
    const auto rounds = measure_in_sittings(
        problem, requests,
        {.time = unlimited_time, .most_rounds = static_cast<std::size_t>(options.rounds)}, backend,
        run);
    for (std::size_t c = 0; c < contenders.size(); ++c) all[c].append(rounds[c]);
  }
  for (std::size_t c = 0; c < contenders.size(); ++c)
    put_times(all[c], measured.front(), measured[c]);
  return measured;
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
  std::vector<float> q(size, 1.0f), k = q, v = q, z = q;
  Workers workers(threads);
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    workers.loop((size + turn_size - 1) / turn_size, {}, [&](Index turn, int) {
      const Index begin = turn * turn_size, end = std::min(size, begin + turn_size);
      const float *a = q.data(), *b = k.data(), *c = v.data();
      for (Index i = begin; i < end; ++i) z[i] = a[i] + b[i] + c[i];
    });
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (round > 0) times.push_back(took.count());
  }
  return summary_of("memory pass", std::move(times)).median_ms;
}

}  // namespace fovea
