// A Session is everything a person chose: what is open, the columns, the views and how they look.
// It is a plain value: undo is a stack of Sessions, a session file is one written down.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/operator.h"
#include "data/conditions.h"
#include "data/grouping.h"
#include "evaluate/computation.h"
#include "session/view.h"
#include "variants/variant.h"

namespace fovea {

enum class Norm { linear, log, row_max };
/// Between which groups of tokens attention mass is found: the parts of a text, from its parts to
/// its usual sinks, or the spans that were named by hand.
enum class SpanChoice { parts, sinks, named };

/// In the order of menus.
std::vector<Norm> all_norms();
std::vector<SpanChoice> all_span_choices();
std::string to_text(Norm norm);
std::string to_text(SpanChoice choice);
/// What menus call them.
std::string label_of(Norm norm);
std::string label_of(SpanChoice choice);
std::optional<Norm> norm_from(const std::string& text);

/// A head that a column holds: it stays in the column while other heads are opened.
struct HeldHead {
  std::string source;  // path or synthetic:; empty means that of the Session
  Index layer = 0, head = 0;
  HeadConditions conditions = {};  // of another source: set by hand while that one was opened
  friend bool operator==(const HeldHead&, const HeldHead&) = default;
};

/// A column of the canvas: a variant with its parameters.
struct Column {
  std::string variant;
  Values values;
  std::uint64_t seed = 0;
  std::optional<HeldHead> held = {};  // nothing means the head of the Session
  friend bool operator==(const Column&, const Column&) = default;
};

/// The same variant, parameters and seed, but no head is held.
Column without_head(Column column);

/// For each new column the index of the old one it continues, or -1: an equal column, at the same
/// place if there is one, else the same variant at the same place (its parameters changed).
std::vector<int> continued_columns(const std::vector<Column>& before,
                                   const std::vector<Column>& after);

/// "block 32".
std::string to_text(const Field& field, const Value& value);
/// The name of a column among others: its variant's label, and the parameters that tell it apart
/// from other columns of the variant: "H-Transformer-1D, block 38". Equal columns are numbered from
/// the second: "H-Transformer-1D (2)". Held heads are not named here.
std::string label_of(const std::vector<Column>& columns, std::size_t column);

/// Without repeated runs.
ComputeRequest request_of(const Column& column);

/// A range of colours that was chosen by hand, and stays until it is reset.
struct ColourRange {
  View view;
  int column = -1;  // whose panel it is of; -1 means all panels of the view's row
  double low = 0, high = 1;
  friend bool operator==(const ColourRange&, const ColourRange&) = default;
};

/// Where a column of `from` is in `to`; equal columns keep their order. Nothing if it is gone.
std::optional<std::size_t> moved_column(const std::vector<Column>& from,
                                        const std::vector<Column>& to, std::size_t column);
/// The ranges with the places that their columns have now; those of columns without one are
/// dropped.
std::vector<ColourRange> with_moved_columns(
    const std::vector<ColourRange>& ranges,
    const std::function<std::optional<std::size_t>(std::size_t column)>& place);

struct ViewSettings {
  Norm norm = Norm::log;
  double log_floor = 1e-4;             // of the range's top
  Pool::Kind pool = Pool::Kind::mean;  // when a pixel covers several entries
  bool shared_range = true;
  std::string colormap = "viridis";
  std::vector<ColourRange> ranges;  // at most one for each view and column
  std::vector<std::string> hidden;  // names of series and classes that are not drawn
  /// Settings of single views, by the ids of their fields; what is not here has its default. Set
  /// them with set_value of views/views.h, which checks them.
  std::map<std::string, Value> own;

  /// Null if none was chosen.
  const ColourRange* range_of(View view, int column) const;
  void choose_range(const ColourRange& range);
  void reset_range(View view, int column);
  bool hides(const std::string& name) const;
  void hide(const std::string& name, bool on);

  friend bool operator==(const ViewSettings&, const ViewSettings&) = default;
};

/// The visible part of the matrix in token coordinates; fractions so that zooming is smooth.
struct Viewport {
  double row_begin = 0, row_end = 0, col_begin = 0, col_end = 0;
  friend bool operator==(const Viewport&, const Viewport&) = default;
};

/// All of a matrix.
Viewport whole(Lengths lengths);

/// The tokens of [0, n) in [begin, end) of a Viewport; all n if the Viewport shows none.
IndexRange visible_tokens(double begin, double end, Index n);

struct Session {
  std::string source;  // path or synthetic:
  int patch = 8;       // of an image: pixels a side that are one token
  Index layer = 0, head = 0;
  HeadConditions conditions;  // set by hand in place of what the source states
  std::vector<Column> columns;
  std::vector<View> views;
  ViewSettings settings;
  Viewport viewport;
  std::optional<Index> pinned_query;
  SpanChoice span_choice = SpanChoice::parts;
  std::vector<Span> spans;  // that were named by hand, by their first tokens
  /// In which heads of a model attention is replaced to measure what that does to its output, as
  /// ChosenHeads reads them; empty for none.
  std::string replaced_heads = "all";
  /// Another file on which learned trees are tried; empty for none.
  std::string validated_on;
  friend bool operator==(const Session&, const Session&) = default;
};

/// The paper's defaults, or for shorter texts sizes at which the variant still differs from exact.
Values values_for_length(const Variant& variant, Index n);
/// Some parameters are set by their keys. Throws UsageError for a key that the variant does not
/// have, and for a text that is no value of the parameter.
Values values_for_length(const Variant& variant, Index n,
                         const std::map<std::string, std::string>& settings);

/// Longer heads are shown as maps (MapPyramid), since exact attention of them takes long.
inline constexpr Index long_head = 8192;
/// Only heads with as many queries as keys: others are computed as a whole.
inline bool is_long(Lengths lengths) {
  return lengths.equal() && lengths.queries > long_head;
}

}  // namespace fovea
