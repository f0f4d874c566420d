// A SessionEditor changes the Session of a Study; every change is a step of undo.
#pragma once

#include <functional>
#include <string>

#include "study/history.h"
#include "study/study.h"

namespace fovea {

class SessionEditor {
 public:
  explicit SessionEditor(Study& study) : study_(study) {}

  /// Steps of one `kind` in a row are one.
  void change(const std::string& kind, const std::function<void(Session&)>& edit);
  void change_settings(const std::function<void(ViewSettings&)>& edit);
  /// The present Session becomes the first step.
  void start() { history_.start(study_.session()); }
  bool can_undo() const { return history_.can_undo(); }
  bool can_redo() const { return history_.can_redo(); }
  void undo();
  void redo();

  /// A row that is added goes where it stands in the menu, unless rows were moved.
  void show_view(View view, bool on);
  /// The row shows another view.
  void replace_view(int row, View view);
  /// False: there is no such row or column.
  bool move_view(int from, int to);
  bool move_column(int from, int to);
  void add_column(const std::string& variant);
  void remove_column();  // the selected one
  void reset_column();
  void choose_head(Index layer, Index head);
  void choose_patch(int patch);
  /// Pins the query; pinned already: unpins it.
  void pin(Index query);

 private:
  Study& study_;
  History history_;
};

}  // namespace fovea
