// The RowSettings are the settings of one row of the canvas, which open at its title.
#pragma once

#include <QFrame>

#include "window/setting_fields.h"

class QBoxLayout;

namespace fovea {

struct Workspace;

class RowSettings : public QFrame {
  Q_OBJECT

 public:
  RowSettings(Workspace& workspace, GeneralFields general);

  /// Shows the settings of a row of the session at a point of the screen.
  void open_at(QPoint place, int row);

 private:
  void rebuild(int row);
  void add_buttons(QBoxLayout& line, int row);

  Workspace& workspace_;
  GeneralFields general_;
  SettingFieldList own_;  // of the row's view
  QWidget* page_ = nullptr;
};

}  // namespace fovea
