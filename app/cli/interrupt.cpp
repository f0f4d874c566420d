#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string_view>

#include "data/error.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR2);  // ends the watcher
  return signals;
}

}  // namespace

// A signal handler may call almost no function. A thread that waits for the signal may call any.
Interrupt::Interrupt() {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  pthread_kill(watcher_.native_handle(), SIGUSR2);
  watcher_.join();
}

void Interrupt::watch() {
  const sigset_t signals = stop_signals();
  int signal = 0;
  sigwait(&signals, &signal);
  std::unique_lock lock(mutex_);
  if (over_) return;
  stop_.request_stop();
  if (ended_.wait_for(lock, std::chrono::milliseconds(100), [&] { return over_; })) return;
  constexpr std::string_view said = "fovea: stopped\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, said.data(), said.size());
  remove_unfinished_files();
  _exit(Cancelled().status());
}

}  // namespace fovea
