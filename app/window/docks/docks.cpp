#include "window/docks/docks.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QMainWindow>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QTableWidget>
#include <QToolButton>
#include <algorithm>

#include "window/docks/comparison_dock.h"
#include "window/docks/effect_dock.h"
#include "window/widgets/form.h"
#include "window/workspace.h"

namespace fovea {
namespace {

/// The layout of a program whose docks were other ones is not restored.
constexpr int layout_version = 2;
const QString height_setting = "window/height_below";

}  // namespace

Docks::Docks(Workspace& workspace)
    : column(new ColumnDock(workspace.study, workspace.editor, workspace.learning)),
      timing(make_timing_dock(workspace.study)),
      strip(new QWidget),
      exploration(new ExploreDock(workspace)),
      window_(workspace.window),
      comparison_(new ComparisonDock(workspace.study)) {
  QMainWindow& window = workspace.window;
  QWidget* input = make_input_dock(workspace.study, workspace.editor);
  sequence = input->findChild<SequenceView*>("tokens");
  key_sequence = input->findChild<SequenceView*>("key_tokens");
  head_order_ = input->findChild<QComboBox*>("head_order");
  all_layers_ = input->findChild<QCheckBox*>("all_layers");
  window.setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks |
                        QMainWindow::AllowTabbedDocks);
  // What is below the canvas takes no height from the docks beside it.
  window.setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  window.setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  const auto add = [&](const QString& name, QWidget* body) {
    auto* dock = new QDockWidget(name, &window);
    dock->setObjectName(name);
    dock->setWidget(body);
    return dock;
  };
  QScrollArea* scrolled_input = scrolled(input, 244);
  left_ = add("Input", scrolled_input);
  right_ = add("Column", scrolled(column, 296));
  QDockWidget* spans = add("Spans", make_span_dock(workspace.study, workspace.editor));
  explore_ = add("Which attention?", exploration);
  QObject::connect(explore_->toggleViewAction(), &QAction::toggled, exploration, [this](bool open) {
    if (open)
      exploration->open();
    else
      exploration->stop();
  });
  QObject::connect(explore_, &QDockWidget::visibilityChanged, exploration, &ExploreDock::set_seen);
  below_ = {explore_,
            add("Effect", new EffectDock(workspace.study, workspace.editor, workspace.effect)),
            add("Comparison", comparison_),
            spans,
            add("Timing", timing),
            add("Learning",
                make_learning_dock(workspace.study, workspace.learning, workspace.validation))};
  const auto want_spans = [this, &workspace, spans] {
    // A long head pays for spans with a pass over exact attention: they are found if asked for.
    constexpr Index little = 8192;
    const bool beside = column->shows_failure() && workspace.study.length() <= little;
    workspace.study.want_spans((spans->isVisible() && spans_seen_) || beside);
  };
  // Behind another dock it is not looked at.
  QObject::connect(spans, &QDockWidget::visibilityChanged, &window,
                   [this, want_spans](bool visible) {
                     spans_seen_ = visible;
                     want_spans();
                   });
  QObject::connect(column, &ColumnDock::failure_visibility_changed, &window, want_spans);
  QObject::connect(&workspace.study, &Study::opened, &window, want_spans);
  QObject::connect(&workspace.study, &Study::opened, &window, [scrolled_input](bool new_source) {
    if (new_source) scrolled_input->verticalScrollBar()->setValue(0);
  });
  make_strip();
  arrange();
}

void Docks::make_strip() {
  strip->setObjectName("strip");
  auto* row = make_inner<QHBoxLayout>(strip);
  row->setContentsMargins(rhythm, 2, rhythm, 2);
  row->setSpacing(2);
  for (QDockWidget* dock : below_) {
    auto* button = new QToolButton;
    button->setDefaultAction(dock->toggleViewAction());
    button->setProperty("style", "tab");
    button->setToolTip("Opens or closes " + dock->windowTitle() + " below the canvas");
    button->setFocusPolicy(Qt::TabFocus);
    row->addWidget(button);
    // One at a time, so that each opens in the place of the one before.
    QObject::connect(dock->toggleViewAction(), &QAction::toggled, &window_,
                     [this, dock](bool shown) {
                       if (!shown) return;
                       close_others(*dock);
                       give_height(*dock);
                     });
  }
  row->addStretch(1);
}

/// All docks below the canvas are equally high: the canvas and the strip stay in place while one
/// turns from dock to dock. At first they leave the canvas more than half of the window.
void Docks::give_height(QDockWidget& dock) {
  const int kept = QSettings().value(height_setting).toInt();
  constexpr int least = 330, most = 440;  // a plot needs so much where a window is low
  const int share = std::max(window_.height() * 3 / 7, std::min(window_.height() / 2, least));
  int height = kept > 0 ? kept : std::min(share, most);
  for (const QDockWidget* other : below_)
    height = std::max(height, other->minimumSizeHint().height());
  // The dock has its place once the window is laid out.
  QMetaObject::invokeMethod(
      &dock,
      [this, &dock, height] {
        if (!is_shown(dock) || !is_below(dock)) return;
        window_.resizeDocks({&dock}, {height}, Qt::Vertical);
      },
      Qt::QueuedConnection);
}

int Docks::height_below() const {
  for (const QDockWidget* dock : below_)
    if (dock->isVisible() && is_below(*dock)) return dock->height();
  return 0;
}

void Docks::begin_drag() {
  height_before_drag_ = height_below();
}

void Docks::end_drag() {
  const int height = height_below();
  if (height > 0 && height != height_before_drag_) QSettings().setValue(height_setting, height);
}

bool Docks::is_shown(const QDockWidget& dock) {
  return dock.toggleViewAction()->isChecked();
}

void Docks::close_others(const QDockWidget& opened) {
  if (!is_below(opened)) return;
  for (QDockWidget* dock : below_)
    if (dock != &opened && is_shown(*dock) && is_below(*dock)) dock->hide();
}

bool Docks::is_below(const QDockWidget& dock) const {
  return !dock.isFloating() &&
         window_.dockWidgetArea(const_cast<QDockWidget*>(&dock)) == Qt::BottomDockWidgetArea;
}

SortOrders Docks::orders() const {
  return {comparison_->sorted_by(), HeadOrder(head_order_->currentIndex()),
          all_layers_->isChecked()};
}

void Docks::sort(const SortOrders& orders) {
  comparison_->sort_by(orders.comparison);
  head_order_->setCurrentIndex(int(orders.heads));
  all_layers_->setChecked(orders.all_layers);
}

QByteArray Docks::layout() const {
  return window_.saveState(layout_version);
}

void Docks::restore_layout(const QByteArray& layout) {
  window_.restoreState(layout, layout_version);
}

void Docks::arrange() {
  hidden_.clear();
  const auto put = [this](QDockWidget* dock, Qt::DockWidgetArea area, bool shown) {
    dock->setFloating(false);
    window_.removeDockWidget(dock);
    window_.addDockWidget(area, dock);
    dock->setVisible(shown);
  };
  put(left_, Qt::LeftDockWidgetArea, true);
  put(right_, Qt::RightDockWidgetArea, true);
  for (QDockWidget* dock : below_) put(dock, Qt::BottomDockWidgetArea, false);
  // Docks that are tabs of one place have one height.
  for (QDockWidget* dock : below_.mid(1)) window_.tabifyDockWidget(below_.front(), dock);
  const QSize room = window_.screen()->availableSize();
  const int wide = room.width();
  window_.resizeDocks({left_, right_},
                      {std::clamp(wide / 8, 246, 252), std::clamp(wide / 6, 300, 330)},
                      Qt::Horizontal);
}

void Docks::show(const QString& name) {
  for (QDockWidget* dock : QList{left_, right_} + below_)
    if (dock->objectName() == name) {
      dock->show();
      dock->raise();
    }
}

void Docks::show_exploration(ExploreDock::Page page) {
  exploration->choose(page);
  explore_->show();
  exploration->open();
}

void Docks::toggle_all() {
  const auto docks = window_.findChildren<QDockWidget*>();
  const auto is_shown = [](const QDockWidget* dock) { return Docks::is_shown(*dock); };
  if (std::ranges::none_of(docks, is_shown)) {
    for (QDockWidget* dock : hidden_.isEmpty() ? docks : hidden_) dock->show();
    hidden_.clear();
    return;
  }
  for (QDockWidget* dock : docks) {
    if (!is_shown(dock)) continue;
    if (!hidden_.contains(dock)) hidden_ << dock;
    dock->hide();
  }
}

}  // namespace fovea
