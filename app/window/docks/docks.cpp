#include "window/docks/docks.h"

#include <QDockWidget>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableWidget>
#include <algorithm>

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
  scroll->setMinimumWidth(232);  // narrower, words would be cut
  return scroll;
}

}  // namespace

Docks::Docks(MainWindow& window)
    : inspector(new InspectorDock(window.study())), timing(make_timing_dock(window.study())) {
  QWidget* input = make_input_dock(window.study(), window.editor());
  QWidget* variant = make_variant_dock(window.study(), window.editor());
  sequence = input->findChild<SequenceView*>();
  window.setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks |
                        QMainWindow::AllowTabbedDocks);
  window.setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  const auto add = [&](const QString& name, QWidget* body, Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(name, &window);
    dock->setObjectName(name);
    dock->setWidget(body);
    window.addDockWidget(area, dock);
    return dock;
  };
  auto* left = add("Input", scrolled(input), Qt::LeftDockWidgetArea);
  auto* right = add("Variant", scrolled(variant), Qt::RightDockWidgetArea);
  auto* below = add("Inspector", scrolled(inspector), Qt::RightDockWidgetArea);
  auto* bottom = add("Timing", timing, Qt::BottomDockWidgetArea);
  auto* table = add("Comparison", make_comparison_dock(window.study()), Qt::BottomDockWidgetArea);
  window.tabifyDockWidget(bottom, table);
  bottom->raise();
  const QSize room = window.screen()->availableSize();
  const int wide = room.width();
  window.resizeDocks({left, right},
                     {std::clamp(wide / 8, 236, 248), std::clamp(wide / 7, 264, 276)},
                     Qt::Horizontal);
  window.resizeDocks({right, below}, {560, 280}, Qt::Vertical);
  window.resizeDocks({bottom}, {room.height() < 900 ? 140 : 200}, Qt::Vertical);
}

}  // namespace fovea
