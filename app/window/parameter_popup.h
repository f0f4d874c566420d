// The ParameterPopup edits the parameters of a column where they stand in its title.
#pragma once

#include <QFrame>

namespace fovea {

class ParameterForm;
struct Workspace;

class ParameterPopup : public QFrame {
  Q_OBJECT

 public:
  explicit ParameterPopup(Workspace& workspace);

  /// Selects a column and shows its parameters at a point of the screen.
  void open_at(QPoint place, int column);

 private:
  Workspace& workspace_;
  ParameterForm* form_;
};

}  // namespace fovea
