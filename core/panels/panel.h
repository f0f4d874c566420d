// A Panel is one view of one variant as plain data, ready to be drawn by the canvas or a figure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/rank_map.h"
#include "panels/peaks.h"
#include "session/session.h"

namespace fovea {

/// How numbers become colours. sequential: weights >= 0; diverging: centred on 0;
/// categories: values are 0, 1, 2, ...; ranks: discrete steps of a sequential map; shares: values
/// in [0, 1], whose colours follow their root, so that small shares are seen.
enum class Palette { sequential, diverging, categories, ranks, shares };

/// Special values: NaN "not a number", -inf "masked".
struct Raster {
  Matrix values;          // [pixel rows, pixel cols]
  IndexRange rows, cols;  // tokens covered; of a map perhaps beyond the end
  std::string rows_name = "query", cols_name = "key";  // what one of them is, for the axes
  Pool::Kind pooled = Pool::Kind::none;                // how, when a pixel covers several entries
  std::vector<Peak> peaks;                             // of pixels that are means; else empty
  Palette palette = Palette::sequential;
  Norm norm = Norm::linear;
  double low = 0, high = 1;  // this panel's own range (finite values)
  std::string quantity;      // colour bar label: "attention weight P"
  /// Names of colours, for a legend in place of a bar: of categories, or of shares at even
  /// distances of their roots.
  std::vector<std::string> categories;
  std::string under_name;  // what numbers below `low` mean; empty if nothing special
  // A number for each row of tokens, for a strip beside the raster; NaN if not known. Empty if
  // there is no strip.
  std::vector<float> row_values;  // [rows.size()]
  double row_top = 1;             // this value has the last colour
  std::string row_quantity;       // "mass dropped of the row"
  // For the map of a long head, which is first estimated and coarse, then exact and fine:
  Matrix standard_error;  // of every pixel that is an estimated mean (else 0); empty if none is
  double estimated = 0;   // share of the rows of pixels that are estimates
  bool complete = true;   // nothing is an estimate or coarser than the view

  /// Amounts: the user chooses how they are pooled.
  bool has_amounts() const {
    return palette == Palette::sequential || palette == Palette::diverging;
  }
};

/// Rectangles in token coordinates with a number in each.
struct BlockMap {
  RankMap map;
  double stored = 0, compression = 0;
  std::string quantity;  // "numerical rank of P at ε = 0.01"
};

/// What colours the blocks of a rank map show.
enum class RankColour { rank, storage };

/// The number in [0, 1] that colours a block: its rank as a share of full rank, or its stored
/// entries as a share of all.
double rank_share(const BlockMap& blocks, const RankBlock& block, RankColour colour);
/// "share of full rank".
std::string name_of_share(RankColour colour);

/// Leaves (or LSH buckets): sizes in order, and the nodes above them for an icicle.
struct LeafSizes {
  std::string kind;                  // "leaf", "bucket"
  std::vector<Index> queries, keys;  // per leaf, in order; or per `together` adjacent buckets
  std::vector<int> branching;        // root first; empty if no tree
  Index together = 1;                // buckets per size, if there are too many to show each
  std::vector<Diagnostic> figures;   // chi, effective leaves, ...
};

/// One query's row over the keys, exact and approximate.
struct RowCurve {
  Index query = 0;
  IndexRange keys;
  double log_floor =
      0;  // a logarithmic scale begins at this share of its top; 0 means a linear scale
  std::vector<float> exact, approximate;  // [keys.size()] (pooled by max when long)
  std::vector<std::pair<Index, float>> top_exact, top_approximate;  // best keys, descending
};

/// One number a token: |z~ - z| and the like.
struct Strip {
  std::vector<float> values;  // [nq]
  std::string quantity;
  std::vector<float> bounds = {};  // [nq] of the values; empty if there are none
  std::string bounds_name = {};    // "rounding to BF16 explains at most"
};

/// Curves of several series against n, or their points against another amount; both axes
/// logarithmic.
struct SeriesPlot {
  enum class Unit { milliseconds, bytes, count, none };
  struct Point {
    double n = 0;                         // where it stands on the x axis
    double value = 0, low = 0, high = 0;  // a bar goes from low to high
    bool joined = true;                   // a line joins it to the point before
    bool hollow = false;                  // its marker is hollow
    bool weak = false;                    // lines to it are dashed
    bool ringed = false;                  // it is the chosen one
    bool framed = false;                  // it is one of the user's own
    bool pale = false;                    // it matters less
  };
  /// The ends of an axis; both are positive.
  struct Ends {
    double low = 0, high = 0;
    bool hold(double value) const { return value >= low && value <= high; }
  };
  /// A place on a curve, with its n written above the plot.
  struct Mark {
    double n = 0, value = 0;
    std::string text;
  };
  struct Series {
    std::string name;  // for the legend
    std::vector<Point> points;
    std::optional<Mark> mark;
  };
  std::vector<Series> series;  // exact first
  std::string x_label;         // "n, tokens"
  std::vector<Index> lengths;  // ascending: where there may be points
  Unit unit = Unit::none;
  std::string empty;                             // why no series has a point
  std::string y_label;                           // empty: the title says it
  Unit x_unit = Unit::none;                      // of points over another amount than n
  bool scattered = false;                        // not curves against n: `lengths` is empty
  std::vector<std::pair<double, double>> front;  // places from the best x on, joined by steps
  std::vector<std::pair<double, double>> bound;  // the same, by dashed steps
  /// Scattered points outside stand at the edge, as arrows; without ends an axis holds all points.
  std::optional<Ends> x_ends = {}, y_ends = {};
  std::optional<double> limit = {};  // a dashed line at this place of the x axis
};

/// Curves of amounts against one amount; both axes are linear and begin at 0.
struct CurvePlot {
  struct Curve {
    std::string name;                               // in the legend; empty if it is not there
    std::vector<std::pair<double, double>> points;  // x ascending
    std::size_t colour = 0;                         // of the colours of series
    double shade = 1;                               // of that colour; lighter towards 0
    bool dashed = false;
    bool apart = false;  // points stand apart, as large dots
    /// [points] standard errors: points stand apart, each with a bar of one error to either side.
    /// If empty, a line joins the points.
    std::vector<double> errors = {};
  };
  /// A value that curves are compared with, as a faint line with its name.
  struct Level {
    double value = 0;
    std::string name;
  };
  std::vector<Curve> curves;  // drawn in this order
  std::vector<Level> levels;
  std::string x_label, y_label;
};

/// Z as a picture for images: RGB in [0, 1].
struct OutputPicture {
  Index rows = 0, cols = 0;
  std::vector<float> rgb;  // [rows, cols, 3]
};

struct FigureTable {
  std::vector<std::pair<std::string, std::string>> rows;  // label, value with unit
};

/// Why there is nothing to see: never blank without a reason.
struct Message {
  std::string text;
};

struct Panel {
  View view;
  std::string title;     // "HyperAttention"
  std::string subtitle;  // "block 32, samples 32"
  std::string caption;   // below: "density 0.23 · 8 full, 56 partial, 0 empty"
  std::variant<Message, Raster, BlockMap, LeafSizes, RowCurve, Strip, SeriesPlot, CurvePlot,
               OutputPicture, FigureTable>
      body;
};

}  // namespace fovea
