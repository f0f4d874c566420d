// A SessionEditor is a SessionHistory with the edits that a person makes, by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/session_history.h"

namespace fovea {

class SessionEditor : public SessionHistory {
  Q_OBJECT

 public:
  explicit SessionEditor(Study& study);

  void change_settings(const std::function<void(ViewSettings&)>& edit);
  /// A row that is added goes where it stands in the menu, unless rows were moved.
  void show_view(View view, bool on);
  /// The row shows another view.
  void replace_view(int row, View view);
  /// False: there is no such row or column.
  bool move_view(int from, int to);
  bool move_column(int from, int to);
  /// Whether the session has as many columns as one can have: none is added then.
  bool is_full() const;
  void add_column(const std::string& variant) { add_variants({variant}); }
  /// A column for each, with the parameters that suit the head; the last one is selected.
  void add_variants(const std::vector<std::string>& variants);
  /// In one step; of those that are there already nothing is added. Selects the last one.
  void add_columns(const std::vector<Column>& columns);
  void remove_column();  // the selected one
  /// Adds a copy of a column right of it, edited, and selects it.
  void insert_copy(int column, const std::function<void(Column&)>& edit);
  void duplicate_column();  // the selected one: an equal column right of it is selected
  /// The selected column holds the opened head while others are opened, or no longer does.
  void hold_head(bool on);
  /// A copy of the selected column that holds this head of the source, right of it.
  void add_column_of(Index layer, Index head);
  void reset_column();
  void choose_head(Index layer, Index head);
  void choose_patch(int patch);
  /// What the model of the source reads: another ModelAddress of the same model.
  void choose_input(const std::string& address);
  /// The address of the open source with its tokens in another order.
  void choose_order(const std::string& address);
  /// Pins the query; pinned already: unpins it. Nothing happens where the head has no such query.
  void pin(Index query);
  /// The columns and views with which the source opens where nothing was open before.
  void show_first_look(std::vector<View> views);
  void choose_spans(SpanChoice choice);
  /// Cuts the tokens that have no name into named frames of `tokens` tokens, and chooses the named
  /// spans. Returns why it cannot, as a
  /// sentence without its full stop; empty if it did.
  std::string name_frames(Index tokens);
  /// Names tokens, or changes the name or the tokens of a named span. Returns why it cannot, as a
  /// sentence without its full stop; empty if it did.
  std::string name_span(const Span& span);
  std::string change_span(std::size_t at, const Span& span);
  void remove_span(std::size_t at);

 private:
  /// What was marked in the text of a model before it was edited.
  struct MarkedText {
    std::vector<std::string> tokens;
    std::optional<Index> pinned;
    std::vector<Span> spans;
    std::string edited;  // the address with the text that takes its place
  };
  /// Pins the query and names the spans that were marked before an edit, where their tokens are
  /// now.
  void keep_marks();

  std::string set_spans(std::vector<Span> spans);
  void insert_copy(const std::function<void(Column&)>& edit) {
    insert_copy(study_.selected_column(), edit);
  }

  std::optional<MarkedText> marked_;  // until the edited text is there
};

}  // namespace fovea
