// Times of a model's forward passes with exact and with replaced attention, which take turns.
#pragma once

#include <vector>

#include "analysis/timing.h"

namespace fovea {

/// In ms; the exact and the replaced pass of a round have the same place.
struct PassTimes {
  std::vector<double> exact_ms, replaced_ms;

  bool known() const { return !exact_ms.empty(); }
  /// The median and its interval, as columns have. At least one round is known.
  SpeedUp speed_up() const;
};

struct EffectTimes {
  PassTimes model;                 // of all layers, whichever are replaced
  PassTimes attention;             // of all layers; not known of models that Python computes
  std::vector<double> variant_ms;  // what the variant takes of passes that Python computes

  int rounds() const { return static_cast<int>(model.exact_ms.size()); }
};

/// How often the passes take turns.
struct Rounds {
  int least = 1, most = 15;
  double enough_ms = 2000;  // once passes have taken this long, no round follows beyond `least`,
  double most_ms = 20e3;    // or, once they have taken this long, beyond it for an interval

  bool wants_more(const EffectTimes& times) const;
};

/// The median; `times` are not empty.
double median_ms(const std::vector<double>& times);

}  // namespace fovea
