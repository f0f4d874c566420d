// Programs send steps to the windows over the socket, well-behaved ones and others.
#include <QComboBox>
#include <QPushButton>
#include <QToolButton>
#include <atomic>
#include <thread>

#include "endurance/actions.h"
#include "live/blobs.h"
#include "live/connection.h"
#include "window/widgets/slider.h"

namespace fovea::test {
namespace {

struct Burst {
  std::string socket, stream;
  Index first = 0, count = 1, heads = 2, n = 32, d = 8;
  int pause_ms = 0;
};

/// Returns what went wrong; empty if there was nothing.
std::string send_steps(const Burst& burst) {
  Connection program(burst.socket);
  program.send_all(wire_greeting(""));
  if (program.answer().find("\"version\"") == std::string::npos)
    return "the greeting was not answered";
  for (Index i = 0; i < burst.count; ++i) {
    program.send_all(
        frame(heads_blob(burst.stream, burst.first + i, burst.heads, burst.n, burst.d)));
    const std::string answer = program.answer();
    if (answer.find("\"step\"") == std::string::npos) return "a step was not kept: " + answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(burst.pause_ms));
  }
  return {};
}

/// Runs it on a thread of its own and waits for it.
void run_program(Desk& desk, const std::function<std::string()>& program) {
  std::atomic<bool> done = false;
  std::string wrong;
  std::jthread thread([&] {
    wrong = program();
    done = true;
  });
  if (!desk.wait_until([&] { return done.load(); }, 60000))
    desk.log().failure("a program that sends is stuck");
  thread.join();
  if (!wrong.empty()) desk.log().failure("a program that sends: " + wrong);
}

void send_burst(Desk& desk) {
  Draws& draws = desk.draws();
  static const std::vector<std::string> names{"train", "eval", "a/b é", "train"};
  Burst burst{.socket = desk.socket().toStdString(), .stream = draws.one_of(names)};
  burst.first = draws.below(1000);
  burst.count = draws.from_to(1, 12);
  burst.heads = draws.from_to(1, 3);
  burst.n = draws.chance(0.7) ? 32 : draws.from_to(2, 120);
  burst.d = draws.chance(0.8) ? 8 : 16;
  burst.pause_ms = draws.chance(0.5) ? 0 : draws.below(80);
  run_program(desk, [burst] { return send_steps(burst); });
}

void misbehave(Desk& desk) {
  const std::string path = desk.socket().toStdString();
  const int how = desk.draws().below(4);
  run_program(desk, [path, how]() -> std::string {
    Connection program(path);
    if (how == 0) {
      program.send_all("GET / HTTP/1.1\r\n\r\n");
      program.answer();
      return {};
    }
    program.send_all(wire_greeting(""));
    program.answer();
    if (how == 1) {
      program.send_all(frame("no tensors"));
      return program.answer().find("error") == std::string::npos ? "nonsense was not refused" : "";
    }
    if (how == 2) program.send_all(wire_length(1000) + "half a frame");
    return {};  // and leaves
  });
}

void use_live_bar(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  LiveBar& bar = window.live_bar();
  if (bar.isHidden()) return;
  if (auto* show = window.findChild<QPushButton*>("live_show");
      show && !show->isHidden() && draws.chance(0.7))
    return show->click();
  auto* slider = window.findChild<Slider*>("live_step");
  switch (draws.below(5)) {
    case 0:
      return bar.set_following(draws.chance(0.5));
    case 1:
      return slider->setValue(draws.from_to(slider->minimum(), slider->maximum()));
    case 2:
      return bar.save_capture_to(desk.files().at("capture.safetensors"));
    case 3:
      return window.findChild<QToolButton*>("live_follow")->click();
    default: {
      auto* names = window.findChild<QComboBox*>("live_names");
      if (names->count() > 0) emit names->activated(draws.below(names->count()));
    }
  }
}

/// As `live:NAME` of the command line does.
void open_stream(Desk& desk) {
  desk.window().open(desk.draws().chance(0.7) ? "live:train" : "live:never sent");
}

}  // namespace

std::vector<Action> live_actions() {
  return {{"a program sends", 6, send_burst},
          {"a program misbehaves", 1, misbehave},
          {"use the live bar", 5, use_live_bar},
          {"open a stream", 2, open_stream}};
}

}  // namespace fovea::test
