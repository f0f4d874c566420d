#include "drawing/colour_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "drawing/visit_body.h"
#include "views/own_settings.h"

namespace fovea::drawing {
namespace {

std::string label_of(const Raster& raster) {
  std::string label = raster.quantity;
  if (raster.palette == Palette::sequential && raster.norm == Norm::log) label += ", log";
  if (raster.palette == Palette::diverging && raster.norm == Norm::log) label += ", signed log";
  return label;
}

bool is_whole(double value) {
  return std::rint(value) == value;
}

ColourScale scale_of(const Raster& raster, const ViewSettings& settings) {
  ColourScale scale;
  scale.palette = raster.palette;
  scale.map = &colormap_for(raster.palette, settings.colormap);
  scale.norm = scale.is_amounts() ? raster.norm : Norm::linear;
  scale.low = scale.least = raster.low;
  scale.high = raster.high;
  scale.log_floor = settings.log_floor;
  scale.categories = raster.categories;
  for (std::size_t c = 0; c < raster.categories.size() && c < 64; ++c)
    scale.hidden |= std::uint64_t{settings.hides(raster.categories[c])} << c;
  scale.whole_numbers =
      raster.palette == Palette::ranks && is_whole(raster.low) && is_whole(raster.high);
  scale.label = label_of(raster);
  scale.under_name = raster.under_name;
  if (scale.palette == Palette::diverging) {
    scale.high = std::max(std::abs(raster.low), std::abs(raster.high));
    scale.low = -scale.high;
  }
  return scale;
}

ColourScale scale_of(const BlockMap& blocks, const ViewSettings& settings) {
  ColourScale scale;
  scale.palette = Palette::ranks;
  scale.map = &colormap_for(Palette::ranks, settings.colormap);
  scale.label = blocks.quantity;
  if (!scale.label.empty()) scale.label += "; colour: ";
  scale.rank_colour = rank_colour(settings);
  scale.label += name_of_share(scale.rank_colour);
  return scale;
}

}  // namespace

// Goes column by column, without a branch, since a window does this between two frames.
RasterContents contents_of(const Raster& raster) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::size_t cols = raster.values.cols();
  std::vector<float> low(cols, infinity), high(cols, -infinity);
  std::vector<std::int32_t> masked(cols), not_a_number(cols);
  for (Index r = 0; r < raster.values.rows(); ++r) {
    const float* row = raster.values.row(r);
    for (std::size_t c = 0; c < cols; ++c) {
      const float value = row[c];
      masked[c] |= value == -infinity;
      not_a_number[c] |= value != value;
      const float above = value == -infinity ? infinity : value;
      low[c] = above < low[c] ? above : low[c];
      high[c] = value > high[c] ? value : high[c];
    }
  }
  RasterContents out;
  const auto any = [](const auto& flags) {
    return std::ranges::count(flags, 0) < std::ssize(flags);
  };
  out.masked = any(masked);
  out.not_a_number = any(not_a_number);
  for (std::size_t c = 0; c < cols; ++c) {
    out.low = std::min(out.low, double(low[c]));
    out.high = std::max(out.high, double(high[c]));
  }
  return out;
}

void SpecialColours::add(const SpecialColours& other) {
  under |= other.under;
  over |= other.over;
  masked |= other.masked;
  not_a_number |= other.not_a_number;
}

SpecialColours special_colours_of(const RasterContents& contents, const ValueColours& colours) {
  SpecialColours out{.masked = contents.masked, .not_a_number = contents.not_a_number};
  if (colours.palette == Palette::categories || contents.low > contents.high) return out;
  out.under = colours.share_of(contents.low) < -1e-4;  // as ValueColours::colour has it
  out.over = colours.share_of(contents.high) > 1 + 1e-4;
  return out;
}

std::string ColourScale::under_text() const {
  if (!under || under_name.empty()) return "";
  return (bottom() > least ? "fewer, or " : "") + under_name;
}

int ColourScale::steps() const {
  const double span = high - low;
  const bool whole = palette == Palette::ranks && whole_numbers && span >= 1 && span <= 15;
  return whole ? int(std::lround(span)) + 1 : 0;
}

Rgb ColourScale::colour_of_name(std::size_t name) const {
  if (palette == Palette::categories) return category_colour(int(name));
  return colour(std::pow(double(name) / double(categories.size() - 1), 2));
}

std::optional<ColourScale> colour_scale_of(const Panel& panel, const ViewSettings& settings) {
  using Scale = std::optional<ColourScale>;
  return visit_body(
      panel,
      [&](const one_of<Raster, BlockMap> auto& body) -> Scale { return scale_of(body, settings); },
      [](const one_of<Message, LeafSizes, RowCurve, Strip, SeriesPlot, CurvePlot, OutputPicture,
                      FigureTable> auto&) -> Scale { return std::nullopt; });
}

bool same_kind(const ColourScale& a, const ColourScale& b) {
  return a.palette == b.palette && a.norm == b.norm && a.categories == b.categories &&
         a.label == b.label;
}

void widen(ColourScale& scale, const ColourScale& other) {
  scale.low = std::min(scale.low, other.low);
  scale.least = std::min(scale.least, other.least);
  scale.high = std::max(scale.high, other.high);
  scale.add(other);
}

namespace {

/// Makes one scale for all panels if that is asked for and they are of one kind.
void share(RowScales& row, bool share_amounts) {
  bool alike = true;
  for (const auto& scale : row.of) {
    if (!scale) continue;
    ++row.count;
    if (!row.shared) {
      row.shared = scale;
      continue;
    }
    alike = alike && same_kind(*row.shared, *scale);
    widen(*row.shared, *scale);
  }
  if (row.shared && (!alike || (row.shared->is_amounts() && !share_amounts))) row.shared.reset();
}

void choose_range(std::optional<ColourScale>& scale, const ColourRange* chosen) {
  if (!scale || !scale->is_amounts() || !chosen) return;
  scale->low = chosen->low;
  scale->high = chosen->high;
}

}  // namespace

RowScales scales_of_row(View view, const std::vector<const Panel*>& panels,
                        const ViewSettings& settings, const std::vector<int>& columns) {
  RowScales row;
  for (const Panel* panel : panels) {
    row.of.push_back(panel ? colour_scale_of(*panel, settings) : std::nullopt);
    choose_range(row.of.back(), settings.range_of(view, -1));
  }
  share(row, settings.shared_range);
  for (std::size_t i = 0; i < row.of.size(); ++i) {
    if (row.of[i] && row.shared)
      row.of[i] = row.shared;
    else
      choose_range(row.of[i], settings.range_of(view, columns.empty() ? int(i) : columns[i]));
  }
  return row;
}

}  // namespace fovea::drawing
