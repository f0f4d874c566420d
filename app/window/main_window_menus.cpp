// The menus and keys of the MainWindow.
#include <QAction>
#include <QActionGroup>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>

#include "drawing/colormap.h"
#include "input/assets.h"
#include "window/dialogs/keys_dialog.h"
#include "window/main_window.h"
#include "window/widgets/find_bar.h"

namespace fovea {

QAction* MainWindow::add(QMenu* menu, const QString& name, const QString& text,
                         const QKeySequence& keys, std::function<void()> run) {
  auto* action = new QAction(text, this);
  action->setObjectName(name);
  set_standard_key(*action, keys);
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  if (menu)
    menu->addAction(action);
  else
    addAction(action);
  return action;
}

void MainWindow::make_menus() {
  make_file_menu();
  make_edit_menu();
  make_view_menu();
  make_variant_menu();
  make_compute_menu();
  make_help_menu();
  make_canvas_keys();
  make_picture_keys();
}

void MainWindow::make_file_menu() {
  QMenu* menu = menuBar()->addMenu("&File");
  add(menu, "open", "&Open…", QKeySequence::Open, [this] { open_by_dialog(); });
  QMenu* examples = menu->addMenu("Open &example");
  const QString assets = QString::fromStdString(assets_directory());
  const std::pair<const char*, const char*> bundled[] = {
      {"A trained encoder's heads", "/minilm/minilm-l6.safetensors"},
      {"A text", "/text/fovea.txt"},
      {"A photograph: cat", "/image/cat.jpg"},
      {"A photograph: retina", "/image/retina.jpg"}};
  for (const auto& [text, path] : bundled)
    if (QFileInfo::exists(assets + path))
      examples->addAction(text, this, [this, what = assets + path] { open(what); });
  examples->addSeparator();
  for (const char* what :
       {"synthetic:clusters?n=512&d=64&seed=1", "synthetic:smooth?n=512&d=64&seed=1",
        "synthetic:gaussian?n=512&d=64&seed=1", "synthetic:needle?n=512&d=64&seed=1",
        "synthetic:clusters?n=8192&d=64&seed=1", "synthetic:hmatrix", "synthetic:golden"})
    examples->addAction(what, this, [this, what] { open(what); });
  recent_menu_ = menu->addMenu("Open &recent");
  connect(recent_menu_, &QMenu::aboutToShow, this, [this] {
    recent_menu_->clear();
    for (const QString& path : QSettings().value("recent").toStringList())
      recent_menu_->addAction(path, this, [this, path] { open(path); });
    recent_menu_->addSeparator();
    recent_menu_->addAction("Clear", this, [] { QSettings().remove("recent"); });
  });
  menu->addSeparator();
  add(menu, "save", "&Save session", QKeySequence::Save, [this] { save_session(); });
  add(menu, "export", "&Export…", QKeySequence("Ctrl+E"), [this] { export_by_dialog(); });
  menu->addSeparator();
  add(menu, "quit", "&Quit", QKeySequence::Quit, [this] { close(); });
}

void MainWindow::make_edit_menu() {
  QMenu* menu = menuBar()->addMenu("&Edit");
  undo_ = add(menu, "undo", "&Undo", QKeySequence("Ctrl+Z"), [this] {
    if (history_.can_undo()) study_->set_session(history_.undo());
  });
  redo_ = add(menu, "redo", "&Redo", QKeySequence("Ctrl+Shift+Z"), [this] {
    if (history_.can_redo()) study_->set_session(history_.redo());
  });
  menu->addSeparator();
  add(menu, "copy", "&Copy panel", QKeySequence::Copy, [this] { copy_panel(); });
  menu->addSeparator();
  add(menu, "goto", "&Go to query, key…", QKeySequence("Ctrl+G"), [this] { go_to_pair(); });
  add(menu, "find", "&Find a token…", QKeySequence::Find, [this] { find_bar_->open(); });
  add(menu, "find_next", "Find &next", QKeySequence("F3"), [this] { step_match(1); });
  add(menu, "find_previous", "Find &previous", QKeySequence("Shift+F3"),
      [this] { step_match(-1); });
}

template <class T>
void MainWindow::add_choices(QMenu* menu, const std::vector<std::pair<QString, T>>& choices,
                             T ViewSettings::*member) {
  auto* group = new QActionGroup(menu);
  for (const auto& [text, value] : choices) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, member, v = value] {
      change("settings", [&](Session& s) { s.settings.*member = v; });
    });
    menu_refreshers_.push_back([this, action, member, v = value] {
      action->setChecked(study_->session().settings.*member == v);
    });
  }
}

void MainWindow::make_view_menu() {
  QMenu* menu = menuBar()->addMenu("&View");
  QMenu* views = menu->addMenu("&Rows");
  for (View view : {View::heatmap, View::error, View::mask, View::rank, View::level, View::tree,
                    View::row, View::output, View::cost}) {
    QAction* action = views->addAction(QString::fromStdString(to_text(view)));
    action->setCheckable(true);
    connect(action, &QAction::triggered, this, [this, view](bool on) { show_picture(view, on); });
    view_actions_[view] = action;
  }
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
  shared_ = add(menu, "shared", "&Shared range", {}, [this] {
    change("settings", [](Session& s) { s.settings.shared_range = !s.settings.shared_range; });
  });
  shared_->setCheckable(true);
  menu->addSeparator();
  add(menu, "fit", "&Fit", QKeySequence("F"), [this] { fit(); });
  add(menu, "zoom_in", "Zoom &in", QKeySequence("+"), [this] { zoom(0.8); });
  add(menu, "zoom_out", "Zoom o&ut", QKeySequence("-"), [this] { zoom(1.25); });
  add(menu, "enlarge", "&Enlarge panel", QKeySequence("Z"), [this] { enlarge_panel(); });
  add(menu, "row_up", "Move row u&p", QKeySequence("Ctrl+Up"), [this] { move_row(-1); });
  add(menu, "row_down", "Move row &down", QKeySequence("Ctrl+Down"), [this] { move_row(1); });
  add(menu, "standard_pictures", "Standard pic&ture settings", QKeySequence("Ctrl+R"), [this] {
    change("settings", [this](Session& s) {
      s.settings = standard_session(s.source, study_->length()).settings;
    });
  });
  menu->addSeparator();
  QMenu* look = menu->addMenu("&Look");
  for (const auto& [name, text] :
       {std::pair{"desktop", "as the desktop"}, {"dark", "dark"}, {"light", "light"}})
    look->addAction(text, this, [this, name = QString(name)] { set_look(name); });
  QMenu* docks = menu->addMenu("&Docks");
  for (QDockWidget* dock : docks_) docks->addAction(dock->toggleViewAction());
}

void MainWindow::make_variant_menu() {
  QMenu* menu = menuBar()->addMenu("V&ariant");
  QMenu* more = menu->addMenu("&Add");
  for (const Variant& variant : variants())
    more->addAction(QString::fromStdString(variant.label), this,
                    [this, id = variant.id] { add_column(id); })
        ->setToolTip(QString::fromStdString(variant.summary));
  add(menu, "remove", "&Remove column", QKeySequence::Delete, [this] { remove_column(); });
  add(menu, "left", "Move &left", QKeySequence("Ctrl+Left"),
      [this] { move_column(study_->selected_column(), study_->selected_column() - 1); });
  add(menu, "right", "Move r&ight", QKeySequence("Ctrl+Right"),
      [this] { move_column(study_->selected_column(), study_->selected_column() + 1); });
  menu->addSeparator();
  add(menu, "reset", "Re&set parameters", QKeySequence("R"), [this] { reset_column(); });
}

void MainWindow::make_compute_menu() {
  QMenu* menu = menuBar()->addMenu("&Compute");
  add(menu, "cancel", "&Cancel, or a step back", QKeySequence("Esc"), [this] { go_back(); });
  add(menu, "again", "Compute &again", QKeySequence("F5"), [this] { study_->resume(); });
  add(menu, "sweep", "Sweep over &n…", QKeySequence("Ctrl+T"), [this] { show_sweep(); });
  menu->addSeparator();
  causal_ = add(menu, "causal", "C&ausal mask", {}, [this] {
    const bool now = study_->problem() && study_->problem()->causal;
    change("causal", [&](Session& s) { s.causal = !now; });
  });
  causal_->setCheckable(true);
  add(menu, "scale", "&Scale…", {}, [this] { ask_scale(); });
  add(menu, "back_end", "&Back end", {}, [this] { show_back_end(); });
}

void MainWindow::make_help_menu() {
  QMenu* menu = menuBar()->addMenu("&Help");
  add(menu, "keys", "&Keys", QKeySequence("?"), [this] { show_keys(); });
  add(menu, "about", "&About Fovea", {}, [this] { show_about(); });
}

void MainWindow::refresh_menus() {
  const Session& session = study_->session();
  for (const auto& [view, action] : view_actions_)
    action->setChecked(std::ranges::find(session.views, view) != session.views.end());
  for (const auto& refresh : menu_refreshers_) refresh();
  shared_->setChecked(session.settings.shared_range);
  causal_->setChecked(session.causal.value_or(study_->problem() && study_->problem()->causal));
  undo_->setEnabled(history_.can_undo());
  redo_->setEnabled(history_.can_redo());
}

}  // namespace fovea
