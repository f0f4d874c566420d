// A SessionEditor changes the Session of a Study. Every change is a step of undo, and so is every
// source that is opened: the step before opens the one before again, as it was left.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/drawn_pairs.h"
#include "study/study.h"

namespace fovea {

/// What is known of a source, beside its Sessions, when another one is opened.
struct Visit {
  std::string session_file;  // that it was opened from or saved to; empty if none
  std::string content_hash;
  int selected_column = 0;
  std::vector<WaitingColumn> waiting;  // as Study has them
};

class SessionEditor : public QObject {
  Q_OBJECT

 public:
  explicit SessionEditor(Study& study);

  /// Steps of one `kind` soon after each other are one: a slider dragged, a pan. An empty kind is
  /// always a step of its own.
  void change(const std::string& kind, const std::function<void(Session&)>& edit);
  /// The same, but steps of the kind are one however long after each other they are: what a run
  /// changes while a person looks on.
  void change_during_run(const std::string& kind, const std::function<void(Session&)>& edit);
  void change_settings(const std::function<void(ViewSettings&)>& edit);
  /// Another source was opened: a step, unless it was opened by undo or redo.
  void start();
  bool can_undo() const { return target() > 0; }
  bool can_redo() const { return target() + 1 < steps_.size(); }
  void undo() { go_to(target() - 1); }
  void redo() { go_to(target() + 1); }
  /// The source whose opening undo takes back, or redo repeats; nothing for a change of a Session.
  std::optional<std::string> opening_to_undo() const { return opening_after(target() - 1); }
  std::optional<std::string> opening_to_redo() const { return opening_after(target()); }
  /// The visit to the source that is shown.
  Visit& visit() { return visits_[steps_[at_].visit]; }

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
  void remove_column();     // the selected one
  void duplicate_column();  // the selected one: an equal column right of it is selected
  /// The selected column holds the opened head while others are opened, or no longer does.
  void hold_head(bool on);
  /// Includes the pairs of the selected rectangle in the selected column, or excludes them, in
  /// whole blocks. If the column is not drawn, a drawn column with its pairs is made right of it;
  /// beside exact attention it begins with no pair, or with all of them. The pairs of another
  /// variant are read on the engine's thread: the rectangle is selected at once, and the column
  /// comes when they are there. Returns why it cannot, as a sentence without its full stop; empty
  /// if it did. What fails later is reported by the Study.
  std::string draw_rectangle(bool includes);
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

 signals:
  /// Undo or redo opens a source again.
  void reopening(const std::string& source, const fovea::Visit& visit);
  /// Pairs were drawn in the selected column.
  void drawn();

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
  struct Step {
    Session session;
    std::size_t visit = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  void change(const std::string& kind, std::chrono::milliseconds together,
              const std::function<void(Session&)>& edit);
  void record(const Session& session, const std::string& kind, std::chrono::milliseconds together);
  std::string set_spans(std::vector<Span> spans);
  void forget_first_steps();
  void keep_shown_content();
  void choose_content(const std::string& kind, const std::function<void(Session&)>& edit);
  /// Right of the column at this place.
  void insert_copy(int column, const std::function<void(Column&)>& edit);
  void insert_copy(const std::function<void(Column&)>& edit) {
    insert_copy(study_.selected_column(), edit);
  }
  void draw_on(const std::shared_ptr<const Computation>& computation, Index block,
               const DrawnRectangle& added);
  void finish_drawing(std::optional<DrawnPairs> pairs, const std::string& error);
  void go_to(std::size_t step);  // nothing happens where there is none
  /// Whether the source of a step is being opened to go there.
  bool reopens() const;
  /// Where undo and redo start from.
  std::size_t target() const { return reopens() ? *going_to_ : at_; }
  /// The source of the step after this one, if it is another visit.
  std::optional<std::string> opening_after(std::size_t step) const;
  void leave();

  /// Rectangles that wait for the pairs of a column.
  struct Drawing {
    std::weak_ptr<const Computation> computation;  // of the column
    std::vector<DrawnRectangle> added;
  };

  Study& study_;
  Drawing drawing_;
  std::vector<Step> steps_;  // those of a visit follow each other
  std::vector<Visit> visits_;
  std::size_t at_ = 0;  // the step that was chosen; while other patches open, not shown yet
  std::optional<std::size_t> going_to_;  // a step of another visit, when its source is there
  std::string last_kind_;
  std::chrono::steady_clock::time_point last_time_;
  std::optional<MarkedText> marked_;  // until the edited text is there
};

}  // namespace fovea
