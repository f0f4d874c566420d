// WindowParts are what the parts of a MainWindow work on.
#pragma once

#include <QMainWindow>

#include "canvas/canvas.h"
#include "study/session_editor.h"
#include "window/docks/docks.h"
#include "window/widgets/find_bar.h"
#include "window/widgets/info_bar.h"

namespace fovea {

struct WindowParts {
  QMainWindow& window;
  std::shared_ptr<Background> background;
  Study& study;
  SessionEditor& editor;
  Canvas& canvas;
  Docks& docks;
  InfoBar& info_bar;
  FindBar& find_bar;

  /// In the status bar, for a while.
  void show_status(const QString& message) const;
  /// Above the canvas, until it is dismissed.
  void show_message(const QString& message) const;
  /// `write` writes the file in the background; then the status bar or a message says how it ended.
  /// `on_success` is called when it was written.
  void write_file(const QString& path, std::function<void()> write,
                  std::function<void()> on_success = {}) const;
};

}  // namespace fovea
