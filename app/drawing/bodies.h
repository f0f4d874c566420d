// A body is the inside of a panel. Each kind has one drawing, the same in figures and on the
// canvas.
#pragma once

#include "drawing/axes.h"
#include "drawing/colour_scale.h"
#include "drawing/legend.h"

namespace fovea::drawing {

/// Leaves, or bars that stand for several buckets.
Index leaf_count(const LeafSizes& leaves);

/// Leaves as they are drawn.
struct LeafOrder {
  Index count = 0;
  Index most = 0;           // tokens of one kind in the largest leaf
  Index keys = 0;           // of all leaves
  std::vector<Index> sums;  // tokens before each leaf, both kinds [count + 1]
  std::vector<Index> sorted_queries, sorted_keys;  // descending
};

/// What the drawing of a panel needs and finds once, however often the panel is drawn.
struct PreparedPanel {
  /// The panel must outlive it.
  explicit PreparedPanel(const Panel& shown);

  const Panel* panel;
  RasterContents contents;  // of a raster
  std::vector<Peak> peaks;  // of a raster of amounts that a drawing may pool by the mean
  LeafOrder leaves;
};

/// Where and how the body of a panel is drawn.
struct BodyDrawing {
  Ink& ink;
  const PreparedPanel& prepared;
  Rect body;  // all of it, with headings
  Plot plot;  // the part inside the axes
  const ColourScale* scale = nullptr;
  TokenNames names = {};
  const ViewSettings& settings = standard_settings;  // which series are hidden
  /// The part of a matrix that is seen: a number moves into the part of its cell that is.
  std::optional<HalfPlane> part = {};

  static inline const ViewSettings standard_settings{};
};

/// Draws the body without its axes.
void draw_body(const BodyDrawing& d);

/// Wrapped and centred.
void draw_message(Ink& ink, const Rect& where, const std::string& words);

/// Rows over columns of what has cells; nothing for plots and text.
std::optional<double> shape_of(const Panel& panel);
/// Height a body takes at a width: square cells for matrices, lines of text for tables.
double natural_height(const Panel& panel, double width, const Lettering& letters,
                      const TokenNames& names);
/// The names of a row's curves or of the bars of leaves, which a click hides; empty for others.
Legend legend_of(const BodyDrawing& d);
/// Height of what stands above the plot of a body: legends, key figures, the icicle of a tree.
double heading_height(const Panel& panel, const Rect& body, const Lettering& letters,
                      const TokenNames& names);

/// Below this width leaves show no key figures, since their names would be cut.
double least_width_for_figures(const Lettering& letters);
/// Where a body of leaves is drawn.
struct LeafPlace {
  const LeafSizes& leaves;
  Rect plot;
  const Lettering& letters;
  double finest;  // as Style has it
};
/// The leaf at a point, or those below the node there; else empty.
IndexRange leaves_at(const LeafPlace& place, Point at);
/// Where a range of leaves stands, with the nodes above it.
Rect place_of_leaves(const LeafPlace& place, IndexRange leaves);

/// A number of each query, drawn as a colour in a strip beside the plot.
struct RowStrip {
  std::span<const float> values;  // NaN: not known
  Index first = 0;                // query of the first
  double top = 1;                 // this value has the last colour

  /// The largest value of some queries; NaN if none is known.
  float largest(IndexRange queries) const;
};
/// The strip of a raster that carries such numbers, or of an error map with the output errors of
/// all tokens.
std::optional<RowStrip> row_strip_of(const Panel& panel, std::span<const float> errors = {});
/// Beside the plot that `plot` is; `axis` is that of its queries.
void draw_row_strip(Ink& ink, const Rect& plot, const PanelAxis& axis, const RowStrip& strip,
                    const Colormap& map);
/// How the colours of such strips are read, from 0 to the top of a strip.
ColourScale scale_of_strips(double top, const std::string& quantity, const std::string& colormap);
/// Room for a strip beside a plot.
double row_strip_room(const Lettering& letters);

/// Marks the largest entries of a raster that lies in `whole` if its pixels are means.
void draw_peaks(const BodyDrawing& d, const Raster& raster, const Rect& whole);

/// Writes the ranks again that a line through a query crosses, each on the colour of its block.
void write_ranks_over(const BodyDrawing& d, const BlockMap& blocks, Index query);

/// Headings and legends of the kinds of body that have one.
/// Whether the heading of a curve names its query; a narrow one has no room.
bool names_query(const RowCurve& row, double width, const Lettering& letters,
                 const TokenNames& names);
double row_heading_height(const RowCurve& row, double width, const Lettering& letters,
                          const TokenNames& names);
double leaf_heading_height(const LeafSizes& leaves, const Rect& body, const Lettering& letters);
double series_heading_height(const SeriesPlot& plot, double width, const Lettering& letters);
double curves_heading_height(const CurvePlot& plot, double width, const Lettering& letters);
Legend legend_of(const BodyDrawing& d, const CurvePlot& plot);
Legend legend_of(const BodyDrawing& d, const RowCurve& row);
Legend legend_of(const BodyDrawing& d, const LeafSizes& leaves);

/// The bodies, a kind each.
void draw(const BodyDrawing& d, const Raster& raster);
void draw(const BodyDrawing& d, const BlockMap& blocks);
void draw(const BodyDrawing& d, const LeafSizes& leaves);
void draw(const BodyDrawing& d, const RowCurve& row);
void draw(const BodyDrawing& d, const Strip& strip);
void draw(const BodyDrawing& d, const SeriesPlot& plot);
void draw(const BodyDrawing& d, const CurvePlot& plot);
void draw(const BodyDrawing& d, const OutputPicture& picture);
void draw(const BodyDrawing& d, const FigureTable& table);
void draw(const BodyDrawing& d, const Message& message);

}  // namespace fovea::drawing
