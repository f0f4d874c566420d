// The keys of the MainWindow that no menu shows; all are listed under Help > Keys.
#include <QAction>
#include <algorithm>

#include "window/main_window.h"

namespace fovea {

/// Keys that belong to the canvas: elsewhere the focused widget has them.
void MainWindow::make_canvas_keys() {
  const auto on_canvas = [this](const QString& name, const QString& text, const QKeySequence& keys,
                                std::function<void()> run) {
    QAction* action = add(nullptr, name, text, keys, std::move(run));
    removeAction(action);
    canvas_->addAction(action);
    action->setShortcutContext(Qt::WidgetShortcut);
  };
  struct Direction {
    const char* name;
    Qt::Key key;
    int down, right;
  };
  for (const auto& [name, key, down, right] : {Direction{"left", Qt::Key_Left, 0, -1},
                                               {"right", Qt::Key_Right, 0, 1},
                                               {"up", Qt::Key_Up, -1, 0},
                                               {"down", Qt::Key_Down, 1, 0}}) {
    on_canvas(QString("pan_%1").arg(name),
              QString("Pan %1 (the crosshair, where all is seen)").arg(name), key,
              [this, down = down, right = right] { pan(0.1 * down, 0.1 * right); });
    on_canvas(QString("crosshair_%1").arg(name), QString("Crosshair %1 by a token").arg(name),
              Qt::ALT | key, [this, down = down, right = right] { move_crosshair(down, right); });
  }
  on_canvas("pin", "Pin the crosshair's query", Qt::Key_Return, [this] { pin_crosshair(); });
  on_canvas("corner", "Corner of a selection at the crosshair", Qt::Key_M,
            [this] { mark_corner(); });
  on_canvas("block", "Singular values of the block at the crosshair", Qt::Key_B,
            [this] { choose_block_at_crosshair(); });
  on_canvas("leaf_next", "Next leaf or bucket", Qt::Key_BracketRight, [this] { step_leaf(1); });
  on_canvas("leaf_previous", "Previous leaf or bucket", Qt::Key_BracketLeft,
            [this] { step_leaf(-1); });
  on_canvas("row_previous", "Previous row of panels", Qt::Key_PageUp, [this] { step_row(-1); });
  on_canvas("row_next", "Next row of panels", Qt::Key_PageDown, [this] { step_row(1); });
}

/// Keys for how pictures are drawn and which column is looked at.
void MainWindow::make_picture_keys() {
  add(nullptr, "next_error", "Next error kind", QKeySequence("E"), [this] {
    change("settings", [](Session& s) {
      s.settings.error = static_cast<ErrorKind>((static_cast<int>(s.settings.error) + 1) % 5);
    });
    const Session& s = study_->session();
    const bool seen = std::ranges::find(s.views, View::error) != s.views.end();
    say("Error: " + QString::fromStdString(to_text(s.settings.error)) +
        (seen ? "" : " (there is no error row: View > Rows > error)"));
  });
  const auto switch_norm = [this](Norm norm) {
    change("settings",
           [norm](Session& s) { s.settings.norm = s.settings.norm == norm ? Norm::linear : norm; });
    say("Weights: " + QString::fromStdString(to_text(study_->session().settings.norm)));
  };
  add(nullptr, "row_norm", "Normalise rows", QKeySequence("N"),
      [switch_norm] { switch_norm(Norm::row_max); });
  add(nullptr, "log_norm", "Logarithmic", QKeySequence("L"),
      [switch_norm] { switch_norm(Norm::log); });
  for (int i = 1; i <= 9; ++i)
    add(nullptr, QString("column_%1").arg(i), QString("Choose column %1").arg(i),
        QKeySequence(QString::number(i)), [this, i] { choose_column(i - 1); });
}

}  // namespace fovea
