// Streams of running programs in the window: offered, followed, looked back at, and saved.
#include <doctest/doctest.h>

#include <QAction>
#include <QComboBox>
#include <QPushButton>
#include <QToolButton>
#include <algorithm>
#include <set>
#include <thread>

#include "input/open_source.h"
#include "live/blobs.h"
#include "study/background.h"
#include "temporary_directory.h"
#include "views/views.h"
#include "window/harness.h"
#include "window/widgets/slider.h"

namespace fovea::test {
namespace {

using Streams = std::shared_ptr<LiveStreams>;

void send(const Streams& streams, const std::string& name, Index number, Index n = 64) {
  streams->add(read_live_step(bytes(heads_blob(name, number, 2, n, 16))));
}

bool shows(Window& window, const std::string& name, Index number) {
  return wait_until([&] {
    return window.study().session().source == "live:" + name && !window.study().opening() &&
           window->live_bar().shown_step() == number && window.study().settled();
  });
}

template <class Widget>
Widget& part(Window& window, const QString& name) {
  return *window->findChild<Widget*>(name);
}

/// The window on `small`, with a stream that is shown.
struct Watching {
  Streams streams = std::make_shared<LiveStreams>();
  Window window{small};

  Watching() {
    window->live_bar().watch(streams);
    send(streams, "train", 0);
    REQUIRE(wait_until([&] { return !window->live_bar().text().isEmpty(); }));
    part<QPushButton>(window, "live_show").click();
    REQUIRE(shows(window, "train", 0));
  }
};

float first_query(Window& window) {
  return window.study().problem()->q(0, 0);
}

}  // namespace

TEST_CASE("a stream is offered and what is open stays until a person asks for the stream") {
  const auto streams = std::make_shared<LiveStreams>();
  Window window(small);
  window->live_bar().watch(streams);
  CHECK(window->live_bar().text().isEmpty());
  send(streams, "train", 3);
  REQUIRE(wait_until([&] { return !window->live_bar().text().isEmpty(); }));
  CHECK(window->live_bar().text() == "A program sends “train”, step 3.");
  CHECK(window.study().session().source == small.toStdString());
  part<QPushButton>(window, "live_show").click();
  REQUIRE(shows(window, "train", 3));
  CHECK(window->live_bar().text() == "live: train step 3");
  CHECK(window.study().problem()->causal);

  window.trigger("undo");  // brings back what was open, and the stream is offered again
  REQUIRE(wait_until([&] {
    return window.study().session().source == small.toStdString() && window.study().settled();
  }));
  CHECK(window->live_bar().text().startsWith("A program sends"));
  send(streams, "train", 4);
  window.trigger("redo");
  REQUIRE(shows(window, "train", 4));
}

TEST_CASE("new steps replace the shown one, and everything that was chosen stays") {
  Watching watching;
  Window& window = watching.window;
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d", "hyper"});
  window->change({}, [](Session& s) {
    s.head = 1;
    s.viewport = {10, 50, 20, 60};
    s.columns[2].seed = 7;
    s.pinned_query = 12;
  });
  window.study().select_column(2);
  REQUIRE(window.settle());
  const Session before = window.study().session();
  const float value = first_query(window);
  const QString undo = window->findChild<QAction*>("undo")->text();
  for (const Index number : {1, 2, 3}) send(watching.streams, "train", number);
  REQUIRE(shows(window, "train", 3));
  CHECK(window.study().session() == before);
  CHECK(window.study().selected_column() == 2);
  CHECK(first_query(window) != value);
  CHECK(window->findChild<QAction*>("undo")->text() == undo);
  const Raster& raster = std::get<Raster>(panel(window, find_view("heatmap"), 0).body);
  CHECK(raster.rows.begin == 10);
  CHECK(raster.cols.end == 60);
}

TEST_CASE("the slider goes back to earlier steps, and its last place follows again") {
  Watching watching;
  Window& window = watching.window;
  const float zeroth = first_query(window);
  for (const Index number : {1, 2, 5}) send(watching.streams, "train", number);
  REQUIRE(shows(window, "train", 5));
  auto& slider = part<Slider>(window, "live_step");
  CHECK(slider.maximum() == 3);
  CHECK(slider.value() == 3);
  slider.setValue(0);
  REQUIRE(shows(window, "train", 0));
  CHECK(first_query(window) == zeroth);
  CHECK_FALSE(window->live_bar().follows());
  CHECK_FALSE(part<QToolButton>(window, "live_follow").isChecked());
  send(watching.streams, "train", 6);
  wait_until([] { return false; }, 200);
  CHECK(window->live_bar().text() == "live: train step 0, the last is 6");
  part<QToolButton>(window, "live_follow").click();
  REQUIRE(shows(window, "train", 6));
  slider.setValue(1);
  REQUIRE(shows(window, "train", 1));
  slider.setValue(slider.maximum());
  CHECK(window->live_bar().follows());
  REQUIRE(shows(window, "train", 6));
}

TEST_CASE("a step of other tokens goes on with the columns, and without a step of undo") {
  Watching watching;
  Window& window = watching.window;
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d"});
  window->change({}, [](Session& s) {
    s.head = 1;
    s.conditions.causal = false;
    s.pinned_query = 60;
  });
  REQUIRE(window.settle());
  const QString undo = window->findChild<QAction*>("undo")->text();
  send(watching.streams, "train", 1, 40);
  REQUIRE(shows(window, "train", 1));
  CHECK(window.study().length() == 40);
  CHECK(window.study().session().head == 1);
  CHECK(window.study().session().conditions.causal == false);
  CHECK(window.study().session().columns.size() == 2);
  CHECK(window.study().session().viewport == Viewport{0, 40, 0, 40});
  CHECK(window->findChild<QAction*>("undo")->text() == undo);
  send(watching.streams, "train", 2, 80);
  REQUIRE(shows(window, "train", 2));
  CHECK(window.study().length() == 80);
}

TEST_CASE("a program that starts again begins its stream anew") {
  Watching watching;
  Window& window = watching.window;
  for (const Index number : {1, 2, 3}) send(watching.streams, "train", number);
  REQUIRE(shows(window, "train", 3));
  send(watching.streams, "train", 0);
  REQUIRE(shows(window, "train", 0));
  CHECK(part<Slider>(window, "live_step").maximum() == 0);
}

TEST_CASE("a window with nothing open waits for its stream, and shows it at once") {
  const auto streams = std::make_shared<LiveStreams>();
  MainWindow window(make_low_priority_backend());
  window.live_bar().watch(streams);
  window.show();
  window.open("live:train");
  CHECK(window.live_bar().text() == "Waiting for a program to send “train”…");
  send(streams, "other", 0);
  wait_until([] { return false; }, 100);
  CHECK_FALSE(window.study().source());
  send(streams, "train", 0);
  REQUIRE(wait_until([&] { return window.study().settled(); }));
  CHECK(window.study().session().source == "live:train");
  CHECK(window.live_bar().text() == "live: train step 0");
  auto& names = *window.findChild<QComboBox*>("live_names");
  CHECK(names.isVisible());
  names.setCurrentIndex(0);
  emit names.activated(0);
  REQUIRE(wait_until(
      [&] { return window.study().session().source == "live:other" && window.study().settled(); }));
  CHECK(window.live_bar().shown_step() == 0);
}

TEST_CASE(
    "a stream that was dismissed stays away, and what is hidden can be opened by its address") {
  const auto streams = std::make_shared<LiveStreams>();
  Window window(small);
  window->live_bar().watch(streams);
  send(streams, "train", 0);
  REQUIRE(wait_until([&] { return !window->live_bar().text().isEmpty(); }));
  for (auto* button : window->live_bar().findChildren<QToolButton*>())
    if (button->accessibleName() == "Hide the stream") button->click();
  send(streams, "train", 1);
  wait_until([] { return false; }, 100);
  CHECK(window->live_bar().text().isEmpty());
  window->open("live:train");
  REQUIRE(shows(window, "train", 1));
  CHECK_FALSE(window->live_bar().text().isEmpty());
}

TEST_CASE(
    "another stream is offered after one was dismissed, and a shown one that is hidden stops") {
  const auto streams = std::make_shared<LiveStreams>();
  Window window(small);
  window->live_bar().watch(streams);
  const auto hide = [&] {
    for (auto* button : window->live_bar().findChildren<QToolButton*>())
      if (button->accessibleName() == "Hide the stream") button->click();
  };
  send(streams, "first", 0);
  REQUIRE(wait_until([&] { return !window->live_bar().text().isEmpty(); }));
  hide();
  send(streams, "second", 0);
  REQUIRE(wait_until([&] { return !window->live_bar().text().isEmpty(); }));
  CHECK(window->live_bar().text() == "A program sends “second”, step 0.");
  window->live_bar().open_stream("second");
  REQUIRE(shows(window, "second", 0));
  hide();
  send(streams, "second", 1);
  wait_until([] { return false; }, 200);
  CHECK(window->live_bar().shown_step() == 0);
}

TEST_CASE("what was opened while a stream was waited for is not replaced by it") {
  const auto streams = std::make_shared<LiveStreams>();
  MainWindow window(make_low_priority_backend());
  window.live_bar().watch(streams);
  window.show();
  window.open("live:train");
  window.open(small);
  REQUIRE(wait_until([&] { return window.study().source() && window.study().settled(); }));
  send(streams, "train", 0);
  REQUIRE(wait_until([&] { return window.live_bar().text().startsWith("A program sends"); }));
  CHECK(window.study().session().source == small.toStdString());
}

TEST_CASE("a window that programs do not reach says so while it waits") {
  MainWindow window(make_low_priority_backend());
  window.live_bar().watch(std::make_shared<LiveStreams>());
  window.live_bar().set_listening([] { return false; });
  window.show();
  window.open("live:train");
  CHECK(window.live_bar().text().startsWith("Another Fovea takes what programs send"));
}

TEST_CASE("the shown step is saved although it is no longer kept") {
  const TemporaryDirectory dir;
  const auto streams = std::make_shared<LiveStreams>(LiveLimits{.most_steps = 3});
  Window window(small);
  window->live_bar().watch(streams);
  send(streams, "train", 0);
  window->live_bar().open_stream("train");
  REQUIRE(shows(window, "train", 0));
  send(streams, "train", 1);
  REQUIRE(shows(window, "train", 1));
  window->live_bar().set_following(false);
  for (const Index number : {2, 3, 4, 5, 6}) send(streams, "train", number);
  bool then = false;
  window->live_bar().save_capture_to(QString::fromStdString(dir / "step.safetensors"),
                                     [&] { then = true; });
  REQUIRE(wait_until([&] { return then; }));
  CHECK(read_bytes(dir / "step.safetensors") == heads_blob("train", 1, 2, 64, 16));
}

TEST_CASE("views that were chosen stay in a stream that grows, whatever its columns are") {
  Watching watching;
  Window& window = watching.window;
  show(window, {find_view("row"), find_view("output")}, {"exact"});
  REQUIRE(window.settle());
  send(watching.streams, "train", 1, 65);
  REQUIRE(shows(window, "train", 1));
  CHECK(window.study().session().views == std::vector<View>{find_view("row"), find_view("output")});
  CHECK(window.study().session().columns.size() == 1);
}

TEST_CASE("a session of a stream is not saved, but the step is, byte by byte, and then opened") {
  const TemporaryDirectory dir;
  Watching watching;
  Window& window = watching.window;
  show(window, {find_view("heatmap")}, {"exact", "hyper"});
  REQUIRE(window.settle());
  window.trigger("save");
  CHECK(window->info_bar().message().contains("is no file"));
  bool then = false;
  window->live_bar().save_capture_to(QString::fromStdString(dir / "step.safetensors"),
                                     [&] { then = true; });
  REQUIRE(wait_until([&] { return then; }));
  CHECK(read_bytes(dir / "step.safetensors") == heads_blob("train", 0, 2, 64, 16));
  CHECK(open_source(dir / "step.safetensors").layers.front().lengths() == Lengths{64, 64});
  window->open(QString::fromStdString(dir / "step.safetensors"));
  REQUIRE(wait_until([&] {
    return window.study().session().source == dir / "step.safetensors" && window.settle();
  }));
  CHECK(window.study().session().columns.size() == 2);
  CHECK(window.save(QString::fromStdString(dir / "s.fovea.json")));
}

TEST_CASE("a fast program does not keep pictures from being finished") {
  Watching watching;
  Window& window = watching.window;
  std::set<Index> seen;
  std::atomic<bool> enough = false, done = false;
  std::atomic<Index> sent = 0;
  std::jthread program([&](const std::stop_token& stop) {  // until enough steps were shown
    while (!stop.stop_requested() && (sent < 400 || !enough)) {
      send(watching.streams, "train", sent + 1);
      ++sent;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    done = true;
  });
  wait_until([&] {
    if (window.study().pictures_ready() && !window.study().holds_step() && !done)
      seen.insert(window->live_bar().shown_step().value_or(0));
    enough = seen.size() >= 4;
    return done.load();
  });
  program.request_stop();
  program.join();
  CHECK(seen.size() >= 4);
  CHECK(shows(window, "train", sent));
  CHECK(watching.streams->stream("train").steps.size() == static_cast<std::size_t>(sent) + 1);
}

}  // namespace fovea::test
