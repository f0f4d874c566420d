// The LearningBox learns the tree of the selected column: Learn, Pause, Resume, Revert, and how far
// it is. It is hidden for columns without a tree.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace fovea {

class LearningRun;
class Study;

class LearningBox : public QWidget {
 public:
  LearningBox(Study& study, LearningRun& run);
  void refresh();

 private:
  QString text() const;

  Study& study_;
  LearningRun& run_;
  QPushButton *learn_, *revert_;
  QLabel* progress_;
};

}  // namespace fovea
