// Room for the canvas: all columns at once, and docks that go away and come back.
#include <doctest/doctest.h>

#include <QComboBox>
#include <QDockWidget>
#include <QPushButton>
#include <QTabBar>
#include <QTest>

#include "views/views.h"
#include "window/docks/explore_dock.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

/// The names of those that are open, also behind another one.
QStringList shown_docks(Window& window) {
  QStringList shown;
  for (const auto* dock : window->findChildren<QDockWidget*>())
    if (dock->toggleViewAction()->isChecked()) shown << dock->objectName();
  shown.sort();
  return shown;
}

}  // namespace

TEST_CASE("a screen of 1280 x 720 has room for the window with each dock below the canvas") {
  Window window(small, {1280, 720});
  for (const QString name :
       {"Which attention?", "Effect", "Comparison", "Spans", "Timing", "Learning"}) {
    CAPTURE(name.toStdString());
    window->docks().show(name);
    REQUIRE(wait_until([&] { return window->findChild<QDockWidget*>(name)->isVisible(); }));
    CAPTURE(window->findChild<QDockWidget*>(name)->minimumSizeHint().width());
    const QSize least = window->minimumSizeHint();
    CHECK(least.width() <= 1280);
    CHECK(least.height() <= 690);  // a frame of the desktop takes some of the 720
  }
}

TEST_CASE("the canvas and the strip stay in place while one turns from dock to dock below them") {
  for (const QSize size : {QSize(1280, 720), QSize(1600, 1000)}) {
    CAPTURE(size.height());
    Window window(small, size);
    const auto place = [&] {
      be_still(window);
      return std::pair(window->canvas().height(), window->docks().strip->y());
    };
    window->docks().show("Timing");
    const auto first = place();
    for (const char* name : {"Which attention?", "Effect", "Comparison", "Spans", "Learning"}) {
      CAPTURE(name);
      window->docks().show(name);
      CHECK(place() == first);
    }
    window.trigger("triage");
    CHECK(place() == first);
  }
}

TEST_CASE("docks below the canvas keep the height to which one of them was dragged") {
  Window window(small);
  auto* timing = window->findChild<QDockWidget*>("Timing");
  window->docks().show("Timing");
  be_still(window);
  const int before = timing->height();
  const QPoint border(timing->x() + 200, timing->y() - 3);  // the middle of the separator
  QTest::mousePress(&*window, Qt::LeftButton, {}, border);
  QTest::mouseMove(&*window, border - QPoint(0, 60));
  QTest::qWait(100);  // the window follows a separator with a timer
  QTest::mouseRelease(&*window, Qt::LeftButton, {}, border - QPoint(0, 60));
  be_still(window);
  const int dragged = timing->height();
  REQUIRE(dragged > before + 40);
  for (const char* name : {"Effect", "Which attention?"}) {
    window->docks().show(name);
    be_still(window);
    CHECK(window->findChild<QDockWidget*>(name)->height() == dragged);
  }
}

TEST_CASE("the tabs of Which attention stay in place while one turns pages") {
  Window window(small);
  window->docks().show("Which attention?");
  be_still(window);
  auto* tabs = window->exploration()->findChild<QTabBar*>();
  const QPoint first = tabs->mapTo(&*window, QPoint(0, 0));
  for (int page = 0; page < tabs->count(); ++page) {
    tabs->setCurrentIndex(page);
    be_still(window);
    CHECK(tabs->mapTo(&*window, QPoint(0, 0)) == first);
    CHECK(window->exploration()->findChild<QComboBox*>("explore_scope")->isVisible() == (page < 2));
  }
}

TEST_CASE("a screen of 1280 x 720 cuts no control of the docks below the canvas") {
  Window window(small, {1280, 720});
  for (const QString name :
       {"Which attention?", "Effect", "Comparison", "Spans", "Timing", "Learning"}) {
    CAPTURE(name.toStdString());
    window->docks().show(name);
    auto* dock = window->findChild<QDockWidget*>(name);
    REQUIRE(wait_until([&] { return dock->isVisible(); }));
    be_still(window);
    for (const auto* button : dock->findChildren<QPushButton*>()) {
      if (!button->isVisible()) continue;
      CAPTURE(button->text().toStdString());
      CHECK(button->width() >= button->minimumSizeHint().width());
    }
    for (const auto* choice : dock->findChildren<QComboBox*>()) {
      if (!choice->isVisible()) continue;
      CAPTURE(choice->objectName().toStdString());
      CHECK(choice->width() >= choice->minimumSizeHint().width());
    }
  }
}

TEST_CASE(
    "at 1280 x 720 a key shows all seven columns, and another one gives the canvas the window") {
  Window window(small, {1280, 720});
  show(window, {find_view("heatmap"), find_view("error")});
  REQUIRE(window.study().columns().size() == 7);
  take_focus(window);
  const auto& canvas = window->canvas();
  const auto last = [&] { return canvas.panel_place(0, 6); };
  press(window, Qt::Key_A);
  be_still(window);
  CHECK(last().right() < canvas.width());
  CHECK(last().width() >= 48);
  const int narrow = canvas.width();
  const auto before = shown_docks(window);
  press(window, Qt::Key_F11);
  be_still(window);
  CHECK(canvas.width() > narrow + 400);
  CHECK(last().width() > 100);
  press(window, Qt::Key_F11);
  be_still(window);
  CHECK(canvas.width() == narrow);
  CHECK(shown_docks(window).join(" ").toStdString() == before.join(" ").toStdString());
}

TEST_CASE("the docks that were in front are in front again when all come back") {
  Window window(small);
  const auto in_front = [&] {
    QStringList names;
    for (const QDockWidget* dock : window->findChildren<QDockWidget*>())
      if (dock->isVisible() && !dock->visibleRegion().isEmpty()) names << dock->objectName();
    return names.join(" ").toStdString();
  };
  for (const char* name : {"Timing", "Comparison", "Learning"}) {
    window->docks().show(name);
    be_still(window);
    const std::string before = in_front();
    CHECK(before.find(name) != std::string::npos);
    window.trigger("canvas_alone");
    be_still(window);
    window.trigger("canvas_alone");
    be_still(window);
    CHECK(in_front() == before);
  }
}

TEST_CASE("docks that were closed before stay closed when all come back") {
  Window window(small);
  auto* dock = window->findChild<QDockWidget*>("Column");
  dock->close();
  const auto before = shown_docks(window);
  window.trigger("canvas_alone");
  CHECK(shown_docks(window).isEmpty());
  window.trigger("canvas_alone");
  CHECK(shown_docks(window).join(" ").toStdString() == before.join(" ").toStdString());
}

TEST_CASE("a dock that is opened meanwhile does not make the others stay away") {
  Window window(small);
  const auto before = shown_docks(window);
  window.trigger("canvas_alone");
  window->findChild<QDockWidget*>("Column")->show();
  window.trigger("canvas_alone");
  CHECK(shown_docks(window).isEmpty());
  window.trigger("canvas_alone");
  CHECK(shown_docks(window).join(" ").toStdString() == before.join(" ").toStdString());
}

}  // namespace fovea::test
