// NamedSpans is a list of the spans that were named by hand, with a line to name another one.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "study/session_editor.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTableWidget;
class QTableWidgetItem;

namespace fovea {

class NamedSpans : public QWidget {
  Q_OBJECT

 public:
  NamedSpans(Study& study, SessionEditor& editor);

  /// Puts the tokens into the line, where their name is typed next.
  void propose(IndexRange tokens);
  /// Asks how many tokens a frame has, and shows the frames among the named spans. If they cannot
  /// be named, a line says why.
  void add_frames();
  /// Shows the spans of the Session.
  void refresh();

 private:
  QWidget* make_line();
  void fill();
  void add();
  void change(const QTableWidgetItem& item);
  void remove();
  /// Whether there was no fault; else it is shown.
  bool say(const std::string& fault);
  void select_row(const Span& span);

  Study& study_;
  SessionEditor& editor_;
  std::vector<Span> shown_;
  QTableWidget* list_;
  QLineEdit *name_, *tokens_;
  QPushButton* remove_;
  QLabel* fault_;
};

}  // namespace fovea
