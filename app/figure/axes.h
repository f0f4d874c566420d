// Axes are the two scales of a panel: queries run down, keys run right, amounts run up.
#pragma once

#include <QSizeF>
#include <algorithm>
#include <cmath>
#include <optional>

#include "figure/ink.h"
#include "figure/ticks.h"

namespace fovea {

struct PanelAxis {
  double low = 0, high = 1;
  QString label;
  std::vector<Tick> ticks;
  bool downward = false;     // queries run down from the top
  bool logarithmic = false;  // low > 0 then

  double place(double value, double from, double to) const {
    const double t = logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low)
                                 : (value - low) / (high - low);
    return from + t * (to - from);
  }
  /// Reads the same: one set of numbers serves both.
  bool same_as(const PanelAxis& other) const {
    return low == other.low && high == other.high && label == other.label &&
           logarithmic == other.logarithmic;
  }
};

struct Axes {
  std::optional<PanelAxis> x, y;
};

/// The tokens that a rank map is of: of a long head only a part.
IndexRange tokens_of(const BlockMap& blocks);

/// `size`: about how large the panel will be, for the number of ticks; `top`: the highest amount
/// of panels whose axis measures one, for sharing.
Axes axes_of(const Panel& panel, QSizeF size, const Lettering& letters,
             std::optional<double> top = {});

/// The highest amount shown on a vertical axis; nothing for panels without amounts.
std::optional<double> amount_of(const Panel& panel);
/// What it measures; amounts of one name can share an axis.
std::string amount_name(const Panel& panel);

}  // namespace fovea
