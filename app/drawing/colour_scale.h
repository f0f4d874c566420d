// A ColourScale says how the numbers of one or several panels become colours, and what their colour
// bar says.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "drawing/colormap.h"

namespace fovea::drawing {

/// Which numbers a raster contains.
struct RasterContents {
  // The range of all numbers that are neither NaN nor masked.
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool masked = false, not_a_number = false;
};
RasterContents contents_of(const Raster& raster);

/// Which special colours occur: of numbers below or above the range, of masked pairs, of NaN.
struct SpecialColours {
  bool under = false, over = false, masked = false, not_a_number = false;

  void add(const SpecialColours& other);
};
SpecialColours special_colours_of(const RasterContents& contents, const ValueColours& colours);

struct ColourScale : ValueColours, SpecialColours {
  std::vector<std::string> categories;
  std::string label;           // quantity and norm
  std::string under_name;      // what numbers below the least mean; empty if nothing special
  double least = 0;            // of the panels' own ranges, even if another range was chosen
  std::string pooling;         // "max of 2 × 2", of a pixel over several numbers; else empty
  bool whole_numbers = false;  // ranks and levels, not shares
  RankColour rank_colour = RankColour::rank;

  /// The label, and how numbers are pooled.
  std::string title() const { return pooling.empty() ? label : label + ", " + pooling; }
  /// The meaning of the colour of numbers below the range; empty if it only means that they are
  /// below.
  std::string under_text() const;
  /// The number of colours if the numbers are a few whole ones; 0 for a continuous scale.
  int steps() const;
  /// Whether names of colours stand in place of a bar.
  bool is_named() const { return !categories.empty(); }
  Rgb colour_of_name(std::size_t name) const;
  /// Whether a click on such a name hides its colour.
  bool can_hide() const { return palette == Palette::categories; }
  /// Amounts: their range can be shared or chosen.
  bool is_amounts() const {
    return palette == Palette::sequential || palette == Palette::diverging;
  }
};

/// The scale of a panel's numbers in its own range; nothing for panels without colours.
std::optional<ColourScale> colour_scale_of(const Panel& panel, const ViewSettings& settings);

/// True when two panels can be read with one bar: same quantity, norm and palette.
bool same_kind(const ColourScale& a, const ColourScale& b);

/// Widens `scale` to cover `other`.
void widen(ColourScale& scale, const ColourScale& other);

/// The scales of the panels of a row, in the ranges that were chosen for them.
struct RowScales {
  std::vector<std::optional<ColourScale>> of;  // each panel: the shared one, or its own
  std::optional<ColourScale> shared;           // nothing if each has its own
  int count = 0;                               // panels with a scale
};
/// The panels of `columns`, 0, 1, ... unless given; null if there is none yet. A range that was
/// chosen for a column counts if the row does not share one.
RowScales scales_of_row(View view, const std::vector<const Panel*>& panels,
                        const ViewSettings& settings, const std::vector<int>& columns = {});

}  // namespace fovea::drawing
