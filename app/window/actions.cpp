#include "window/actions.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <algorithm>

#include "data/address.h"
#include "input/open_source.h"
#include "views/views.h"
#include "window/add_action.h"
#include "window/canvas_keys.h"
#include "window/dialogs/glossary_dialog.h"
#include "window/dialogs/keys_dialog.h"
#include "window/dialogs/model_dialog.h"
#include "window/dialogs/order_dialog.h"
#include "window/dialogs/questions.h"
#include "window/main_window.h"
#include "window/opening_menus.h"
#include "window/parameter_popup.h"
#include "window/row_settings.h"
#include "window/tour.h"
#include "window/view_bar.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {
/// ": open gpt2.safetensors"; empty for a change of the Session.
QString opening_text(const std::optional<std::string>& source) {
  return source ? ": open " + escaped(to_qt(short_name(*source))) : QString();
}

class Actions : public QObject {
 public:
  Actions(MainWindow& window) : QObject(&window), window_(window) {
    make_file_menu();
    make_edit_menu();
    make_view_menu();
    make_variant_menu();
    make_compute_menu();
    make_help_menu();
    make_canvas_keys(window_);
    make_view_bar(window_, settings_);
    connect(&study_, &Study::session_changed, this, &Actions::refresh);
  }

  const GeneralFields& settings() const { return settings_; }

 private:
  QAction* add(QMenu* menu, const QString& name, const QString& text, const Keys& keys,
               Command run) {
    return add_action(window_, menu, name, text, keys, std::move(run));
  }

  /// An entry that is checked while `is_on`. Without a name it has no key.
  QAction* add_checked(QMenu* menu, const QString& name, const QString& text,
                       std::function<bool()> is_on, Command run, const Keys& keys = {}) {
    QAction* action = add(menu, name, text, keys, [this, run = std::move(run)] {
      run();
      refresh();  // the last view, which cannot be removed, stays checked
    });
    action->setCheckable(true);
    refreshers_.push_back([action, is_on = std::move(is_on)] { action->setChecked(is_on()); });
    return action;
  }

  void refresh() {
    for (const Command& refresher : refreshers_) refresher();
  }

  void make_file_menu() {
    QMenu* menu = add_menu("&File");
    add(menu, "open", "&Open…", QKeySequence::Open, [this] { files_.open_by_dialog(); });
    add(menu, "open_directory", "Open &directory…", {},
        [this] { files_.open_directory_by_dialog(); });
    add(menu, "open_model", "Open &model…", "Ctrl+Shift+O",
        [this] { show_open_model(window_.workspace(), files_); });
    add(menu, "open_address", "Open &address…", "Ctrl+L",
        [this] { files_.open_address_by_dialog(); });
    make_examples_menu(*menu->addMenu("Open &example"), files_);
    make_recent_menu(*menu->addMenu("Open &recent"), files_);
    menu->addSeparator();
    add(menu, "save", "&Save session", QKeySequence::Save, [this] { files_.save_session(); });
    add(menu, "save_as", "Save session &as…", "Ctrl+Shift+S",
        [this] { files_.save_session_by_dialog(); });
    QAction* capture = add(menu, "save_capture", "Save &capture…", {},
                           [this] { window_.live_bar().save_capture_by_dialog(); });
    capture->setToolTip("The step that a live stream shows, as a file");
    refreshers_.push_back(
        [this, capture] { capture->setEnabled(is_live(study_.session().source)); });
    add(menu, "export", "&Export…", "Ctrl+E", [this] { exports_.export_by_dialog(); });
    add(menu, "export_panel", "Export &panel…", {},
        [this] { exports_.export_panel_by_dialog(navigation_.view(), navigation_.column()); });
    add(menu, "report", "Write a r&eport…", {}, [this] { exports_.report_by_dialog(); });
    add(menu, "save_numbers", "Save &numbers of the panel…", {},
        [this] { exports_.save_numbers_by_dialog(navigation_.view(), navigation_.column()); });
    add(menu, "save_pairs", "Save pairs of &the column…", {},
        [this] { exports_.save_pairs_by_dialog(); });
    menu->addSeparator();
    add(menu, "quit", "&Quit", QKeySequence::Quit, [] { QApplication::closeAllWindows(); });
  }

  void make_edit_menu() {
    QMenu* menu = add_menu("&Edit");
    QAction* undo = add(menu, "undo", "&Undo", "Ctrl+Z", [this] {
      editor_.undo();
      refresh();  // a step of another source opens that source first
    });
    QAction* redo = add(menu, "redo", "&Redo", "Ctrl+Shift+Z", [this] {
      editor_.redo();
      refresh();
    });
    refreshers_.push_back([this, undo, redo] {
      undo->setEnabled(editor_.can_undo());
      undo->setText("&Undo" + opening_text(editor_.opening_to_undo()));
      redo->setEnabled(editor_.can_redo());
      redo->setText("&Redo" + opening_text(editor_.opening_to_redo()));
    });
    menu->addSeparator();
    add(menu, "copy", "&Copy panel", QKeySequence::Copy,
        [this] { exports_.copy_panel(navigation_.view(), navigation_.column()); });
    menu->addSeparator();
    add(menu, "worst", "Next &worst query", "Q", [this] { navigation_.step_worst(1); });
    add(menu, "less_bad", "Pre&vious worst query", "Shift+Q",
        [this] { navigation_.step_worst(-1); });
    add(menu, "goto", "&Go to query, key…", "Ctrl+G", [this] {
      if (const auto pair = ask_pair(window_.workspace()))
        navigation_.go_to(pair->first, pair->second);
    });
    add(menu, "find", "&Find a token…", QKeySequence::Find, [this] { find_bar_.open_bar(); });
    add(menu, "find_next", "Find &next", "F3", [this] { find_bar_.step(1); });
    add(menu, "find_previous", "Find &previous", "Shift+F3", [this] { find_bar_.step(-1); });
  }

  void make_view_menu() {
    QMenu* menu = add_menu("&View");
    make_rows(menu->addMenu("&Rows"));
    settings_ = add_settings(window_, *menu);
    add(menu, "row_settings", "Row se&ttings…", "S", [this] {
      const int row = navigation_.view();
      const QRectF panel = window_.canvas().panel_place(row, navigation_.column());
      window_.row_settings().open_at(window_.canvas().mapToGlobal(panel.topLeft()).toPoint(), row);
    });
    add(menu, "lock_range", "Lock or release the panel's ran&ge", {},
        [this] { window_.canvas().toggle_lock(navigation_.view(), navigation_.column()); });
    menu->addSeparator();
    add(menu, "fit", "F&it", "F", [this] { navigation_.fit(); });
    add(menu, "zoom_in", "Zoo&m in", "+", [this] { navigation_.zoom(0.8); });
    add(menu, "zoom_out", "Zoom o&ut", "-", [this] { navigation_.zoom(1.25); });
    make_panel_size(menu->addMenu("Panel si&ze"));
    add(menu, "enlarge", "En&large panel", "Z", [this] { navigation_.enlarge_panel(); });
    make_comparing(menu->addMenu("Compare with e&xact"));
    add(menu, "row_up", "Mo&ve row up", "Ctrl+Up", [this] { navigation_.move_view(-1); });
    add(menu, "row_down", "Move ro&w down", "Ctrl+Down", [this] { navigation_.move_view(1); });
    add(menu, "standard_pictures", "St&andard view settings", "Ctrl+R", [this] {
      editor_.change_settings([this](ViewSettings& settings) {
        settings = standard_session(study_.session().source, study_.length()).settings;
      });
    });
    menu->addSeparator();
    QMenu* look = menu->addMenu("T&heme");
    auto* looks = new QActionGroup(look);
    for (const auto& [name, text] :
         {std::pair{"desktop", "As the desktop"}, {"dark", "Dark"}, {"light", "Light"}}) {
      QAction* action =
          look->addAction(text, this, [this, name = QString(name)] { window_.set_look(name); });
      action->setCheckable(true);
      action->setData(name);
      looks->addAction(action);
    }
    QObject::connect(look, &QMenu::aboutToShow, looks, [this, looks] {
      for (QAction* action : looks->actions())
        action->setChecked(action->data().toString() == window_.look());
    });
    QMenu* docks = menu->addMenu("&Docks");
    for (const auto* dock : window_.findChildren<QDockWidget*>())
      docks->addAction(dock->toggleViewAction());
    docks->addSeparator();
    add(docks, "canvas_alone", "&Hide or show all", "F11",
        [this] { window_.docks().toggle_all(); });
    add(docks, "reset_layout", "&Reset layout", {}, [this] { window_.docks().arrange(); });
  }

  /// The menu also offers another column if that was chosen on the canvas.
  void make_comparing(QMenu* menu) {
    add(menu, "compare", "Compare in one panel: &next way", "C",
        [this] { comparing_.show_next(); });
    menu->addSeparator();
    for (const auto& [mode, name, text, key] :
         {std::tuple{ComparisonMode::split, "compare_split", "Compare: &split along the diagonal",
                     "D"},
          {ComparisonMode::wipe, "compare_wipe", "Compare: &wipe at the pointer", "W"},
          {ComparisonMode::blink, "compare_blink", "Compare: &blink", "K"}})
      add_checked(
          menu, name, text, [this, mode = mode] { return comparing_.mode() == mode; },
          [this, mode = mode] { comparing_.show(mode); }, key);
  }

  /// Ctrl with the wheel does the same.
  void make_panel_size(QMenu* menu) {
    Canvas& canvas = window_.canvas();
    add(menu, "larger_panels", "&Larger panels", "Ctrl++", [&canvas] { canvas.resize_panels(1); });
    add(menu, "smaller_panels", "&Smaller panels", "Ctrl+-",
        [&canvas] { canvas.resize_panels(-1); });
    add(menu, "fit_columns", "All &columns", "A", [&canvas] { canvas.fit_columns(); });
    add(menu, "standard_panels", "As the &window has room", "Ctrl+0",
        [&canvas] { canvas.standard_panels(); });
  }

  void make_rows(QMenu* menu) {
    for (const View view : all_views()) {
      const auto shown = [this, view] {
        return std::ranges::count(study_.session().views, view) > 0;
      };
      add_checked(menu, {}, to_qt(label_of(view)), shown,
                  [this, view, shown] { editor_.show_view(view, !shown()); });
    }
  }

  /// Says why not if it returns false.
  bool may_add_columns() {
    const bool nothing_is_open = study_.session().columns.empty();
    if (!nothing_is_open && !study_.shows_matrix()) return true;
    window_.info_bar().show_message(
        nothing_is_open ? "Nothing is open: open a text, an image, a model or a capture first"
                        : "This source holds only an attention matrix; variants need Q, K and V");
    return false;
  }

  /// Says why not if it returns false.
  bool has_room_for_column() {
    if (editor_.is_full())
      window_.info_bar().show_message(
          QString("A session has at most %1 columns: remove one first").arg(most_session_columns));
    return !editor_.is_full();
  }

  void make_variant_menu() {
    QMenu* menu = add_menu("V&ariant");
    add(menu, "add_columns", "&Add columns…", "V", [this] {
      if (may_add_columns() && has_room_for_column()) window_.show_add_columns();
    });
    const auto move = [this](int by) {
      navigation_.move_column(study_.selected_column(), study_.selected_column() + by);
    };
    add(menu, "remove", "&Remove column", QKeySequence::Delete, [this] {
      editor_.remove_column();
      navigation_.follow_column();
    });
    add(menu, "duplicate", "&Duplicate column", "Ctrl+D", [this] {
      if (!may_add_columns() || !has_room_for_column()) return;
      editor_.duplicate_column();
      navigation_.follow_column();
    });
    const auto holds = [this] {
      const auto& columns = study_.session().columns;
      const int c = study_.selected_column();
      return c < std::ssize(columns) && columns[c].held.has_value();
    };
    add_checked(
        menu, "hold", "&Keep this head", holds,
        [this, holds] {
          if (may_add_columns()) editor_.hold_head(!holds());
        },
        "H");
    const auto draw = [this](bool includes) {
      if (!may_add_columns()) return;
      if (const std::string fault = window_.workspace().drawing.draw(includes); !fault.empty())
        window_.workspace().show_status(to_qt(fault));
    };
    connect(&window_.workspace().drawing, &PairDrawing::drawn, this,
            [this] { navigation_.follow_column(); });
    add(menu, "include_pairs", "I&nclude the selected pairs", "I", [draw] { draw(true); });
    add(menu, "exclude_pairs", "E&xclude the selected pairs", "X", [draw] { draw(false); });
    menu->addSeparator();
    add(menu, "left", "Move &left", "Ctrl+Left", [move] { move(-1); });
    add(menu, "right", "Move r&ight", "Ctrl+Right", [move] { move(1); });
    menu->addSeparator();
    add(menu, "edit_parameters", "&Parameters…", "P", [this] {
      const int column = study_.selected_column();
      const QRectF panel = window_.canvas().panel_place(0, column);
      window_.parameter_popup().open_at(window_.canvas().mapToGlobal(panel.topLeft()).toPoint(),
                                        column);
    });
    add(menu, "reset", "Re&set parameters", "R", [this] { editor_.reset_column(); });
    add(menu, "first_look", "Standard &columns and rows", {},
        [this] { editor_.show_first_look(window_.first_views_in_sight()); });
  }

  void make_compute_menu() {
    QMenu* menu = add_menu("&Compute");
    add(menu, "cancel", "&Cancel, or go back a step", "Esc", [this] {
      if (window_.tour().isVisible()) return window_.tour().leave();
      window_.go_back();
    });
    add(menu, "again", "Compute and measure a&gain", "F5", [this] { study_.measure_again(); });
    menu->addSeparator();
    add(menu, "explore", "&Which attention?", "Ctrl+P",
        [this] { window_.docks().show_exploration(ExploreDock::Page::plot); });
    add(menu, "heads", "&Heads × variants", "Ctrl+H",
        [this] { window_.docks().show_exploration(ExploreDock::Page::heads); });
    add(menu, "measures", "What heads d&o", "Ctrl+Shift+H",
        [this] { window_.docks().show_exploration(ExploreDock::Page::measures); });
    add(menu, "triage", "Tria&ge for sparse prefill", "Ctrl+Shift+T",
        [this] { window_.docks().show_exploration(ExploreDock::Page::triage); });
    add(menu, "sweep", "Sweep over &n…", "Ctrl+T", [this] { window_.show_sweep(); });
    menu->addSeparator();
    const auto causal = [this] {
      return study_.session().conditions.causal.value_or(study_.problem() &&
                                                         study_.problem()->is_causal());
    };
    add_checked(menu, "causal", "C&ausal mask", causal, [this, causal] {
      editor_.change("causal", [now = causal()](Session& s) { s.conditions.causal = !now; });
    });
    QAction* stated = add(menu, "stated_mask", "Mask as the file &states", {}, [this] {
      editor_.change("causal", [](Session& s) { s.conditions.causal.reset(); });
    });
    refreshers_.push_back(
        [this, stated] { stated->setEnabled(study_.session().conditions.causal.has_value()); });
    const auto add_number = [&](const char* id, const char* text, const auto& condition) {
      add(menu, id, text, {}, [this, id, &condition] {
        if (const auto by_hand = ask(window_.workspace(), condition))
          editor_.change(id, [&](Session& s) { s.conditions.*condition.member = *by_hand; });
      });
    };
    add_number("scale", "&Scale…", condition::scale);
    add_number("sliding_window", "Sliding &window…", condition::window);
    add_number("soft_cap", "So&ft cap…", condition::soft_cap);
    QAction* order = add(menu, "order", "&Order of tokens…", {}, [this] {
      if (const auto address = ask_order(window_.workspace())) editor_.choose_order(*address);
    });
    refreshers_.push_back([this, order] {
      const std::string why = why_order_stays(window_.workspace());
      order->setEnabled(why.empty());
      order->setToolTip(to_qt(why));
    });
    add(menu, "memory_budget", "&Memory budget…", {},
        [this] { ask_memory_budget(window_.workspace()); });
    add(menu, "back_end", "&Back end…", {},
        [this] { ask_back_end(window_.workspace(), *window_.findChild<QAction*>("back_end")); });
  }

  void make_help_menu() {
    QMenu* menu = add_menu("&Help");
    add(menu, "keys", "&Keys", "?", [this] {
      const QList<QAction*> actions = window_.findChildren<QAction*>();
      KeysDialog({actions.begin(), actions.end()}, &window_).exec();
    });
    add(menu, "tour", "&Tour", {}, [this] { window_.tour().start(); });
    add(menu, "glossary", "&Glossary", {}, [this] {
      auto* glossary = new GlossaryDialog(&window_);
      glossary->setAttribute(Qt::WA_DeleteOnClose);
      glossary->show();
    });
    add(menu, "about", "&About Fovea", {}, [this] { show_about(window_); });
  }

  QMenu* add_menu(const QString& title) { return window_.menuBar()->addMenu(title); }

  MainWindow& window_;
  Study& study_ = window_.study();
  SessionEditor& editor_ = window_.editor();
  Files& files_ = window_.files();
  Exports& exports_ = window_.exports();
  Navigation& navigation_ = window_.navigation();
  Comparing& comparing_ = window_.comparing();
  FindBar& find_bar_ = window_.find_bar();
  std::vector<Command> refreshers_;
  GeneralFields settings_;
};

}  // namespace

GeneralFields make_actions(MainWindow& window) {
  return (new Actions(window))->settings();  // owned by the window
}

}  // namespace fovea
