#include "window/main_window.h"

#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QScreen>
#include <QSettings>
#include <QTabBar>
#include <QUrl>
#include <algorithm>

#include "data/model_address.h"
#include "input/assets.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "views/views.h"
#include "window/actions.h"
#include "window/dialogs/add_column_dialog.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/parameter_popup.h"
#include "window/row_settings.h"
#include "window/spoken_canvas.h"
#include "window/status_line.h"
#include "window/tour.h"
#include "window/widgets/floating_bars.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"
#include "window/widgets/wheel_rule.h"

namespace fovea {
namespace {

// Replaces the pictures of every column by those of exact attention of the same head if there is
// such a column; comparisons with exact stay.
std::shared_ptr<const CanvasModel> with_exact_in_place(
    const std::shared_ptr<const CanvasModel>& model) {
  auto shown = std::make_shared<CanvasModel>(*model);
  shown->in_place_of = model;
  const auto is_picture = [](const CanvasCell& cell) {
    return cell.panel && (std::holds_alternative<Raster>(cell.panel->body) ||
                          std::holds_alternative<BlockMap>(cell.panel->body) ||
                          std::holds_alternative<OutputPicture>(cell.panel->body));
  };
  for (int c = 0; c < std::ssize(shown->column_subtitles); ++c) {
    const auto exact = model->exact_of(c);
    if (!exact) continue;
    for (auto& row : shown->cells)
      if (*exact < std::ssize(row) && is_picture(row[*exact])) row[c] = row[*exact];
    shown->column_subtitles[c] = "exact while Shift is held; errors are the column's";
    shown->column_figures[c].reset();
  }
  return shown;
}

constexpr const char* words_on_cancelled = "Cancelled.";

/// Whether a field handles undo, or redo, itself; true for everything that is not a field.
bool has_own_step(QObject* watched, bool undo) {
  if (const QLineEdit* line = line_of(qobject_cast<QWidget*>(watched))) return line->isModified();
  const auto* text = qobject_cast<QPlainTextEdit*>(watched);
  return !text ||
         (undo ? text->document()->isUndoAvailable() : text->document()->isRedoAvailable());
}

}  // namespace

MainWindow::MainWindow(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background,
                       QWidget* parent)
    : QMainWindow(parent),
      ask_desktop(desktop_is_dark),
      workspace_(*this, std::move(backend), std::move(background)),
      find_bar_(*new FindBar(workspace_, docks_, navigation_)),
      live_bar_(*new LiveBar(workspace_, files_, exports_)),
      recovery_bar_(*new RecoveryBar(*this)),
      recovery_(*new Recovery(workspace_, files_)) {
  setWindowTitle("Fovea");
  setAcceptDrops(true);
  auto* centre = new FloatingBars(canvas());
  // Titles stay in sight: bars lie over the bottom of the canvas.
  for (QWidget* bar :
       std::initializer_list<QWidget*>{&recovery_bar_, &info_bar(), &find_bar_, &live_bar_})
    centre->add(*bar);
  canvas().setAccessibleName("Canvas");
  canvas().setFocusPolicy(Qt::StrongFocus);
  auto* middle = new QWidget;
  auto* stack = make_inner<QVBoxLayout>(middle);
  stack->setSpacing(0);
  stack->addWidget(centre, 1);
  stack->addWidget(docks_.strip);
  setCentralWidget(middle);
  make_status_line(*this);
  row_settings_ = new RowSettings(workspace_, make_actions(*this));
  parameter_popup_ = new ParameterPopup(workspace_);
  tour_ = new Tour(*this);
  new SpokenCanvas(study(), canvas());
  connect_study();
  connect_canvas();
  qApp->installEventFilter(this);
  if (!qApp->findChild<WheelRule*>()) qApp->installEventFilter(new WheelRule(qApp));
  resize(screen()->availableSize() * 0.96);
  const QSettings settings;
  restoreGeometry(settings.value("window/geometry").toByteArray());
  docks_.restore_layout(settings.value("window/state").toByteArray());
  set_look(settings.value("look", "desktop").toString());
  canvas().setFocus();
}

// The widgets refer to the study and to what runs on it, and are destroyed after them: neither may
// call the other any more. A run that is destroyed stops, and says so.
MainWindow::~MainWindow() {
  delete sweep_;
  delete docks_.exploration;
  delete add_columns_;
  qApp->removeEventFilter(this);
  for (QObject* sender :
       std::initializer_list<QObject*>{&workspace_.study, &workspace_.editor, &workspace_.learning,
                                       &workspace_.effect, &workspace_.validation})
    sender->disconnect();
  for (QWidget* widget : findChildren<QWidget*>()) widget->blockSignals(true);
}

void MainWindow::open_at_first(const QString& what) {
  opens_at_first_ = !is_session_file(what.toStdString());
  open(what);
}

void MainWindow::fill_canvas() {
  Session session = study().session();
  if (session.views != first_views()) return;  // those of a source that is no head to be computed
  session.views = first_views_in_sight();
  study().set_session(session);
}

std::vector<View> MainWindow::first_views_in_sight() {
  if (!study().source()) return first_views();
  const int columns = int(first_session(*study().source()).columns.size());
  return first_views(canvas().rows_in_sight(columns), study().length());
}

// Docks get a tab bar when they are put behind each other.
void MainWindow::childEvent(QChildEvent* event) {
  auto* tabs = event->polished() ? qobject_cast<QTabBar*>(event->child()) : nullptr;
  if (tabs) tabs->setAccessibleName("Docks behind each other");
  QMainWindow::childEvent(event);
}

void MainWindow::connect_study() {
  connect(&study(), &Study::opened, this, [this](bool new_source) {
    if (std::exchange(opens_at_first_, false)) fill_canvas();  // before there are steps to undo
    if (new_source) editor().start();
    navigation_.reset();
  });
  connect(docks_.exploration, &ExploreDock::columns_shown, this,
          [this] { navigation_.follow_column(); });
  connect(&study(), &Study::not_opened, this, [this] { opens_at_first_ = false; });
  connect(&study(), &Study::reported, &info_bar(), &InfoBar::show_message);
  connect(&study(), &Study::columns_changed, this, &MainWindow::hide_cancelled);
  connect(&study(), &Study::model_changed, this, &MainWindow::show_model);
  connect(&study(), &Study::leaves_chosen, this, [this] {
    const ChosenLeaves leaves = study().marks().chosen().value_or(ChosenLeaves{});
    canvas().set_chosen_leaves(leaves.column, leaves.leaves);
  });
}

void MainWindow::connect_canvas() {
  // Until the new head has a picture the canvas shows the previous head. Gestures on it are ignored
  // if the lengths of both differ.
  const auto on_shown_tokens = [this](auto act) {
    return [this, act](const auto&... tokens) {
      const auto model = study().model();
      if (model && model->lengths == study().lengths()) act(tokens...);
    };
  };
  connect(&canvas(), &Canvas::viewport_requested, this,
          on_shown_tokens([this](const Viewport& viewport) {
            change("viewport", [&](Session& s) { s.viewport = viewport; });
          }));
  connect(&canvas(), &Canvas::query_pinned, this,
          on_shown_tokens([this](Index query) { editor().pin(query); }));
  connect(&canvas(), &Canvas::block_chosen, this,
          on_shown_tokens([this](int column, Index query, Index key) {
            study().choose_block(PointedPair{query, key, column});
          }));
  connect(
      &canvas(), &Canvas::rectangle_selected, this,
      on_shown_tokens([this](IndexRange rows, IndexRange cols) { study().select(rows, cols); }));
  connect(&canvas(), &Canvas::settings_requested, this, [this](const ViewSettings& settings) {
    editor().change_settings([&](ViewSettings& s) { s = settings; });
  });
  connect(&canvas(), &Canvas::view_requested, this,
          [this](int row, View view) { editor().replace_view(row, view); });
  connect(&canvas(), &Canvas::row_settings_requested, this, [this](int row, QPointF at) {
    row_settings_->open_at(canvas().mapToGlobal(at).toPoint(), row);
  });
  connect(&canvas(), &Canvas::parameters_requested, this, [this](int column, QPointF at) {
    parameter_popup_->open_at(canvas().mapToGlobal(at).toPoint(), column);
  });
  connect(&canvas(), &Canvas::action_requested, this,
          [this](const QString& name) { findChild<QAction*>(name)->trigger(); });
  connect(&canvas(), &Canvas::column_chosen, &study(), &Study::select_column);
  connect(&canvas(), &Canvas::leaves_chosen, &study(), &Study::choose_leaves);
  connect(&canvas(), &Canvas::panel_pixels_changed, &study(), &Study::set_panel_pixels);
  connect(&canvas(), &Canvas::sight_changed, &study(), &Study::set_sight);
}

void MainWindow::show_model() {
  auto model = study().model();
  if (!model) return;
  if (exact_in_place_) model = with_exact_in_place(model);
  canvas().set_model(model);
  docks_.key_sequence->set_marked({}, study().marks().keys());
  docks_.sequence->set_marked(study().marks().queries(), study().has_own_keys()
                                                             ? std::vector<Index>()
                                                             : study().marks().keys());
}

void MainWindow::show_exact(bool on) {
  if (on == exact_in_place_) return;
  const bool there = std::ranges::any_of(study().session().columns, is_reference, &Column::variant);
  if (on && !there && study().source() && !study().shows_matrix())
    workspace_.show_status(
        "There is no exact column to show in place: choose Variant > Add > Exact");
  exact_in_place_ = on && there;
  show_model();
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease;
  if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Shift) {
    // Shift is no request while a capital letter is typed.
    const QWidget* focus = QApplication::focusWidget();
    const bool typing = focus && (qobject_cast<const QLineEdit*>(focus) ||
                                  qobject_cast<const QPlainTextEdit*>(focus) ||
                                  qobject_cast<const QAbstractSpinBox*>(focus));
    show_exact(event->type() == QEvent::KeyPress && isActiveWindow() && !typing);
  }
  // Undo in a field is the field's own only while something is typed there.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* pressed = static_cast<QKeyEvent*>(event);
    const auto* label = qobject_cast<QLabel*>(watched);
    if (label && label->hasSelectedText() && pressed->matches(QKeySequence::Copy)) {
      event->accept();  // the label copies it, not the window a panel
      return true;
    }
    const bool undo = pressed->matches(QKeySequence::Undo);
    if ((undo || pressed->matches(QKeySequence::Redo)) && !has_own_step(watched, undo)) {
      event->ignore();
      return true;
    }
  }
  if (watched == this && event->type() == QEvent::WindowDeactivate)
    show_exact(false);  // the release goes to another window
  return QMainWindow::eventFilter(watched, event);
}

void MainWindow::cancel() {
  if (exports_.can_cancel()) return exports_.cancel();
  study().cancel();
  if (study().paused() && study().source())
    info_bar().offer(words_on_cancelled, "Resume", [this] { study().resume(); });
}

/// What was cancelled goes on with the next change.
void MainWindow::hide_cancelled() {
  if (!study().paused() && info_bar().message() == words_on_cancelled) info_bar().hide();
}

void MainWindow::go_back() {
  if (find_bar_.isVisible()) return find_bar_.close_bar();
  if (navigation_.stop_playing()) return;
  if (canvas().show_grid() || comparing_.end()) return;
  if (can_cancel()) return cancel();
  navigation_.unselect();
}

void MainWindow::show_sweep() {
  if (!sweep_) sweep_ = new SweepDialog(workspace_);
  sweep_->open_dialog();
}

void MainWindow::show_add_columns() {
  if (!add_columns_) {
    add_columns_ = new AddColumnDialog(study(), editor(), this);
    connect(add_columns_, &AddColumnDialog::added, this, [this] { navigation_.follow_column(); });
  }
  add_columns_->open_dialog();
}

void MainWindow::set_look(const QString& look) {
  QSettings().setValue("look", look);
  for (QWidget* widget : QApplication::topLevelWidgets())
    if (auto* window = qobject_cast<MainWindow*>(widget)) {
      window->look_ = look;
      window->show_look();
    }
}

void MainWindow::show_look() {
  const bool dark = look_ == "dark" || (look_ == "desktop" && ask_desktop());
  apply_theme(*qApp, dark);
  study().set_dark(dark);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (sweep_) sweep_->close();
  docks_.exploration->stop();
  if (add_columns_) add_columns_->close();
  files_.keep_last(recovery_.end());  // includes a text that is being read
  study().cancel();
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/state", docks_.layout());
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const auto urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  event->acceptProposedAction();
  const QString what =
      urls.front().isLocalFile() ? urls.front().toLocalFile() : urls.front().toString();
  if (!give_to_model(what.toStdString())) open(what);
  if (urls.size() > 1)
    workspace_.show_status(
        QString("Opening the first of %1 files; `fovea FILE FILE` opens a window for each")
            .arg(urls.size()));
}

// A picture that is dropped on a model of images becomes its input, and so does a text for a model
// of texts.
bool MainWindow::give_to_model(const std::string& path) {
  const auto source = study().source();
  if (!source || !is_model_address(source->path)) return false;
  if (is_session_file(path)) return false;  // a session file is opened as a session
  const bool is_text = to_qt(path).endsWith(".txt", Qt::CaseInsensitive);
  if (source->picture ? !is_picture(path) : !is_text) return false;
  ModelAddress address = parse_model_address(source->path);
  address.text.reset();
  address.input = path;
  editor().choose_input(to_text(address));
  return true;
}

bool MainWindow::event(QEvent* event) {
  // Every window of the program gets this event before any of them is polished again.
  if (event->type() == QEvent::ThemeChange && look_ == "desktop")
    QMetaObject::invokeMethod(this, &MainWindow::show_look, Qt::QueuedConnection);
  // A separator may be dragged.
  if (event->type() == QEvent::MouseButtonPress) docks_.begin_drag();
  const bool handled = QMainWindow::event(event);
  if (event->type() == QEvent::MouseButtonRelease) docks_.end_drag();
  return handled;
}

}  // namespace fovea

#include "moc_main_window.cpp"
