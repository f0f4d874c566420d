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

/// What a panel's numbers are coloured by, in its own range; nothing for panels without.
std::optional<ColourScale> colour_scale_of(const Panel& panel, const ViewSettings& settings);

/// True when two panels can be read with one bar: same quantity, norm and palette.
bool same_kind(const ColourScale& a, const ColourScale& b);

/// Widens `scale` to cover `other`.
void widen(ColourScale& scale, const ColourScale& other);

/// The scales of the panels of a row, in the ranges that were chosen for them.
struct RowScales {
  std::vector<std::optional<ColourScale>> of;  // each panel: the shared one, or its own
  std::optional<ColourScale> shared;           // nothing: each has its own
  bool several = false;                        // there are at least two panels with a scale
};
/// The panels of `columns`, 0, 1, ... unless given; null: there is none yet.
RowScales scales_of_row(View view, const std::vector<const Panel*>& panels,
                        const ViewSettings& settings, const std::vector<int>& columns = {});

}  // namespace fovea::drawing
