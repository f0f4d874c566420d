#include "window/actions.h"

#include <QAction>
#include <QActionGroup>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <algorithm>

#include "drawing/colormap.h"
#include "input/assets.h"
#include "window/dialogs/keys_dialog.h"
#include "window/dialogs/questions.h"
#include "window/main_window.h"

namespace fovea {

Actions::Actions(MainWindow& window, WindowParts& parts, Files& files, Pictures& pictures,
                 Navigation& navigation, TokenSearch& search)
    : window_(window),
      parts_(parts),
      study_(parts.study),
      editor_(parts.editor),
      files_(files),
      pictures_(pictures),
      navigation_(navigation),
      search_(search) {
  make_file_menu();
  make_edit_menu();
  make_view_menu();
  make_variant_menu();
  make_compute_menu();
  make_help_menu();
  make_canvas_keys();
  make_picture_keys();
  QObject::connect(&study_, &Study::session_changed, &window, [this] { refresh(); });
}

QAction* Actions::add(QMenu* menu, const QString& name, const QString& text,
                      const QKeySequence& keys, Run run) {
  auto* action = new QAction(text, &window_);
  action->setObjectName(name);
  set_standard_key(*action, keys);
  QObject::connect(action, &QAction::triggered, action, [run = std::move(run)] { run(); });
  if (menu)
    menu->addAction(action);
  else
    window_.addAction(action);
  return action;
}

void Actions::add_checked(QMenu* menu, const QString& text, std::function<bool()> is_on, Run run,
                          const QString& name) {
  QAction* action = menu->addAction(text);
  action->setObjectName(name);
  if (!name.isEmpty()) set_standard_key(*action, {});
  action->setCheckable(true);
  QObject::connect(action, &QAction::triggered, action, [this, run = std::move(run)] {
    run();
    refresh();  // a choice that was chosen already stays checked
  });
  refreshers_.push_back([action, is_on = std::move(is_on)] { action->setChecked(is_on()); });
}

void Actions::refresh() {
  for (const Run& refresher : refreshers_) refresher();
}

void Actions::make_file_menu() {
  QMenu* menu = window_.menuBar()->addMenu("&File");
  add(menu, "open", "&Open…", QKeySequence::Open, [this] { files_.open_by_dialog(); });
  make_examples(menu->addMenu("Open &example"));
  make_recent(menu->addMenu("Open &recent"));
  menu->addSeparator();
  add(menu, "save", "&Save session", QKeySequence::Save, [this] { files_.save_session(); });
  add(menu, "export", "&Export…", QKeySequence("Ctrl+E"), [this] { pictures_.export_by_dialog(); });
  add(menu, "export_panel", "Export &panel…", {},
      [this] { pictures_.export_panel_by_dialog(navigation_.view(), navigation_.column()); });
  menu->addSeparator();
  add(menu, "quit", "&Quit", QKeySequence::Quit, [this] { window_.close(); });
}

void Actions::make_examples(QMenu* menu) {
  const auto example = [&](const QString& text, const QString& what) {
    menu->addAction(text, &window_, [this, what] { files_.open(what); });
  };
  const QString assets = QString::fromStdString(assets_directory());
  for (const auto& [text, path] :
       {std::pair{"A trained encoder's heads", "/minilm/minilm-l6.safetensors"},
        {"A text", "/text/fovea.txt"},
        {"A photograph: cat", "/image/cat.jpg"},
        {"A photograph: retina", "/image/retina.jpg"}})
    if (QFileInfo::exists(assets + path)) example(text, assets + path);
  menu->addSeparator();
  for (const char* what :
       {"synthetic:clusters?n=512&d=64&seed=1", "synthetic:smooth?n=512&d=64&seed=1",
        "synthetic:gaussian?n=512&d=64&seed=1", "synthetic:needle?n=512&d=64&seed=1",
        "synthetic:clusters?n=8192&d=64&seed=1", "synthetic:hmatrix", "synthetic:golden"})
    example(what, what);
}

void Actions::make_recent(QMenu* menu) {
  QObject::connect(menu, &QMenu::aboutToShow, menu, [this, menu] {
    menu->clear();
    for (const QString& path : QSettings().value("recent").toStringList())
      menu->addAction(path, menu, [this, path] { files_.open(path); });
    menu->addSeparator();
    menu->addAction("Clear", menu, [] { QSettings().remove("recent"); });
  });
}

void Actions::make_edit_menu() {
  QMenu* menu = window_.menuBar()->addMenu("&Edit");
  QAction* undo = add(menu, "undo", "&Undo", QKeySequence("Ctrl+Z"), [this] { editor_.undo(); });
  QAction* redo =
      add(menu, "redo", "&Redo", QKeySequence("Ctrl+Shift+Z"), [this] { editor_.redo(); });
  refreshers_.push_back([this, undo, redo] {
    undo->setEnabled(editor_.can_undo());
    redo->setEnabled(editor_.can_redo());
  });
  menu->addSeparator();
  add(menu, "copy", "&Copy panel", QKeySequence::Copy,
      [this] { pictures_.copy_panel(navigation_.view(), navigation_.column()); });
  menu->addSeparator();
  add(menu, "goto", "&Go to query, key…", QKeySequence("Ctrl+G"), [this] {
    if (const auto pair = ask_pair(window_, study_.length(), parts_.info_bar))
      navigation_.go_to(pair->first, pair->second);
  });
  add(menu, "find", "&Find a token…", QKeySequence::Find, [this] { parts_.find_bar.open_bar(); });
  add(menu, "find_next", "Find &next", QKeySequence("F3"), [this] { search_.step(1); });
  add(menu, "find_previous", "Find &previous", QKeySequence("Shift+F3"),
      [this] { search_.step(-1); });
}

template <class T>
void Actions::add_choices(QMenu* menu, const std::vector<std::pair<QString, T>>& choices,
                          T ViewSettings::*member) {
  auto* group = new QActionGroup(menu);  // one of them is chosen
  for (const auto& [text, value] : choices) {
    add_checked(
        menu, text, [this, member, v = value] { return study_.session().settings.*member == v; },
        [this, member, v = value] {
          editor_.change_settings([&](ViewSettings& settings) { settings.*member = v; });
        });
    group->addAction(menu->actions().back());
  }
}

void Actions::make_view_menu() {
  QMenu* menu = window_.menuBar()->addMenu("&View");
  QMenu* rows = menu->addMenu("&Rows");
  for (const View view : {View::heatmap, View::error, View::mask, View::rank, View::level,
                          View::tree, View::row, View::output, View::cost}) {
    const auto shown = [this, view] {
      return std::ranges::count(study_.session().views, view) > 0;
    };
    add_checked(rows, QString::fromStdString(to_text(view)), shown,
                [this, view, shown] { editor_.show_view(view, !shown()); });
  }
  make_settings_menus(menu);
  menu->addSeparator();
  add(menu, "fit", "&Fit", QKeySequence("F"), [this] { navigation_.fit(); });
  add(menu, "zoom_in", "Zoom &in", QKeySequence("+"), [this] { navigation_.zoom(0.8); });
  add(menu, "zoom_out", "Zoom o&ut", QKeySequence("-"), [this] { navigation_.zoom(1.25); });
  add(menu, "enlarge", "&Enlarge panel", QKeySequence("Z"),
      [this] { navigation_.enlarge_panel(); });
  add(menu, "row_up", "Move row u&p", QKeySequence("Ctrl+Up"),
      [this] { navigation_.move_view(-1); });
  add(menu, "row_down", "Move row &down", QKeySequence("Ctrl+Down"),
      [this] { navigation_.move_view(1); });
  add(menu, "standard_pictures", "Standard pic&ture settings", QKeySequence("Ctrl+R"), [this] {
    editor_.change_settings([this](ViewSettings& settings) {
      settings = standard_session(study_.session().source, study_.length()).settings;
    });
  });
  menu->addSeparator();
  QMenu* look = menu->addMenu("&Look");
  for (const auto& [name, text] :
       {std::pair{"desktop", "as the desktop"}, {"dark", "dark"}, {"light", "light"}})
    look->addAction(text, &window_, [this, name = QString(name)] { window_.set_look(name); });
  QMenu* docks = menu->addMenu("&Docks");
  for (QDockWidget* dock : parts_.docks.widgets) docks->addAction(dock->toggleViewAction());
}

void Actions::make_settings_menus(QMenu* menu) {
  add_choices<Norm>(
      menu->addMenu("&Norm"),
      {{"linear", Norm::linear}, {"logarithmic", Norm::log}, {"per row maximum", Norm::row_max}},
      &ViewSettings::norm);
  add_choices<ErrorKind>(menu->addMenu("&Error"),
                         {{"signed", ErrorKind::signed_difference},
                          {"absolute", ErrorKind::absolute},
                          {"squared", ErrorKind::squared},
                          {"relative", ErrorKind::relative},
                          {"log10 of absolute", ErrorKind::log10_absolute}},
                         &ViewSettings::error);
  std::vector<std::pair<QString, std::string>> maps;
  for (const auto& id : colormap_ids())
    if (colormap_for(Palette::sequential, id).id == id)
      maps.emplace_back(QString::fromStdString(id), id);
  add_choices<std::string>(menu->addMenu("&Colour map"), maps, &ViewSettings::colormap);
  add_choices<Pool::Kind>(menu->addMenu("&Pooling"),
                          {{"maximum of a pixel's entries", Pool::Kind::max},
                           {"mean of a pixel's entries", Pool::Kind::mean}},
                          &ViewSettings::pool);
  add_choices<Index>(
      menu->addMenu("Mask &block"),
      {{"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}},
      &ViewSettings::mask_block);
  add_choices<double>(menu->addMenu("Rank &tolerance"),
                      {{"0.1", 1e-1}, {"0.01", 1e-2}, {"0.001", 1e-3}, {"0.0001", 1e-4}},
                      &ViewSettings::rank_tolerance);
  add_choices<RankSubject>(menu->addMenu("Rank &of"),
                           {{"attention P", RankSubject::attention},
                            {"unnormalised A", RankSubject::unnormalised},
                            {"logits S", RankSubject::logits},
                            {"error", RankSubject::error}},
                           &ViewSettings::rank_of);
  add_checked(
      menu, "&Shared range", [this] { return study_.session().settings.shared_range; },
      [this] {
        editor_.change_settings([](ViewSettings& s) { s.shared_range = !s.shared_range; });
      },
      "shared");
  add(menu, "lock_range", "&Keep or release the panel's range", {},
      [this] { parts_.canvas.toggle_lock(int(navigation_.view()), int(navigation_.column())); });
}

void Actions::make_variant_menu() {
  QMenu* menu = window_.menuBar()->addMenu("V&ariant");
  QMenu* more = menu->addMenu("&Add");
  for (const Variant& variant : variants())
    more->addAction(
            QString::fromStdString(variant.label), &window_,
            [this, id = variant.id] {
              if (study_.shows_matrix())
                return parts_.show_message(
                    "This source holds only an attention matrix: variants need Q, K and V.");
              editor_.add_column(id);
            })
        ->setToolTip(QString::fromStdString(variant.summary));
  const auto move = [this](int by) {
    navigation_.move_column(study_.selected_column(), study_.selected_column() + by);
  };
  add(menu, "remove", "&Remove column", QKeySequence::Delete, [this] {
    editor_.remove_column();
    navigation_.follow_column();
  });
  add(menu, "left", "Move &left", QKeySequence("Ctrl+Left"), [move] { move(-1); });
  add(menu, "right", "Move r&ight", QKeySequence("Ctrl+Right"), [move] { move(1); });
  menu->addSeparator();
  add(menu, "reset", "Re&set parameters", QKeySequence("R"), [this] { editor_.reset_column(); });
}

void Actions::make_compute_menu() {
  QMenu* menu = window_.menuBar()->addMenu("&Compute");
  add(menu, "cancel", "&Cancel, or a step back", QKeySequence("Esc"),
      [this] { navigation_.go_back(); });
  add(menu, "again", "Compute &again", QKeySequence("F5"), [this] { study_.resume(); });
  add(menu, "sweep", "Sweep over &n…", QKeySequence("Ctrl+T"), [this] { window_.show_sweep(); });
  menu->addSeparator();
  const auto causal = [this] {
    return study_.session().causal.value_or(study_.problem() && study_.problem()->causal);
  };
  const auto switch_causal = [this, causal] {
    editor_.change("causal", [now = causal()](Session& s) { s.causal = !now; });
  };
  add_checked(menu, "C&ausal mask", causal, switch_causal, "causal");
  add(menu, "scale", "&Scale…", {}, [this] {
    if (!study_.problem()) return;
    if (const auto scale = ask_scale(window_, study_.problem()->scale, parts_.info_bar))
      editor_.change("scale", [&](Session& s) { s.scale = *scale; });
  });
  add(menu, "back_end", "&Back end…", {}, [this] {
    parts_.show_status("Looking for CUDA devices…");
    ask_back_end(window_, study_, *parts_.background);
  });
}

void Actions::make_help_menu() {
  QMenu* menu = window_.menuBar()->addMenu("&Help");
  add(menu, "keys", "&Keys", QKeySequence("?"), [this] {
    const QList<QAction*> actions = window_.findChildren<QAction*>();
    KeysDialog({actions.begin(), actions.end()}, &window_).exec();
  });
  add(menu, "about", "&About Fovea", {}, [this] { show_about(window_); });
}

// Keys that belong to the canvas: elsewhere the focused widget has them.
void Actions::make_canvas_keys() {
  const auto on_canvas = [this](const QString& name, const QString& text, const QKeySequence& keys,
                                Run run) {
    QAction* action = add(nullptr, name, text, keys, std::move(run));
    window_.removeAction(action);
    parts_.canvas.addAction(action);
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
              [this, down = down, right = right] { navigation_.pan(0.1 * down, 0.1 * right); });
    on_canvas(QString("crosshair_%1").arg(name), QString("Crosshair %1 by a token").arg(name),
              Qt::ALT | key,
              [this, down = down, right = right] { navigation_.move_crosshair(down, right); });
  }
  const auto leaf = [this](int by) { return [this, by] { navigation_.step_leaf(by); }; };
  const auto row = [this](int by) { return [this, by] { navigation_.step_view(by); }; };
  on_canvas("pin", "Pin the crosshair's query", Qt::Key_Return,
            [this] { navigation_.pin_crosshair(); });
  on_canvas("corner", "Corner of a selection at the crosshair", Qt::Key_M,
            [this] { navigation_.mark_corner(); });
  on_canvas("block", "Singular values of the block at the crosshair", Qt::Key_B,
            [this] { navigation_.choose_block_at_crosshair(); });
  on_canvas("leaf_next", "Next leaf or bucket", Qt::Key_BracketRight, leaf(1));
  on_canvas("leaf_previous", "Previous leaf or bucket", Qt::Key_BracketLeft, leaf(-1));
  on_canvas("row_previous", "Previous row of panels", Qt::Key_PageUp, row(-1));
  on_canvas("row_next", "Next row of panels", Qt::Key_PageDown, row(1));
}

// Keys for how pictures are drawn and which column is looked at.
void Actions::make_picture_keys() {
  add(nullptr, "next_error", "Next error kind", QKeySequence("E"), [this] {
    editor_.change_settings([](ViewSettings& settings) {
      settings.error = static_cast<ErrorKind>((static_cast<int>(settings.error) + 1) % 5);
    });
    const Session& s = study_.session();
    const bool seen = std::ranges::count(s.views, View::error) > 0;
    parts_.show_status("Error: " + QString::fromStdString(to_text(s.settings.error)) +
                       (seen ? "" : " (there is no error row: View > Rows > error)"));
  });
  const auto switch_norm = [this](Norm norm) {
    editor_.change_settings([norm](ViewSettings& settings) {
      settings.norm = settings.norm == norm ? Norm::linear : norm;
    });
    parts_.show_status("Weights: " +
                       QString::fromStdString(to_text(study_.session().settings.norm)));
  };
  add(nullptr, "row_norm", "Normalise rows", QKeySequence("N"),
      [switch_norm] { switch_norm(Norm::row_max); });
  add(nullptr, "log_norm", "Logarithmic", QKeySequence("L"),
      [switch_norm] { switch_norm(Norm::log); });
  for (int i = 1; i <= 9; ++i)
    add(nullptr, QString("column_%1").arg(i), QString("Choose column %1").arg(i),
        QKeySequence(QString::number(i)), [this, i] { navigation_.choose_column(i - 1); });
}

}  // namespace fovea
