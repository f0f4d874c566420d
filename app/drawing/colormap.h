// A Colormap turns numbers into colours, and has special colours for masked pairs and for NaN.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "drawing/style.h"
#include "panels/panel.h"

namespace fovea {

struct Colormap {
  std::string id;  // "viridis"
  std::array<Rgb, 256> steps;
  Rgb under, over, masked, not_a_number;
};

/// Sequential: viridis (default), magma, cividis, grey; diverging: blue-red centred on white; the
/// palettes of categories, ranks and shares. Colour-blind safe.
const Colormap& colormap(const std::string& id);
std::vector<std::string> colormap_ids();
/// The map in which a number has the colour of its root: small ones differ from 0.
Colormap by_root(Colormap map);
/// The map a raster is drawn with when the user's sequential choice is `sequential`.
const Colormap& colormap_for(Palette palette, const std::string& sequential);
Rgb category_colour(int category);

/// The place of a value in the range under a norm: in [0, 1] within the range, < 0 below, > 1
/// above. The canvas's shader computes the same: linear (v - low) / (high - low), log between
/// max(low, floor high) and high. Log of a range centred on 0: both signs, by log(1 + |v| / unit)
/// from the middle outwards.
double normalised(double value, double low, double high, Norm norm, double log_floor);
/// Up to this value a signed logarithm is nearly linear. It is a decade above the floor; otherwise
/// the small errors of most pairs would be as dark as large ones.
double signed_log_unit(double high, double log_floor);

/// The colours of values of rasters that share a colour bar, for figures and the canvas.
struct ValueColours {
  Palette palette = Palette::sequential;
  const Colormap* map = nullptr;
  Norm norm = Norm::linear;
  double low = 0, high = 1, log_floor = 1e-4;
  std::uint64_t hidden = 0;  // categories that are not shown, a bit each

  Rgb colour(double value) const;
  double bottom() const;  // the lowest value with a colour of its own
  /// Whether all differences are 0, which have the colour of the middle.
  bool is_all_zero() const { return palette == Palette::diverging && low == 0 && high == 0; }
  /// The place of a value in the range, from `normalised`; 0.5 if all differences are 0.
  double share_of(double value) const;
  /// The value at a share in [0, 1] of the range, as `normalised` has it; continued beyond both
  /// ends.
  double value_at(double share) const;
  bool hides(std::size_t category) const { return category < 64 && (hidden >> category & 1); }
  bool signed_log() const { return norm == Norm::log && high > 0 && low == -high; }
};

/// The colours of all numbers or of a picture, row by row.
std::vector<drawing::Rgba> pixels_of(const Matrix& values, const ValueColours& colours);
std::vector<drawing::Rgba> pixels_of(const OutputPicture& picture);

}  // namespace fovea
