// A CanvasFeed passes the study's model on to the canvas; while Shift is held with exact attention
// in place of the other columns.
#pragma once

#include <QObject>

#include "window/window_parts.h"

namespace fovea {

class CanvasFeed : public QObject {
  Q_OBJECT

 public:
  explicit CanvasFeed(WindowParts& parts);

 protected:
  /// Of the whole application: Shift may be held anywhere in the window.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_model();
  void show_exact(bool on);

  WindowParts& parts_;
  bool exact_ = false;
};

}  // namespace fovea
