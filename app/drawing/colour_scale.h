// A ColourScale is how the numbers of one or several panels become colours, and what its colour bar
// says.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drawing/colormap.h"
#include "drawing/special_colours.h"

namespace fovea::drawing {

struct ColourScale : ValueColours, SpecialColours {
  std::vector<std::string> categories;
  std::string label;           // quantity and norm
  bool whole_numbers = false;  // ranks and levels, not shares
  RankColour rank_colour = RankColour::rank;

  /// How many colours there are when the numbers are few whole ones; 0: a continuous scale.
  int steps() const;
  /// Amounts: their range can be shared or chosen.
  bool is_amounts() const {
    return palette == Palette::sequential || palette == Palette::diverging;
  }
};

/// What a person chose about colours.
struct ColourChoice {
  std::string colormap = "viridis";  // of sequential rasters
  double log_floor = 1e-4;           // of the range's top, as in ViewSettings
  RankColour rank_colour = RankColour::rank;
};

/// What a panel's numbers are coloured by; nothing for panels without.
std::optional<ColourScale> colour_scale_of(const Panel& panel, const ColourChoice& choice);

/// True when two panels can be read with one bar: same quantity, norm and palette.
bool same_kind(const ColourScale& a, const ColourScale& b);

/// Widens `scale` to cover `other`.
void widen(ColourScale& scale, const ColourScale& other);

/// The scales of the panels of a row.
struct RowScales {
  std::optional<ColourScale> shared;  // one for all; else each has its own
  bool several = false;               // there are at least two panels with a scale
};
RowScales share_scales(const std::vector<std::optional<ColourScale>>& own, bool share_amounts);

}  // namespace fovea::drawing
