// A tree that learns in the window: its buttons, its words and its curves.
#include <doctest/doctest.h>

#include <QDockWidget>
#include <QLabel>
#include <QPushButton>

#include "study/learning_run.h"
#include "study/validation_run.h"
#include "variants/learned_tree.h"
#include "views/views.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

QPushButton& button(Window& window, const char* name) {
  return *window->findChild<QPushButton*>(name);
}

QString progress(Window& window) {
  return window->findChild<QLabel*>("learning_progress")->text();
}

}  // namespace

TEST_CASE("the form of a tree variant learns its tree, pauses, goes on and reverts") {
  Window window("synthetic:clusters?n=128&d=16&seed=1");
  show(window, {find_view("heatmap"), find_view("mask")}, {"exact", "h1d", "tf"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  REQUIRE(wait_until([&] { return !button(window, "learn").isVisibleTo(&*window); }));
  window.study().select_column(2);
  REQUIRE(wait_until([&] { return button(window, "learn").isVisibleTo(&*window); }));
  auto* plot = window->findChild<QWidget*>("learning_plot");
  const QImage empty = plot->grab().toImage();
  const Column before = window.study().session().columns[2];
  const auto heatmap = [&] {
    return std::get<Raster>(panel(window, find_view("heatmap"), 2).body).values;
  };
  const Matrix median = heatmap();
  CHECK(button(window, "learn").text().contains("Learn"));
  CHECK_FALSE(button(window, "revert_learning").isVisibleTo(&*window));
  button(window, "learn").click();
  CHECK(button(window, "learn").text().contains("Pause"));
  REQUIRE(wait_until([&] { return window->learning().steps() >= 20; }));
  button(window, "learn").click();
  REQUIRE(window.settle());
  CHECK(button(window, "learn").text().contains("Resume"));
  CHECK(progress(window).startsWith("Step "));
  CHECK(progress(window).contains("rows held out (median tree: "));
  const Matrix learned = heatmap();
  bool same = true;
  for (Index i = 0; i < learned.rows(); ++i)
    same &= std::equal(learned.row(i), learned.row(i) + learned.cols(), median.row(i));
  CHECK_FALSE(same);
  CHECK(plot->grab().toImage() != empty);
  window.shoot("learning");
  const Index paused_at = window->learning().steps();
  button(window, "learn").click();
  REQUIRE(wait_until([&] { return window->learning().steps() > paused_at; }));
  button(window, "revert_learning").click();
  CHECK(window.study().session().columns[2] == before);
  CHECK(button(window, "learn").text().contains("Learn"));
  REQUIRE(window.settle());
}

TEST_CASE("curves that stay when another head is chosen name their own") {
  Window window("synthetic:clusters?n=64&d=16&heads=2&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "tf"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  window->learning().learn();
  REQUIRE(wait_until([&] { return window->learning().steps() > 0; }));
  window->learning().pause();
  window->editor().choose_head(0, 1);
  REQUIRE(window.settle());
  CHECK(window->learning().title().ends_with("head 0"));
}

TEST_CASE("the Learning dock tries the tree on another source, beside its own") {
  Window window("synthetic:clusters?n=128&d=16&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "tf"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  const auto text = [&](const char* name) { return window->findChild<QLabel*>(name)->text(); };
  CHECK_FALSE(button(window, "validate").isEnabled());
  CHECK(text("validation_error").isEmpty());
  window->learning().learn();
  REQUIRE(wait_until([&] { return window->learning().steps() >= 20; }));
  window->learning().pause();
  REQUIRE(window.settle());
  CHECK(button(window, "validate").isEnabled());
  CHECK_FALSE(
      button(window, "stop_validation").isVisibleTo(window->findChild<QDockWidget*>("Learning")));
  window->docks().show("Learning");
  window->validation().start("synthetic:clusters?n=100&d=16&seed=2");
  CHECK(button(window, "stop_validation").isVisibleTo(window->findChild<QDockWidget*>("Learning")));
  REQUIRE(wait_until([&] { return window->validation().found().has_value(); }));
  const ValidationRun::Found& found = *window->validation().found();
  CHECK(text("validation_error").toStdString() == format_number(found.other.error, 4));
  CHECK(text("validation_cost").toStdString() == format_percent(found.other.cost));
  CHECK(text("validation_note") == QString("Tree of step %1").arg(found.step));
  window.shoot("validation");
  button(window, "stop_validation").click();
  CHECK_FALSE(window->validation().active());
  CHECK(text("validation_error").toStdString() == format_number(found.other.error, 4));
}

TEST_CASE("a window closes while a tree learns, and its widgets no longer hear of that") {
  int heard = 0;
  {
    Window window("synthetic:clusters?n=128&d=16&seed=1");
    show(window, {find_view("heatmap")}, {"exact", "tc"});
    REQUIRE(window.settle());
    window.study().select_column(1);
    window->learning().learn();
    REQUIRE(wait_until([&] { return window->learning().steps() >= 5; }));
    CHECK(window->learning().running());
    // A widget, which is destroyed after the runs.
    QObject::connect(&window->learning(), &LearningRun::changed, &*window, [&] { ++heard; });
  }
  CHECK(heard == 0);
}

}  // namespace fovea::test
