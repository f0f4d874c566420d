#include "endurance/watchdog.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace fovea::test {
namespace {

using namespace std::chrono_literals;

int log_descriptor = -1;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// How long each thread of the program was ready to run while other programs ran, by its number.
std::map<std::string, std::int64_t> waited_for_a_core_ns() {
  std::map<std::string, std::int64_t> waits;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "schedstat");
    std::int64_t ran = 0, waited = 0;
    if (file >> ran >> waited) waits[thread.path().filename().string()] = waited;
  }
  return waits;
}

void write_text(const char* text) {
  if (write(log_descriptor, text, std::strlen(text)) < 0) return;
}

// backtrace() may be called in a handler once its library has been loaded.
void write_place() {
  std::array<void*, 100> frames{};
  const int count = backtrace(frames.data(), int(frames.size()));
  backtrace_symbols_fd(frames.data(), count, log_descriptor);
}

void tell_place(int) {
  write_text("the window's thread is here:\n");
  write_place();
}

void tell_crash(int signal_number) {
  write_text("CRASH: ");
  write_text(strsignal(signal_number));
  write_text(", here:\n");
  write_place();
  ::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void log_crashes(const RunLog& log) {
  log_descriptor = log.descriptor();
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);  // loads what it needs
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action = {};
    action.sa_handler = tell_crash;
    sigaction(number, &action, nullptr);
  }
}

Watchdog::Watchdog(RunLog& log, int unresponsive_ms, int dead_ms)
    : log_(log),
      unresponsive_ms_(unresponsive_ms),
      dead_ms_(dead_ms),
      watched_(pthread_self()),
      beat_ns_(now_ns()),
      waited_ns_(waited_for_a_core_ns()) {
  log_descriptor = log.descriptor();
  struct sigaction action = {};
  action.sa_handler = tell_place;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);
  startTimer(50, Qt::PreciseTimer);
  thread_ = std::jthread([this](std::stop_token stop) { watch(stop); });
}

Watchdog::~Watchdog() {
  thread_ = {};  // stops and joins
}

void Watchdog::timerEvent(QTimerEvent*) {
  const std::int64_t now = now_ns();
  const double gap_ms = double(now - beat_ns_) * 1e-6;
  const auto before = std::exchange(waited_ns_, waited_for_a_core_ns());
  // The window's thread draws with others, and waits for the one that waits longest.
  double waited_ms = 0;
  for (const auto& [thread, waited] : waited_ns_)
    if (const auto it = before.find(thread); it != before.end())
      waited_ms = std::max(waited_ms, double(waited - it->second) * 1e-6);
  beat_ns_ = now;
  const double unresponsive_ms = gap_ms - waited_ms;
  longest_ms_ = std::max(longest_ms_, unresponsive_ms);
  if (unresponsive_ms <= unresponsive_ms_) return;
  char text[128];
  std::snprintf(text, sizeof text,
                "the window was unresponsive for %.0f ms, and for %.0f ms without a core",
                unresponsive_ms, waited_ms);
  log_.failure(text);
}

void Watchdog::watch(std::stop_token stop) {
  std::int64_t told = 0;
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(100ms);
    if (log_.seconds_in_action() * 1e3 > 10 * dead_ms_) end("the action does not end");
    const std::int64_t beat = beat_ns_;
    const double gap_ms = double(now_ns() - beat) * 1e-6;
    if (gap_ms > unresponsive_ms_ && told != beat) {
      told = beat;
      pthread_kill(watched_, SIGUSR2);
    }
    if (gap_ms > dead_ms_) end("the window is dead: it handles no events");
  }
}

void Watchdog::end(const std::string& why) {
  pthread_kill(watched_, SIGUSR2);
  std::this_thread::sleep_for(500ms);  // until its place is written
  log_.failure(why);
  std::_Exit(3);
}

}  // namespace fovea::test
