#include "window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QUrl>
#include <QVBoxLayout>

#include "window/dialogs/sweep_dialog.h"
#include "window/widgets/theme.h"
#include "window/widgets/view_bar.h"

namespace fovea {

MainWindow::MainWindow(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background,
                       QWidget* parent)
    : QMainWindow(parent),
      ask_desktop(desktop_is_dark),
      background_(background ? std::move(background) : std::make_shared<Background>()),
      study_(std::move(backend), background_),
      info_bar_(*new InfoBar(this)),
      find_bar_(*new FindBar(this)),
      canvas_(*new Canvas(this)),
      view_bar_(*new ViewBar(this)),
      docks_(*this, study_),
      parts_{*this, background_, study_, editor_, canvas_, docks_, info_bar_, find_bar_},
      status_(*this, study_),
      actions_(*this, parts_, files_, pictures_, navigation_, search_) {
  setWindowTitle("Fovea");
  setAcceptDrops(true);
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(&info_bar_);
  column->addWidget(&find_bar_);
  column->addWidget(&canvas_, 1);
  canvas_.setAccessibleName("Canvas");
  canvas_.setFocusPolicy(Qt::StrongFocus);
  setCentralWidget(centre);
  addToolBar(&view_bar_);
  connect_study();
  connect_input();
  resize(screen()->availableSize() * 0.96);
  const QSettings settings;
  restoreGeometry(settings.value("window/geometry").toByteArray());
  restoreState(settings.value("window/state").toByteArray());
  set_look(settings.value("look", "desktop").toString());
  canvas_.setFocus();
}

// The widgets are destroyed after the study. Neither may call the other while this goes on.
MainWindow::~MainWindow() {
  delete sweep_;
  study_.disconnect();
  for (QObject* sender :
       std::initializer_list<QObject*>{&canvas_, &find_bar_, &view_bar_, docks_.input,
                                       docks_.variant, docks_.inspector, docks_.timing})
    sender->disconnect();
}

void MainWindow::connect_study() {
  view_bar_.setEnabled(false);  // until there is something to see
  connect(&study_, &Study::opened, this, [this](bool new_source) {
    if (new_source) editor_.start();
    navigation_.reset();
    view_bar_.setEnabled(true);
  });
  connect(&study_, &Study::session_changed, this,
          [this] { view_bar_.show_settings(study_.session().settings); });
  connect(&study_, &Study::model_changed, this,
          [this](const auto& model) { view_bar_.show_use(*model); });
  connect(&study_, &Study::reported, &info_bar_, &InfoBar::show_message);
}

void MainWindow::connect_input() {
  const auto change_settings = [this](const ViewSettings& settings) {
    editor_.change_settings([&](ViewSettings& s) { s = settings; });
  };
  connect(&view_bar_, &ViewBar::settings_requested, this, change_settings);
  connect(&canvas_, &Canvas::settings_requested, this, change_settings);
  const auto on = [this](auto* sender, auto signal, auto slot) {
    connect(sender, signal, this, slot);
  };
  on(docks_.input, &InputDock::head_requested,
     [this](Index layer, Index head) { editor_.choose_head(layer, head); });
  on(docks_.input, &InputDock::patch_requested, [this](int patch) { editor_.choose_patch(patch); });
  on(docks_.input, &InputDock::query_chosen, [this](Index query) { editor_.pin(query); });
  on(docks_.input, &InputDock::query_stepped,
     [this](Index query) { editor_.change("pin", [&](Session& s) { s.pinned_query = query; }); });
  on(docks_.variant, &VariantDock::column_requested, [this](int index, const Column& column) {
    editor_.change("column " + std::to_string(index),
                   [&](Session& s) { s.columns[std::size_t(index)] = column; });
  });
  on(&canvas_, &Canvas::viewport_requested, [this](const Viewport& viewport) {
    editor_.change("viewport", [&](Session& s) { s.viewport = viewport; });
  });
  on(&canvas_, &Canvas::query_pinned, [this](Index query) { editor_.pin(query); });
  on(&canvas_, &Canvas::block_chosen, [this](int column, Index query, Index key) {
    study_.select_column(column);
    docks_.inspector->choose_block(column, query, key);
  });
  on(&canvas_, &Canvas::view_requested,
     [this](int row, View view) { editor_.replace_view(row, view); });
  on(&canvas_, &Canvas::action_requested,
     [this](const QString& name) { findChild<QAction*>(name)->trigger(); });
  connect(&canvas_, &Canvas::rectangle_selected, &study_, &Study::select);
  connect(&canvas_, &Canvas::column_chosen, &study_, &Study::select_column);
  connect(&canvas_, &Canvas::leaves_chosen, &study_, &Study::choose_leaves);
  connect(&canvas_, &Canvas::panel_pixels_changed, &study_, &Study::set_panel_pixels);
}

void MainWindow::show_sweep() {
  if (!sweep_)
    sweep_ = new SweepDialog(
        study_, background_, [this] { return status_.provenance(); }, this);
  sweep_->open_dialog();
}

void MainWindow::set_look(const QString& look) {
  look_ = look;
  QSettings().setValue("look", look);
  show_look();
}

void MainWindow::show_look() {
  const bool dark = look_ == "dark" || (look_ == "desktop" && ask_desktop());
  apply_theme(*qApp, dark);
  study_.set_dark(dark);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (sweep_) sweep_->close();
  study_.cancel();
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/state", saveState());
  files_.keep_last();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const auto urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  event->acceptProposedAction();
  open(urls.front().isLocalFile() ? urls.front().toLocalFile() : urls.front().toString());
}

bool MainWindow::event(QEvent* event) {
  // Every window of the program gets this event before any of them is polished again.
  if (event->type() == QEvent::ThemeChange && look_ == "desktop")
    QMetaObject::invokeMethod(this, &MainWindow::show_look, Qt::QueuedConnection);
  return QMainWindow::event(event);
}

}  // namespace fovea
