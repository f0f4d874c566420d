#include "input/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace fovea {
namespace {

// Only what a signal handler may call. Its own signal waits until it returns, and then ends the
// program as it would have done.
void report_crash(int signal) {
  constexpr std::string_view message =
      "fovea: crashed. If the session was kept, the next start of the window offers it.\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  ::raise(signal);
}

}  // namespace

void report_crashes() {
  keep_stack_for_crash();
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction action {};
    action.sa_handler = report_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

void keep_stack_for_crash() {
  thread_local std::array<std::byte, std::size_t{64} << 10> memory;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  ::sigaltstack(&stack, nullptr);
}

}  // namespace fovea
