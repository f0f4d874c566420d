// The AnswerBox says of the selected column what decides whether it can be used: its error, its
// cost, its time beside that of exact attention, and what to beware of.
#pragma once

#include <QWidget>

class QLabel;

namespace fovea {

class ShareBar;
class Study;
struct ColumnState;

class AnswerBox : public QWidget {
 public:
  explicit AnswerBox(Study& study);
  void refresh();

 private:
  /// A number, its word below it, and a bar if the number is a share.
  struct Figure {
    QLabel *number, *word;
    ShareBar* bar;
  };
  Figure make_figure(int place, const QString& tip);
  void show_figures(const ColumnState& state);
  void show_words(const ColumnState& state);

  Study& study_;
  QWidget* figures_;
  Figure error_, cost_, time_;
  QLabel *note_, *warnings_;
};

}  // namespace fovea
