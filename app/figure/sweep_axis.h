// The axes of a sweep's plots are logarithmic, in the units of what they measure.
#pragma once

#include <functional>
#include <optional>

#include "drawing/axes.h"
#include "sweep/sweep.h"

namespace fovea {

using namespace drawing;

enum class Quantity { time, memory, error };

struct Amount {
  double value = 0, low = 0, high = 0;
};

/// Nothing where it was not measured.
std::optional<Amount> amount_of(const SweepPoint& point, Quantity quantity, SweepTime time);

/// Numbers with their units at powers of two or ten, at most about `most`; between powers of ten,
/// where there are few, at others too.
std::vector<Tick> amount_ticks(double low, double high, int most, Quantity quantity);

/// Measured lengths, from the last: those whose numbers do not touch.
std::vector<Tick> length_ticks(const std::vector<Index>& lengths, const PanelAxis& axis,
                               const Rect& plot, const Lettering& letters);

}  // namespace fovea
