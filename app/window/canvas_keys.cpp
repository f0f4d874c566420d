#include "window/canvas_keys.h"

#include <QAction>
#include <algorithm>

#include "views/views.h"
#include "window/add_action.h"
#include "window/main_window.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

class CanvasKeys : public QObject {
 public:
  explicit CanvasKeys(MainWindow& window) : QObject(&window), window_(window) {
    make_keys_of_canvas();
    make_picture_keys();
  }

 private:
  /// Keys of the canvas. In other widgets, the focused widget handles them.
  void make_keys_of_canvas() {
    const auto on_canvas = [this](const QString& name, const QString& text, const Keys& keys,
                                  Command run) {
      QAction* action = add_action(window_, nullptr, name, text, keys, std::move(run));
      window_.removeAction(action);
      window_.canvas().addAction(action);
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
                QString("Pan %1 (moves the crosshair where all is seen)").arg(name), key,
                [this, down = down, right = right] { navigation_.pan(0.1 * down, 0.1 * right); });
      on_canvas(QString("crosshair_%1").arg(name), QString("Crosshair %1 by a token").arg(name),
                Qt::ALT | key,
                [this, down = down, right = right] { navigation_.move_crosshair(down, right); });
    }
    on_canvas("pin", "Pin the crosshair's query", Qt::Key_Return,
              [this] { navigation_.pin_crosshair(); });
    on_canvas("play", "Play the queries one after the other, or stop", Qt::Key_J,
              [this] { navigation_.play(); });
    on_canvas("corner", "Corner of a selection at the crosshair", Qt::Key_M,
              [this] { navigation_.mark_corner(); });
    on_canvas("block", "Singular values of the block at the crosshair", Qt::Key_B,
              [this] { navigation_.choose_block_at_crosshair(); });
    for (const auto& [name, key, by] :
         {std::tuple{"next", Qt::Key_BracketRight, 1}, {"previous", Qt::Key_BracketLeft, -1}})
      on_canvas(QString("leaf_%1").arg(name), QString("Select the %1 leaf or bucket").arg(name),
                key, [this, by = by] { navigation_.step_leaf(by); });
    for (const auto& [name, key, by] :
         {std::tuple{"previous", Qt::Key_PageUp, -1}, {"next", Qt::Key_PageDown, 1}})
      on_canvas(QString("row_%1").arg(name), QString("Go to the %1 row of panels").arg(name), key,
                [this, by = by] { navigation_.step_view(by); });
  }

  /// A key that goes on to the next choice of a setting of a view.
  void make_next_choice(View view, const ViewField& field) {
    const auto next = [this, view, &field] {
      const auto& choices = field.field.choices;
      const auto now = std::ranges::find(
          choices, std::get<std::string>(value_of(study_.session().settings, field)));
      const std::size_t at = std::size_t(now - choices.begin() + 1) % choices.size();
      editor_.change_settings([&](ViewSettings& s) { set_value(s, field, choices[at]); });
      const bool seen = std::ranges::count(study_.session().views, view) > 0;
      window_.workspace().show_status(to_qt(field.field.label + ": " + field.words[at].full) +
                                      (seen ? ""
                                            : " (there is no " + to_qt(view->id) +
                                                  " row: choose View > Rows > " +
                                                  to_qt(view->label) + ")"));
    };
    add_action(window_, nullptr, "next_" + to_qt(field.field.id), to_qt(field.key_text),
               to_qt(field.key), next);
  }

  /// Keys for how panels are drawn and which column is selected.
  void make_picture_keys() {
    for (const auto& [view, field] : view_fields())
      if (!field->key.empty()) make_next_choice(view, *field);
    const auto switch_norm = [this](Norm norm) {
      editor_.change_settings(
          [norm](ViewSettings& s) { s.norm = s.norm == norm ? Norm::linear : norm; });
      window_.workspace().show_status("Weights: " +
                                      to_qt(label_of(study_.session().settings.norm)));
    };
    add_action(window_, nullptr, "row_norm", "Normalise rows", "N",
               [=] { switch_norm(Norm::row_max); });
    add_action(window_, nullptr, "log_norm", "Logarithmic weights", "L",
               [=] { switch_norm(Norm::log); });
    for (int i = 1; i <= 9; ++i)
      add_action(window_, nullptr, QString("column_%1").arg(i), QString("Select column %1").arg(i),
                 QString::number(i), [this, i] { navigation_.choose_column(i - 1); });
  }

  MainWindow& window_;
  Study& study_ = window_.study();
  SessionEditor& editor_ = window_.editor();
  Navigation& navigation_ = window_.navigation();
};

}  // namespace

void make_canvas_keys(MainWindow& window) {
  new CanvasKeys(window);  // owned by the window
}

}  // namespace fovea
