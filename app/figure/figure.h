// A Figure is a grid of panels drawn with QPainter: one drawing for PNG, SVG, PDF and the screen.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/profile.h"
#include "figure/recipe.h"
#include "panels/panel.h"

class QPainter;

namespace fovea {

inline constexpr double points_per_inch = 72;

/// What stands below each panel: nothing, the first statement of its caption if that is short, or
/// all of it.
enum class Captions { none, line, full };
inline constexpr const char* caption_ids[] = {"none", "line", "full"};  // in their order

/// Sizes in points unless said otherwise.
struct FigureStyle {
  double width = 252;            // 3.5 in, one column
  std::optional<double> height;  // default: follows from the grid
  int dpi = 300;                 // of PNG, and of rasters inside SVG and PDF
  double font_size = 7;          // of titles, as printed
  double smaller = 0;            // points by which all other letters are smaller
  std::string font = "DejaVu Sans";
  Captions captions = Captions::full;
  bool footer = true;  // the provenance; without it only what frames mark is said
  /// Panels that only say why there is nothing to see are drawn; otherwise their places stay white.
  bool empty_panels = true;
  bool row_names = false;  // the names of the views, upright at the left
  bool letters = false;    // (a), (b), ... before the titles of panels
  bool dark = false;       // the window's look; figures for print are light
  ViewSettings settings;   // colours, their ranges, and what is hidden
};

/// A number for each quantity of strips beside panels.
using StripTops = std::map<std::string, double>;

struct Figure {
  std::string title;                     // one line above everything; may be empty
  std::string footer;                    // provenance: source, head, n, d, back end
  std::vector<std::vector<Panel>> rows;  // [view][variant]
  FigureStyle style;
  std::shared_ptr<const Sequence> sequence = nullptr;  // names of tokens for the axes; may be null
  std::shared_ptr<const Sequence> key_sequence = nullptr;  // if keys have other names
  /// The tokens of the head that a column holds; null, or none at all, if it holds none.
  std::vector<std::shared_ptr<const Sequence>> held_sequence = {}, held_key_sequence = {};
  std::optional<Index> pinned_query = {};  // framed in every panel of tokens
  std::optional<std::pair<IndexRange, IndexRange>> selection = {};  // queries, keys; the same
  std::string remarks = {};  // sentences without which the panels mislead; with or without a footer
  Recipe recipe = {};        // in its file
  /// Strips that share a range reach at least these numbers, as those of other figures do.
  StripTops strip_tops = {};
  std::string subject = {};  // "minilm, layer 4, head 10, n = 341", for a caption in the paper
};

/// The largest number in the strips of each quantity.
StripTops strip_tops_of(const std::vector<std::vector<Panel>>& rows);

/// The words that explain frames in the panels, and the remarks; empty if there are none.
std::string words_of_marks(const Figure& figure);

/// Height in points that the figure takes at its width.
double figure_height(const Figure& figure);

/// The least height in points at its width at which no panel is cut or too low to be read.
double least_figure_height(const Figure& figure);

/// Draws in points, with the figure's top left at the painter's origin. Throws Cancelled between
/// two panels if a stop is requested.
void draw_figure(QPainter& painter, const Figure& figure, const Run& run);
void draw_figure(QPainter& painter, const Figure& figure);

/// Draws without the words, and returns the words as PGF that places them from the top left, to be
/// set by LaTeX.
std::string draw_without_words(QPainter& painter, const Figure& figure, const Run& run);

/// Adds to each caption how many entries of a raster one pixel mixes, in an image with so many
/// pixels a point.
Figure with_pooling_named(const Figure& figure, double pixels_a_point);

/// Throws UsageError, with the least height that is enough, if the height of the style is too small
/// for the panels; UnavailableError if the picture at `path` would have too many pixels.
void require_height(const std::string& path, const Figure& figure);

/// The bytes of an SVG file.
QByteArray svg_of(const Figure& figure);

/// By the ending of `path`: .png, .svg, .pdf or .pgf; NAME.pgf places words on a body, which is
/// written beside it (figure/pgf_file.h). The same figure gives the same bytes: the only date in
/// them is that of the environment variable SOURCE_DATE_EPOCH, if it is set. The file is replaced
/// as a whole (io/atomic_file.h). Throws UsageError for another ending, UnavailableError if it
/// cannot be written, and Cancelled.
void write_figure(const std::string& path, const Figure& figure, const Run& run);
void write_figure(const std::string& path, const Figure& figure);

}  // namespace fovea
