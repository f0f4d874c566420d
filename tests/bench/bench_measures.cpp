// Prints the speed goals and what this machine reaches:  bench_measures [ROUNDS]
// Not a test: it would fail on a busy machine, through no fault of the program.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "backend/backends.h"
#include "cli/bench/gemm_baseline.h"
#include "cli/bench/measurement.h"
#include "report/text_table.h"
#include "session/session.h"

using namespace fovea;

namespace {

int threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

const char* verdict(bool reached) {
  return reached ? "reached" : "MISSED";
}

/// Exact attention, n = 4096, d = 64: at least 80 % of the rate of a plain matrix product, measured
/// alternately.
void measure_exact(const Backend& backend, int rounds, TextTable& goals) {
  const auto heads = random_heads(4096, 64, 1, false, 0);
  const std::vector<Contender> exact{{&find_variant("exact"), {}}};
  std::vector<double> products, rates;
  for (int round = 0; round < rounds; ++round) {
    products.push_back(gemm_rate(1536, threads(), 1));
    rates.push_back(measure(heads, exact, backend, {.rounds = 1}, {}).front().rate());
  }
  std::ranges::sort(products);
  std::ranges::sort(rates);
  const auto middle = static_cast<std::size_t>(rounds / 2);
  const double share = rates[middle] / products[middle];
  goals.rows.push_back({"exact, n = 4096, d = 64",
                        "0.8 of Eigen's 1536^3 (" + format_plain(products[middle]) + " GFLOP/s)",
                        format_plain(share) + " (" + format_plain(rates[middle]) + " GFLOP/s)",
                        verdict(share >= 0.8)});
}

/// n = 32768, d = 64: half of the speed-up that multiply-adds promise, or 3 passes over memory.
void measure_efficient(const Backend& backend, int rounds, TextTable& goals) {
  constexpr Index n = 32768, d = 64;
  std::vector<Contender> contenders;
  for (const char* id : {"exact", "hyper", "h1d", "tf", "tc"})
    contenders.push_back({&find_variant(id), values_for_length(find_variant(id), n)});
  const auto measured =
      measure(random_heads(n, d, 1, false, 0), contenders, backend, {.rounds = rounds}, {});
  const double pass = memory_pass_ms(n, d, threads(), 9);
  for (std::size_t i = 1; i < measured.size(); ++i) {
    const Measurement& m = measured[i];
    const double passes = m.timing.total.median_ms / pass;
    goals.rows.push_back(
        {m.contender.variant->id + ", n = 32768, d = 64",
         "0.5 of " + format_plain(m.promised_speed_up) + " x, or 3 passes of " + format_time(pass),
         format_plain(m.share()) + " (" + to_text(m.speed_up) + "), " + format_plain(passes) +
             " passes; plan " + format_time(m.timing.plan_total.median_ms) + ", apply " +
             format_time(m.timing.apply_total.median_ms),
         verdict(m.share() >= 0.5 || passes <= 3)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::clamp(std::atoi(argv[1]), 1, 1000) : 5;
  const auto backend = make_cpu_backend();
  std::cout << backend->device() << ", " << backend->precision() << ", median of "
            << plural(rounds, "round") << "\n\n";
  TextTable goals{{"<what", "<goal", "<reached", "<verdict"}, {}};
  measure_exact(*backend, rounds, goals);
  measure_efficient(*backend, rounds, goals);
  print(std::cout, goals);
  std::cout << "\n  speed-ups count planning (but not building the tree), upload and apply\n";
}
