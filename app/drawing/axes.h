// Axes are the two scales of a plot. Queries run downwards and keys to the right. Amounts run
// upwards; only in a Strip, whose queries run downwards, they run to the right.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "data/sequence.h"
#include "drawing/ink.h"
#include "drawing/ticks.h"

namespace fovea::drawing {

/// The names of the tokens along an axis, if the source has names.
class AxisNames {
 public:
  AxisNames() = default;
  /// `sequence` must outlive it.
  explicit AxisNames(const Sequence& sequence) : sequence_(&sequence) {}
  bool known() const {
    return sequence_ &&
           (!sequence_->tokens.empty() || sequence_->grid || !sequence_->position_names.empty());
  }
  /// The keys that stand for tokens; null if there are none.
  const CompressedEntries* compressed() const {
    return sequence_ ? sequence_->compressed.get() : nullptr;
  }
  /// "12 “everything”", shortened to `room`; the bare number if there is no room or the token has
  /// no name. "entry 5: tokens 20–23" of a compressed entry, or "entry 5".
  std::string numbered(Index token, const Lettering& letters, double room) const;
  /// "everything".
  std::string name(Index token, const Lettering& letters) const;

 private:
  const Sequence* sequence_ = nullptr;
};

struct TokenNames {
  AxisNames queries = {}, keys = {};

  TokenNames() = default;
  /// Sequences must outlive it.
  explicit TokenNames(const Sequence& both) : queries(both), keys(both) {}
  TokenNames(const Sequence& of_queries, const Sequence& of_keys)
      : queries(of_queries), keys(of_keys) {}
};

struct PanelAxis {
  double low = 0, high = 1;
  std::string label;
  std::vector<Tick> ticks;
  bool downward = false;              // queries run down from the top
  bool logarithmic = false;           // low > 0 then
  bool amounts = false;               // not tokens
  bool named = false;                 // the ticks carry names of tokens; across, they read upwards
  bool compressed = false;            // some of its keys are compressed entries
  std::optional<double> border = {};  // where these begin, if tokens are seen, too
  double zeros = 0;  // share of a logarithmic axis, at its low end, that is left for zeros

  double place(double value, double from, double to) const;
  /// Whether both read the same, so that one set of numbers, or of names, serves both.
  bool same_as(const PanelAxis& other) const {
    return low == other.low && high == other.high && label == other.label &&
           logarithmic == other.logarithmic && named == other.named &&
           (!named || std::ranges::equal(ticks, other.ticks, {}, &Tick::label, &Tick::label));
  }
};

struct Axes {
  std::optional<PanelAxis> x, y;
};

/// A rectangle with its axes.
struct Plot {
  Rect where;
  const Axes& axes;

  double x(double value) const { return axes.x->place(value, where.x, where.right()); }
  double y(double value) const {
    const bool down = axes.y->downward;
    return axes.y->place(value, down ? where.y : where.bottom(), down ? where.bottom() : where.y);
  }
  /// The box of a range on both axes.
  Rect box(IndexRange rows, IndexRange cols) const;
};

/// Part of an axis of tokens; fractions so that zooming is smooth.
struct TokenSpan {
  double begin = 0, end = 1;
};

struct AxesRequest {
  Point size;  // about how large the plot will be
  const Lettering& letters;
  std::optional<double> top = {};                    // highest amount, for axes that share it
  std::optional<TokenSpan> queries = {}, keys = {};  // the visible tokens; all unless given
  TokenNames names = {};
};
Axes axes_of(const Panel& panel, const AxesRequest& request);

/// Whether a place down, or across, the panel is a token. False without a panel.
bool has_query_axis(const Panel* panel);
bool has_key_axis(const Panel* panel);
/// The queries and keys that a panel shows; none where it has no such axis.
std::pair<IndexRange, IndexRange> tokens_of(const Panel& panel);

/// An axis of tokens by itself, for a gutter that several panels share.
PanelAxis query_axis(TokenSpan tokens, double height, const Lettering& letters,
                     const TokenNames& names);
PanelAxis key_axis(TokenSpan tokens, double width, const Lettering& letters,
                   const TokenNames& names);

/// The highest amount shown on an axis; nothing for panels without amounts.
std::optional<double> amount_of(const Panel& panel);
/// What the amounts measure; amounts of one name can share an axis.
std::string amount_name(const Panel& panel);

/// The words of an axis beside its plot.
struct AxisWords {
  bool numbers = true, label = true;
};
/// Numbers that would touch others are left out.
void draw_x_axis(Ink& ink, const Plot& plot, AxisWords words);
void draw_y_axis(Ink& ink, const Plot& plot, AxisWords words);
/// Room that they take below and left of the plot.
double x_axis_height(const PanelAxis& axis, const Lettering& letters, AxisWords words);
double y_axis_width(const PanelAxis& axis, const Lettering& letters, AxisWords words);
/// Numbers of an axis of amounts within the plot, where there is no room beside it; those of an
/// upright axis at the left or at the right.
void draw_amounts_inside(Ink& ink, const Plot& plot, bool at_right = false);
/// Faint lines through the plot at the ticks of its axis of amounts.
void draw_grid_lines(Ink& ink, const Plot& plot);

}  // namespace fovea::drawing
