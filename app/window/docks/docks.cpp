#include "window/docks/docks.h"

#include <QDockWidget>
#include <QMainWindow>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

namespace fovea {
namespace {

QWidget* scrolled(QWidget* page) {
  auto* scroll = new QScrollArea;
  scroll->setObjectName("dock_scroll");
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // A page whose height follows from its width must not change its width by needing a scroll bar:
  // the two would chase each other. Room for the bar is always kept; it is invisible while unused.
  scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  QScrollBar* bar = scroll->verticalScrollBar();
  QObject::connect(bar, &QScrollBar::rangeChanged, bar,
                   [bar](int low, int high) { bar->setEnabled(high > low); });
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(page);
  scroll->setMinimumWidth(232);  // nothing in it is cut
  return scroll;
}

void follow(Study& study, Docks& docks) {
  const auto [input, variant, inspector, timing, widgets] = docks;
  const auto on = [&study](auto signal, auto* receiver, auto slot) {
    QObject::connect(&study, signal, receiver, slot);
  };
  variant->setEnabled(false);  // until there is something to see
  on(&Study::opened, input, [docks] {
    docks.variant->setEnabled(true);
    docks.input->source_opened();
    docks.inspector->show_pair(nullptr, 0);
    docks.inspector->show_selection(nullptr);
  });
  on(&Study::session_changed, input, &InputDock::refresh);
  on(&Study::session_changed, variant, &VariantDock::refresh);
  on(&Study::columns_changed, variant, &VariantDock::refresh);
  on(&Study::columns_changed, timing, &TimingDock::refresh);
  on(&Study::cards_changed, input->gallery(), &HeadGallery::refresh);
  on(&Study::pair_read, inspector,
     [inspector, &study](auto reading) { inspector->show_pair(reading, study.hovered_column()); });
  on(&Study::row_read, input, &InputDock::show_row);
  on(&Study::row_read, inspector, &InspectorDock::show_row);
  on(&Study::exact_row_read, inspector, &InspectorDock::show_exact_row);
  on(&Study::selection_read, inspector, &InspectorDock::show_selection);
  on(&Study::model_changed, inspector, &InspectorDock::refresh_block);
}

}  // namespace

Docks::Docks(QMainWindow& window, Study& study)
    : input(new InputDock(study)),
      variant(new VariantDock(study)),
      inspector(new InspectorDock(study)),
      timing(new TimingDock(study)) {
  window.setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks |
                        QMainWindow::AllowTabbedDocks);
  window.setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  const auto add = [&](const QString& name, QWidget* body, Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(name, &window);
    dock->setObjectName(name);
    dock->setWidget(body);
    window.addDockWidget(area, dock);
    widgets.push_back(dock);
    return dock;
  };
  auto* left = add("Input", scrolled(input), Qt::LeftDockWidgetArea);
  auto* right = add("Variant", scrolled(variant), Qt::RightDockWidgetArea);
  auto* below = add("Inspector", scrolled(inspector), Qt::RightDockWidgetArea);
  auto* bottom = add("Timing", timing, Qt::BottomDockWidgetArea);
  const QSize room = window.screen()->availableSize();
  const int wide = room.width();
  window.resizeDocks({left, right},
                     {std::clamp(wide / 8, 236, 248), std::clamp(wide / 7, 264, 276)},
                     Qt::Horizontal);
  window.resizeDocks({right, below}, {560, 280}, Qt::Vertical);
  window.resizeDocks({bottom}, {room.height() < 900 ? 140 : 200}, Qt::Vertical);
  follow(study, *this);
}

}  // namespace fovea
