#include "input/crash_report.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace fovea {
namespace {

// Calls only what a signal handler may call. The signal waits until the handler returns, and then
// ends the program as it would have done.
void report_crash(int signal) {
  constexpr std::string_view message =
      "fovea: crashed. If the session was kept, the next start of the window offers it.\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  ::raise(signal);
}

/// A stack for signals of the thread that makes it, unless the thread has one, such as that of a
/// sanitizer.
class SignalStack {
 public:
  SignalStack() {
    stack_t known{};
    if (::sigaltstack(nullptr, &known) != 0 || !(known.ss_flags & SS_DISABLE)) return;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = memory;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = bytes;
    ::sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, bytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 10;
  void* memory_ = nullptr;
};

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
  thread_local const SignalStack stack;
}

}  // namespace fovea
