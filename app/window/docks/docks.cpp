#include "window/docks/docks.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableWidget>
#include <algorithm>

#include "window/docks/comparison_dock.h"
#include "window/docks/effect_dock.h"
#include "window/main_window.h"

namespace fovea {
namespace {

QWidget* scrolled(QWidget* page) {
  auto* scroll = new QScrollArea;
  scroll->setObjectName("dock_scroll");
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // The height of a page follows from its width. A scroll bar that appears would change the width,
  // and so on without end: its room is always kept, and it is invisible while it is not needed.
  scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  QScrollBar* bar = scroll->verticalScrollBar();
  QObject::connect(bar, &QScrollBar::rangeChanged, bar,
                   [bar](int low, int high) { bar->setEnabled(high > low); });
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(page);
  scroll->setMinimumWidth(244);  // narrower, words would be cut
  return scroll;
}

}  // namespace

Docks::Docks(MainWindow& window)
    : inspector(new InspectorDock(window.study())),
      timing(make_timing_dock(window.study())),
      exploration(new ExploreDock(window)),
      window_(window),
      comparison_(new ComparisonDock(window.study())) {
  QWidget* input = make_input_dock(window.study(), window.editor());
  QWidget* variant = make_variant_dock(window.study(), window.editor(), window.learning());
  sequence = input->findChild<SequenceView*>("tokens");
  key_sequence = input->findChild<SequenceView*>("key_tokens");
  head_order_ = input->findChild<QComboBox*>("head_order");
  all_layers_ = input->findChild<QCheckBox*>("all_layers");
  window.setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks |
                        QMainWindow::AllowTabbedDocks);
  window.setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  const auto add = [&](const QString& name, QWidget* body) {
    auto* dock = new QDockWidget(name, &window);
    dock->setObjectName(name);
    dock->setWidget(body);
    return dock;
  };
  left_ = add("Input", scrolled(input));
  right_ = add("Variant", scrolled(variant));
  below_ = add("Inspector", scrolled(inspector));
  bottom_ = add("Timing", timing);
  behind_ = add("Comparison", comparison_);
  spans_ = add("Spans", make_span_dock(window.study(), window.editor()));
  learning_ =
      add("Learning", make_learning_dock(window.study(), window.learning(), window.validation()));
  effect_ = add("Effect", new EffectDock(window.study(), window.editor(), window.effect()));
  explore_ = add("Which attention?", exploration);
  QObject::connect(explore_->toggleViewAction(), &QAction::toggled, exploration, [this](bool open) {
    if (!open) exploration->stop();
  });
  QObject::connect(explore_, &QDockWidget::visibilityChanged, exploration, &ExploreDock::set_seen);
  // Behind another dock it is not looked at.
  QObject::connect(spans_, &QDockWidget::visibilityChanged, &window,
                   [&study = window.study()](bool visible) { study.want_spans(visible); });
  arrange();
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

void Docks::arrange() {
  for (QDockWidget* dock :
       {left_, right_, below_, bottom_, behind_, spans_, learning_, effect_, explore_}) {
    dock->setFloating(false);
    const Qt::DockWidgetArea area = dock == left_                      ? Qt::LeftDockWidgetArea
                                    : dock == right_ || dock == below_ ? Qt::RightDockWidgetArea
                                                                       : Qt::BottomDockWidgetArea;
    window_.removeDockWidget(dock);
    window_.addDockWidget(area, dock);
    dock->show();
  }
  window_.tabifyDockWidget(bottom_, behind_);
  window_.tabifyDockWidget(behind_, spans_);
  window_.tabifyDockWidget(spans_, learning_);
  window_.tabifyDockWidget(learning_, effect_);
  window_.tabifyDockWidget(effect_, explore_);
  explore_->hide();
  bottom_->raise();
  const QSize room = window_.screen()->availableSize();
  const int wide = room.width();
  window_.resizeDocks({left_, right_},
                      {std::clamp(wide / 8, 246, 252), std::clamp(wide / 7, 264, 276)},
                      Qt::Horizontal);
  window_.resizeDocks({right_, below_}, {560, 280}, Qt::Vertical);
  window_.resizeDocks({bottom_}, {room.height() < 900 ? 140 : 200}, Qt::Vertical);
}

void Docks::show_exploration(ExploreDock::Page page) {
  constexpr int enough = 300, most = 440;
  exploration->choose(page);
  explore_->show();
  explore_->raise();
  if (explore_->height() < enough && !explore_->isFloating())
    window_.resizeDocks({explore_}, {std::clamp(window_.height() * 2 / 5, enough, most)},
                        Qt::Vertical);
  exploration->open();
}

void Docks::toggle_all() {
  const auto docks = window_.findChildren<QDockWidget*>();
  // Only one of several docks behind each other can be seen.
  const auto is_shown = [](const QDockWidget* dock) {
    return dock->toggleViewAction()->isChecked();
  };
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
