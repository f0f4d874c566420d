#include "effect/effect_times.h"

#include <numeric>

namespace fovea {

SpeedUp PassTimes::speed_up() const {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < exact_ms.size(); ++round)
    ratios.push_back(exact_ms[round] / replaced_ms[round]);
  return speed_up_of(ratios);
}

bool Rounds::wants_more(const EffectTimes& times) const {
  double spent = 0;
  for (const auto* passes : {&times.model.exact_ms, &times.model.replaced_ms})
    spent = std::accumulate(passes->begin(), passes->end(), spent);
  const double until = times.rounds() < enough_samples ? most_ms : enough_ms;
  return times.rounds() < least || (times.rounds() < most && spent < until);
}

double median_ms(const std::vector<double>& times) {
  return summary_of({}, times).median_ms;
}

}  // namespace fovea
