// The FindBar searches tokens: it marks those that contain its text and steps through them.
#pragma once

#include <QFrame>
#include <optional>
#include <vector>

#include "data/lengths.h"

class QLabel;
class QLineEdit;

namespace fovea {

class Navigation;
struct Docks;
struct Workspace;

class FindBar : public QFrame {
  Q_OBJECT

 public:
  FindBar(Workspace& workspace, Docks& docks, Navigation& navigation);
  /// Shows itself and takes the focus; the text of the last search is selected.
  void open_bar();
  void close_bar();
  /// Shows the next or the previous match; opens the bar if it is closed.
  void step(int by);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Marks matches without moving the view.
  void mark(const QString& text);
  /// Marks matches and shows the first one from the pinned query on.
  void start(const QString& text);
  std::size_t first_match() const;
  void show_match();
  void show_result(const QString& result);

  Workspace& workspace_;
  Docks& docks_;
  Navigation& navigation_;
  QLineEdit* line_;
  QLabel* result_;
  Lengths lengths_;  // of the tokens that were searched
  /// Tokens that hold the text: queries, or keys if keys are other tokens.
  struct Match {
    bool is_key = false;
    IndexRange tokens;
  };
  std::vector<Match> found_;       // queries, then keys
  std::optional<std::size_t> at_;  // the match that was shown last
};

}  // namespace fovea
