// The FindBar searches tokens: those that contain its text are marked, and it steps through them.
#pragma once

#include <QFrame>
#include <optional>
#include <vector>

#include "data/lengths.h"

class QLabel;
class QLineEdit;

namespace fovea {

class MainWindow;

class FindBar : public QFrame {
  Q_OBJECT

 public:
  explicit FindBar(MainWindow& window);
  /// Shows itself and takes the focus; the text of the last search is selected.
  void open_bar();
  void close_bar();
  /// Shows the next match, or the previous one; opens the bar when it is closed.
  void step(int by);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// The view stays where it is.
  void mark(const QString& text);
  /// Marks, and shows the first match from the pinned query on.
  void start(const QString& text);
  std::size_t first_match() const;
  void show_match();
  void show_result(const QString& result);

  MainWindow& window_;
  QLineEdit* line_;
  QLabel* result_;
  Lengths lengths_;  // of the tokens that were searched
  /// A token that matches: a query, or a key where keys are other tokens.
  struct Match {
    bool is_key = false;
    Index token = 0;
  };
  std::vector<Match> found_;       // queries, then keys
  std::optional<std::size_t> at_;  // the match that was shown last
};

}  // namespace fovea
