#include "window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QProgressBar>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "window/dialogs/export_dialog.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/input_dock.h"
#include "window/docks/inspector_dock.h"
#include "window/docks/timing_dock.h"
#include "window/docks/variant_dock.h"
#include "window/widgets/find_bar.h"
#include "window/widgets/info_bar.h"
#include "window/widgets/theme.h"
#include "window/widgets/view_bar.h"

namespace fovea {
namespace {

QWidget* scrolled(QWidget* page) {
  auto* scroll = new QScrollArea;
  scroll->setObjectName("dock_scroll");
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // A page whose height follows from its width must not change its width by needing a bar: the two
  // would chase each other. Its room is always kept; with nothing to scroll it is not seen.
  scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  QScrollBar* bar = scroll->verticalScrollBar();
  QObject::connect(bar, &QScrollBar::rangeChanged, bar,
                   [bar](int low, int high) { bar->setEnabled(high > low); });
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(page);
  scroll->setMinimumWidth(232);  // nothing in it is cut
  return scroll;
}

// What a job of the study does, in words.
QString work_of(const std::string& tag) {
  static const std::pair<const char*, const char*> words[] = {
      {"compute", "Computing attention"},
      {"panel", "Drawing"},
      {"map", "Drawing"},
      {"bands", "Maps become exact"},
      {"gradual", "Exact attention"},
      {"ranks", "Computing ranks"},
      {"metrics", "Comparing with exact"},
      {"diagnostics", "Comparing with exact"},
      {"card", "Looking at the heads"},
      {"timing", "Timing"},
      {"sweep", "Measuring against n"}};
  for (const auto& [start, text] : words)
    if (tag.starts_with(start)) return text;
  return "Computing";
}

}  // namespace

MainWindow::MainWindow(std::unique_ptr<Backend> backend, QWidget* parent)
    : QMainWindow(parent), study_(std::make_unique<Study>(std::move(backend))) {
  setWindowTitle("Fovea");
  setAcceptDrops(true);
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(info_bar_ = new InfoBar(centre));
  column->addWidget(find_bar_ = new FindBar(centre));
  column->addWidget(canvas_ = new Canvas(centre), 1);
  canvas_->setAccessibleName("Canvas");
  canvas_->setFocusPolicy(Qt::StrongFocus);
  setCentralWidget(centre);
  ask_for_source = [this](const QString& missing) {
    return QFileDialog::getOpenFileName(this, "Where is " + QFileInfo(missing).fileName() + "?");
  };
  ask_desktop = desktop_is_dark;
  addToolBar(view_bar_ = new ViewBar(this));
  make_docks();
  make_status_bar();
  make_menus();
  connect_study();
  connect_canvas();
  resize(screen()->availableSize() * 0.96);
  const QSettings settings;
  restoreGeometry(settings.value("window/geometry").toByteArray());
  restoreState(settings.value("window/state").toByteArray());
  set_look(settings.value("look", "desktop").toString());
  canvas_->setFocus();
  qApp->installEventFilter(this);  // Shift held anywhere shows exact in place
}

MainWindow::~MainWindow() {
  qApp->removeEventFilter(this);
  delete sweep_;
  study_.reset();  // its signals reach widgets of ours
}

void MainWindow::make_docks() {
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  const auto dock = [&](const QString& name, QWidget* body, Qt::DockWidgetArea area) {
    auto* widget = new QDockWidget(name, this);
    widget->setObjectName(name);
    widget->setWidget(body);
    addDockWidget(area, widget);
    docks_.push_back(widget);
    return widget;
  };
  auto* input = dock("Input", scrolled(input_ = new InputDock(*study_)), Qt::LeftDockWidgetArea);
  auto* variant =
      dock("Variant", scrolled(variant_ = new VariantDock(*study_)), Qt::RightDockWidgetArea);
  auto* inspector =
      dock("Inspector", scrolled(inspector_ = new InspectorDock(*study_)), Qt::RightDockWidgetArea);
  auto* timing = dock("Timing", timing_ = new TimingDock(*study_), Qt::BottomDockWidgetArea);
  const int wide = screen()->availableSize().width();
  resizeDocks({input, variant}, {std::clamp(wide / 8, 236, 248), std::clamp(wide / 7, 264, 276)},
              Qt::Horizontal);
  resizeDocks({variant, inspector}, {560, 280}, Qt::Vertical);
  const bool low = screen()->availableSize().height() < 900;  // rather room for the pictures
  resizeDocks({timing}, {low ? 140 : 200}, Qt::Vertical);
}

void MainWindow::make_status_bar() {
  status_text_ = new QLabel(this);
  head_text_ = new QLabel(this);
  progress_ = new QProgressBar(this);
  constexpr int pixels = 160;  // and steps: no more can be seen, and each draws the window anew
  progress_->setRange(0, pixels);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(pixels);
  progress_->setAccessibleName("Progress");
  cancel_ = new QToolButton(this);
  cancel_->setText("Cancel");
  cancel_->setObjectName("cancel_button");
  cancel_->setToolTip("Stop computing; what is there stays (Esc)");
  connect(cancel_, &QToolButton::clicked, study_.get(), &Study::cancel);
  statusBar()->addWidget(status_text_, 1);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_);
  statusBar()->addPermanentWidget(head_text_);
  auto* clock = new QTimer(this);
  connect(clock, &QTimer::timeout, this, &MainWindow::refresh_status);
  clock->start(100);
}

void MainWindow::connect_study() {
  Study* study = study_.get();
  view_bar_->setEnabled(false);  // until there is something to see
  variant_->setEnabled(false);
  connect(study, &Study::opened, this, [this](bool anew) {
    if (anew) history_.start(study_->session());
    current_column_ = study_->selected_column();
    current_view_ = 0;
    corner_.reset();
    info_bar_->hide();
    view_bar_->setEnabled(true);
    variant_->setEnabled(true);
    input_->source_opened();
    search(find_bar_->isVisible() ? find_bar_->text() : QString());
    inspector_->show_pair(nullptr, 0);
    inspector_->show_selection(nullptr);
    remember(QString::fromStdString(study_->source()->path));
  });
  connect(study, &Study::session_changed, this, [this] {
    input_->refresh();
    variant_->refresh();
    view_bar_->show_settings(study_->session().settings);
    refresh_menus();
    refresh_title();
  });
  connect(view_bar_, &ViewBar::settings_wished, this, [this](const ViewSettings& settings) {
    change("settings", [&](Session& s) { s.settings = settings; });
  });
  connect(study, &Study::model_changed, this, &MainWindow::show_model);
  connect(study, &Study::columns_changed, this, [this] {
    variant_->refresh();
    timing_->refresh();
    show_token_errors();
    refresh_title();
  });
  connect(study, &Study::cards_changed, input_->gallery(), &HeadGallery::refresh);
  connect(study, &Study::pair_read, this,
          [this](auto reading) { inspector_->show_pair(reading, study_->hovered_column()); });
  connect(study, &Study::row_read, input_, &InputDock::show_row);
  connect(study, &Study::row_read, inspector_, &InspectorDock::show_row);
  connect(study, &Study::exact_row_read, inspector_, &InspectorDock::show_exact_row);
  connect(study, &Study::selection_read, inspector_, &InspectorDock::show_selection);
  connect(study, &Study::trouble, this, &MainWindow::tell);
  connect(input_, &InputDock::head_wished, this, &MainWindow::choose_head);
  connect(input_, &InputDock::patch_wished, this, [this](int patch) {
    change("patch", [&](Session& s) {
      s.patch = patch;
      s.viewport = {};  // all of it, however many tokens that are
      s.pinned_query.reset();
    });
  });
  connect(input_, &InputDock::query_hovered, this, [this](Index query) { point_to(query, -1); });
  connect(input_, &InputDock::query_chosen, this, &MainWindow::pin);
  connect(input_, &InputDock::query_stepped, this,
          [this](Index query) { change("pin", [&](Session& s) { s.pinned_query = query; }); });
  connect(variant_, &VariantDock::column_wished, this, [this](int index, const Column& column) {
    change("column " + std::to_string(index),
           [&](Session& s) { s.columns[std::size_t(index)] = column; });
  });
  connect(timing_, &TimingDock::column_chosen, this, &MainWindow::choose_column);
}

void MainWindow::connect_canvas() {
  connect(canvas_, &Canvas::viewport_requested, this, [this](Viewport viewport) {
    change("viewport", [&](Session& s) { s.viewport = viewport; });
  });
  connect(canvas_, &Canvas::hovered, this, [this](Index query, Index key, int column, int view) {
    if (column >= 0 && view >= 0) {
      current_column_ = column;
      current_view_ = view;
    }
    study_->hover(query, key, column);
  });
  connect(canvas_, &Canvas::query_pinned, this, &MainWindow::pin);
  connect(canvas_, &Canvas::rectangle_selected, study_.get(), &Study::select);
  connect(canvas_, &Canvas::column_chosen, study_.get(), &Study::select_column);
  connect(canvas_, &Canvas::leaves_chosen, study_.get(), &Study::choose_leaves);
  connect(study_.get(), &Study::leaves_chosen, this, [this] {
    const auto& chosen = study_->chosen_leaves();
    canvas_->set_chosen_leaves(chosen ? chosen->column : 0,
                               chosen ? chosen->leaves : IndexRange{0, 0});
  });
  connect(find_bar_, &FindBar::searched, this, &MainWindow::look_for);
  connect(find_bar_, &FindBar::stepped, this, &MainWindow::step_match);
  connect(find_bar_, &FindBar::closed, this, [this] {
    look_for({});
    canvas_->setFocus();
  });
  connect(canvas_, &Canvas::block_chosen, this, [this](int column, Index query, Index key) {
    study_->select_column(column);
    inspector_->choose_block(column, query, key);
  });
  connect(canvas_, &Canvas::panel_pixels_changed, study_.get(), &Study::set_panel_pixels);
  connect(canvas_, &Canvas::column_moved, this, &MainWindow::move_column);
  connect(canvas_, &Canvas::copy_requested, this, [this](int view, int column) {
    current_view_ = view;
    current_column_ = column;
    copy_panel();
  });
  connect(canvas_, &Canvas::export_requested, this, &MainWindow::export_by_dialog);
  connect(canvas_, &Canvas::go_to_requested, this, &MainWindow::go_to_pair);
}

void MainWindow::change(const std::string& kind, const std::function<void(Session&)>& edit) {
  Session next = study_->session();
  edit(next);
  // What is shown may be what is wished for again, while another patch of it opens.
  if (next == study_->session() && !study_->opening()) return;
  history_.record(next, kind);
  study_->set_session(std::move(next));
}

QString MainWindow::provenance() const {
  const auto source = study_->source();
  if (!source) return {};
  const Session& session = study_->session();
  QStringList parts{QString::fromStdString(source->name)};
  const std::string& layer = source->layers[std::size_t(session.layer)].name;
  if (source->layers.size() > 1 || source->layers.front().heads() > 1)
    parts << QString("%1, head %2")
                 .arg(layer.empty() ? QString("layer %1").arg(session.layer)
                                    : QString::fromStdString(layer))
                 .arg(session.head);
  if (const auto problem = study_->problem())
    parts << QString("n %1, d %2, scale %3%4")
                 .arg(problem->n())
                 .arg(problem->d())
                 .arg(problem->scale, 0, 'g', 4)
                 .arg(problem->causal ? ", causal" : "");
  const Backend& backend = study_->backend();
  parts << QString::fromStdString(backend.device() + ", " + backend.precision());
  return parts.join("  ·  ");
}

void MainWindow::refresh_title() {
  const QString text = provenance();
  if (head_text_->text() == text) return;
  head_text_->setText(text);
  setWindowTitle(text.isEmpty() ? "Fovea" : text + " — Fovea");
}

/// Timing repeats and head cards go on quietly once everything is drawn.
bool MainWindow::can_cancel() const {
  if (study_->opening()) return true;
  return !study_->paused() && study_->source() && (!study_->drawn() || study_->filling());
}

void MainWindow::refresh_status() {
  const Engine::Status status = study_->status();
  const bool working = can_cancel();
  // Between the pieces of long work the engine is idle for moments.
  if (status.busy || !study_->filling()) {
    progress_->setVisible(working && status.busy && status.seconds > 0.3);
    progress_->setValue(int(progress_->maximum() * status.fraction));
  }
  cancel_->setVisible(working);
  QString text;
  if (study_->paused()) text = "Cancelled. F5 computes again.";
  if (working) {
    text = study_->opening() ? QString("Opening…") : work_of(status.tag);
    if (const double left = seconds_left(status); left > 1)
      text += QString(", %1 s left").arg(left, 0, 'f', 0);
  }
  if (status_text_->text() != text) status_text_->setText(text);
}

void MainWindow::say(const QString& message) {
  constexpr int shown_ms = 6000;
  statusBar()->showMessage(message, shown_ms);
}

void MainWindow::tell(const QString& message) {
  info_bar_->say(message);
}

void MainWindow::set_look(const QString& look) {
  look_ = look;
  QSettings().setValue("look", look);
  show_look();
}

void MainWindow::show_look() {
  const bool dark = look_ == "dark" || (look_ == "desktop" && ask_desktop());
  apply_theme(*qApp, dark);
  study_->set_dark(dark);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (sweep_) sweep_->close();
  study_->cancel();
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/state", saveState());
  keep_last();
  event->accept();
}

}  // namespace fovea
