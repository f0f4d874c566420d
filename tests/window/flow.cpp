// The window never waits for work: not while dragging, not with long inputs, and not when work ends
// early. How long its gaps are is measured by tests/bench/bench_window.cpp.
#include <doctest/doctest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTest>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "views/views.h"
#include "window/backend.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

void drag(Window& window, int column, int step) {
  window->change("drag", [&](Session& s) {
    set_value(find_variant("h1d").schema, s.columns[std::size_t(column)].values, "block",
              std::to_string(8 + 2 * step));
  });
}

bool opened(Window& window, const QString& what, Index n) {
  window->open(what);
  return wait_until([&] {
    const auto problem = window.study().problem();
    return window.study().session().source == what.toStdString() && problem && problem->n() == n;
  });
}

double resident_mib() {
  QFile file("/proc/self/statm");
  if (!file.open(QIODevice::ReadOnly)) return 0;
  return file.readAll().split(' ').at(1).toDouble() * 4096 / (1 << 20);
}

/// Does nothing but wait while `held`, whatever is asked of it, until it is stopped.
class StandingStill : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    ++*begun;
    while (*held) {
      run.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return CpuLike::bind(std::move(plan), problem, run);
  }
  std::shared_ptr<std::atomic<bool>> held = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<int>> begun = std::make_shared<std::atomic<int>>(0);
};

}  // namespace

// The window's thread waits for no computation: it would hang here.
TEST_CASE("while a computation stands still, a parameter is dragged and every frame is drawn") {
  Window window("synthetic:clusters?n=256&d=16&seed=1");
  const int column = column_of(window, "h1d");
  REQUIRE(column < std::ssize(window.study().columns()));
  window.study().select_column(column);
  auto backend = std::make_unique<StandingStill>();
  const auto held = backend->held;
  const auto begun = backend->begun;
  window.study().use_backend(std::move(backend));
  REQUIRE(window.settle());
  *held = true;
  const int before = *begun;
  drag(window, column, 0);
  REQUIRE(wait_until([&] { return *begun > before; }));
  QSignalSpy frames(&window->canvas(), &Canvas::frame_painted);
  for (int step = 1; step < 60; ++step) {
    drag(window, column, step);
    const auto drawn = frames.count();
    window->canvas().update();
    REQUIRE(wait_until([&] { return frames.count() > drawn; }));
  }
  CHECK(window.study().columns()[std::size_t(column)].stale);
  // A computation of old parameters ends for the one of the newest, and none is made for each.
  CHECK(*begun - before <= 60);
  *held = false;
  CHECK(window.settle());
  CHECK(to_text(window.study().columns()[std::size_t(column)].computation->values[0]) == "126");
}

TEST_CASE("while a computation stands still, the window is left by every way out") {
  for (const std::string way : {"cancel", "another source", "close"}) {
    CAPTURE(way);
    Window window(small);
    auto backend = std::make_unique<StandingStill>();
    *backend->held = true;
    const auto begun = backend->begun;
    window.study().use_backend(std::move(backend));
    REQUIRE(wait_until([&] { return *begun > 0; }));
    if (way == "cancel") {
      window.study().cancel();
      CHECK(wait_until([&] { return !window.study().status().busy(); }));
    } else if (way == "another source") {
      CHECK(opened(window, "synthetic:clusters?n=96&d=32&seed=1", 96));
    }
    window.close();
  }
}

TEST_CASE("n = 131072: memory is linear, the time left is said, and every way out ends the work") {
  Window window(small);
  const QString large = "synthetic:clusters?n=131072&d=64&seed=1";
  REQUIRE(opened(window, large, 131072));
  const auto says_time_left = [&] {  // once a long job runs
    const auto model = window.study().model();
    for (const auto& row : model->cells)
      for (const CanvasCell& cell : row)
        if (cell.status.find("s left") != std::string::npos) return true;
    return false;
  };
  CHECK(wait_until(says_time_left));
  const int error = row_of(window, find_view("error"));
  const auto estimated = [&] {  // exact maps take minutes, estimates do not
    for (const CanvasCell& cell : window.study().model()->cells[std::size_t(error)])
      if (cell.panel && std::holds_alternative<Raster>(cell.panel->body)) return true;
    return false;
  };
  CHECK(wait_until(estimated));
  // q, k, v are 96 MiB, and each column and map has a few tens; P alone would be 64 GiB.
  CHECK(resident_mib() < 1536);
  window.study().cancel();
  CHECK(wait_until([&] { return !window.study().status().busy(); }));
  window.study().resume();
  window->open(small);
  CHECK(wait_until([&] { return window.study().session().source == small.toStdString(); }));
  CHECK(window.settle());
}

TEST_CASE("whatever changes during computing, the newest request wins") {
  Window window("synthetic:clusters?n=1024&d=32&heads=4&seed=1");
  for (int round = 0; round < 80; ++round) {
    const int column = column_of(window, "h1d");
    if (column < std::ssize(window.study().columns())) drag(window, column, round % 40);
    if (round % 3 == 0) window->change("head", [&](Session& s) { s.head = round % 4; });
    if (round % 7 == 0 && window.study().session().columns.size() > 3)
      window->change("remove", [](Session& s) { s.columns.erase(s.columns.begin() + 1); });
    if (round % 11 == 0)
      window->change("add", [](Session& s) { s.columns.push_back(s.columns.back()); });
    if (round % 13 == 0)
      window->change("scale", [&](Session& s) { s.conditions.scale = 0.1 + 0.01 * round; });
    if (round % 29 == 28) {
      window->open("synthetic:clusters?heads=4&d=32&n=" + QString::number(512 + round));
      window->open("synthetic:clusters?heads=4&d=32&n=" + QString::number(513 + round));
    }
    QTest::qWait(round % 5 * 8);
  }
  REQUIRE(window.settle());
  const Study& study = window.study();
  for (std::size_t i = 0; i < study.columns().size(); ++i) {
    const ColumnState& state = study.columns()[i];
    CHECK_FALSE(state.stale);
    CHECK(state.column == study.session().columns[i]);
    REQUIRE(state.computation);
    CHECK(state.computation->values == study.session().columns[i].values);
    CHECK(state.computation->op->problem().n() == study.problem()->n());
    CHECK(state.computation->op->problem().head == study.session().head);
  }
}

}  // namespace fovea::test
