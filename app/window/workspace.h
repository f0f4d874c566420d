// A Workspace is what the parts of a window work on: the study, what edits it and what runs beside
// it, the canvas, and the places where a part says what happened.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>
#include <string>

#include "canvas/canvas.h"
#include "study/background.h"
#include "study/effect_run.h"
#include "study/learning_run.h"
#include "study/pair_drawing.h"
#include "study/session_editor.h"
#include "study/study.h"
#include "study/validation_run.h"
#include "window/widgets/info_bar.h"

namespace fovea {

struct Workspace {
  /// `background` writes files and ends devices; null if the window has its own. The window owns
  /// the canvas and the info bar.
  Workspace(QMainWindow& window, std::unique_ptr<Backend> backend,
            std::shared_ptr<Background> background);

  /// Shows a message in the status bar for a while.
  void show_status(const QString& message);
  void clear_status();

  QMainWindow& window;  // the parent of dialogs
  std::shared_ptr<Background> background;
  Study study;
  SessionEditor editor{study};
  PairDrawing drawing{study, editor};
  LearningRun learning{study, editor};
  EffectRun effect{study, editor};
  ValidationRun validation{study, editor, learning};
  InfoBar& info_bar;
  Canvas& canvas;
  /// The session of what is shown, as figures carry it: without the layout of docks. Files gives
  /// it.
  std::function<std::string()> session_text;
};

}  // namespace fovea
