// A SessionEditor changes the Session of a Study; every change is a step of undo.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "study/study.h"

namespace fovea {

class SessionEditor : public QObject {
  Q_OBJECT

 public:
  explicit SessionEditor(Study& study);

  /// Steps of one `kind` soon after each other are one: a slider dragged, a pan. An empty kind is
  /// always a step of its own.
  void change(const std::string& kind, const std::function<void(Session&)>& edit);
  void change_settings(const std::function<void(ViewSettings&)>& edit);
  /// The present Session becomes the first step.
  void start();
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < steps_.size(); }
  void undo() { go_to(at_ - 1); }
  void redo() { go_to(at_ + 1); }

  /// A row that is added goes where it stands in the menu, unless rows were moved.
  void show_view(View view, bool on);
  /// The row shows another view.
  void replace_view(int row, View view);
  /// False: there is no such row or column.
  bool move_view(int from, int to);
  bool move_column(int from, int to);
  void add_column(const std::string& variant);
  /// In one step; of those that are there already nothing is added. Selects the last one.
  void add_columns(const std::vector<Column>& columns);
  void remove_column();     // the selected one
  void duplicate_column();  // the selected one: an equal column right of it is selected
  /// The selected column holds the opened head while others are opened, or no longer does.
  void hold_head(bool on);
  /// A copy of the selected column that holds this head of the source, right of it.
  void add_column_of(Index layer, Index head);
  void reset_column();
  void choose_head(Index layer, Index head);
  void choose_patch(int patch);
  /// Pins the query; pinned already: unpins it.
  void pin(Index query);

  void choose_spans(SpanChoice choice);
  /// Names tokens, or changes the name or the tokens of a named span. Returns why it cannot, as a
  /// sentence without its full stop; empty: it did.
  std::string name_span(const Span& span);
  std::string change_span(std::size_t at, const Span& span);
  void remove_span(std::size_t at);

 private:
  void record(const Session& session, const std::string& kind);
  std::string set_spans(std::vector<Span> spans);
  void keep_shown_patches();
  void insert_copy(const std::function<void(Column&)>& edit);
  void go_to(std::size_t step);  // nothing happens where there is none

  Study& study_;
  std::vector<Session> steps_;
  std::size_t at_ = 0;  // the step that was chosen; while other patches open, not shown yet
  std::string last_kind_;
  std::chrono::steady_clock::time_point last_time_;
};

}  // namespace fovea
