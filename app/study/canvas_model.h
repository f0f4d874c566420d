// A CanvasModel is everything that the canvas shows, as plain data.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "panels/panel.h"
#include "study/comparison.h"

namespace fovea {

class LeafMarks;
struct ColumnState;
class Results;
struct Subject;

/// One cell of the grid.
struct CanvasCell {
  std::shared_ptr<const Panel> panel;  // null: nothing yet, `status` says why
  bool stale = false;                  // a newer one is being computed: drawn dimmed, marked
  std::string status;                  // "computing 42 %, 3 s left", "error: ..."
  bool failed = false;                 // `status` is the error
  std::optional<double> progress;      // of the work that `status` is about, in [0, 1]
  // For the strip beside an error map: |z~ - z| of every token. Null if not known.
  std::shared_ptr<const std::vector<float>> token_errors;
  friend bool operator==(const CanvasCell&, const CanvasCell&) = default;
};

/// The figures that head a column.
struct ColumnFigures {
  std::string parameters;            // "block 16, banded"
  std::optional<double> error = {};  // that of headline_error()
  std::string error_name = {};       // "relative output error"; empty until it is known
  std::string tree_learned_on = {};  // the other head or text on which its tree was learned
  std::optional<double> cost = {};   // multiply-adds as a share of those of exact attention
  friend bool operator==(const ColumnFigures&, const ColumnFigures&) = default;
};

/// Nothing for the reference, with which the others are compared.
std::optional<ColumnFigures> figures_of(const ColumnState& column, bool causal,
                                        const Recurrence* recurrence);

/// Tokens that a search found, ascending.
struct FoundTokens {
  std::vector<Index> queries, keys;
  std::size_t size() const { return queries.size() + keys.size(); }
};

/// Everything the canvas shows; a value, replaced as a whole.
struct CanvasModel {
  std::vector<View> views;                    // rows
  std::vector<std::string> column_titles;     // columns: "Exact"
  std::vector<std::string> column_notes;      // what the attention of a column is, and its paper
  std::vector<std::string> column_subtitles;  // "block 16, output error 0.275"
  // One a column. Nothing, or none at all, if its subtitle says everything.
  std::vector<std::optional<ColumnFigures>> column_figures;
  std::vector<std::vector<CanvasCell>> cells;  // [view][column]
  ViewSettings settings;
  Viewport viewport;
  Lengths lengths;
  // The queries and the keys. Never null.
  std::shared_ptr<const Sequence> sequence = std::make_shared<const Sequence>();
  std::shared_ptr<const Sequence> key_sequence = std::make_shared<const Sequence>();
  std::optional<Index> pinned_query;
  std::optional<std::pair<IndexRange, IndexRange>> selection;  // queries, keys
  std::optional<int> selected_column;
  std::vector<std::optional<int>> exact_columns;  // of each column: that with exact of its head
  std::vector<bool> held;                         // of each column: whether it holds a head
  // The tokens of the head that a column holds. Null for those of the model.
  std::vector<std::shared_ptr<const Sequence>> held_sequence, held_key_sequence;
  std::optional<Comparison> comparison;  // of two of the columns
  bool causal = false, dark = true;
  std::string opening;  // the name of what is being opened, where nothing is open yet
  /// The model whose pictures are replaced for a while, by those of exact: its colour ranges and
  /// the places of everything stay. Null: none.
  std::shared_ptr<const CanvasModel> in_place_of;
  std::vector<Index> marked_queries, marked_keys;  // ascending; of a chosen leaf: drawn everywhere

  /// The tokens of the head that a column shows; those of the opened head for -1.
  const Sequence& queries_of(int column) const { return of(column, held_sequence, *sequence); }
  const Sequence& keys_of(int column) const { return of(column, held_key_sequence, *key_sequence); }
  std::optional<int> exact_of(int column) const {
    const auto c = static_cast<std::size_t>(column);
    return c < exact_columns.size() ? exact_columns[c] : std::nullopt;
  }
  bool is_empty() const { return lengths.queries <= 0 || lengths.keys <= 0; }
  bool holds_head(int column) const {
    const auto c = static_cast<std::size_t>(column);
    return c < held.size() && held[c];
  }
  friend bool operator==(const CanvasModel&, const CanvasModel&) = default;

 private:
  static const Sequence& of(int column, const std::vector<std::shared_ptr<const Sequence>>& held,
                            const Sequence& opened) {
    const auto c = static_cast<std::size_t>(column);
    return column >= 0 && c < held.size() && held[c] ? *held[c] : opened;
  }
};

std::shared_ptr<CanvasModel> make_canvas_model(const Subject& subject, const Results& results,
                                               const std::vector<std::vector<CanvasCell>>& cells,
                                               const LeafMarks& marks);
/// Whether both show the same, apart from the statuses of the cells.
bool same_pictures(CanvasModel a, CanvasModel b);

}  // namespace fovea
