// A crash says so, and ends the program by its signal.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "input/crash_report.h"

namespace fovea::test {
namespace {

[[gnu::noinline]] int overflow_stack(int depth) {
  volatile char frame[1024] = {};
  return depth < 0 ? 0 : overflow_stack(depth + 1) + frame[depth % 1024];
}

/// What a child process that calls `crash` leaves.
struct Crash {
  std::string message;
  int signal = 0;

  explicit Crash(void (*crash)()) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(pipe[1], STDERR_FILENO);
      stack_t none{};
      none.ss_flags = SS_DISABLE;  // that of doctest
      ::sigaltstack(&none, nullptr);
      report_crashes();
      crash();
      ::_exit(0);
    }
    ::close(pipe[1]);
    std::array<char, 256> part{};
    for (ssize_t got = 0; (got = ::read(pipe[0], part.data(), part.size())) > 0;)
      message.append(part.data(), static_cast<std::size_t>(got));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
};

}  // namespace

TEST_CASE("a crash says so and ends the program, also where a stack has overflowed") {
  const auto check = [](void (*crash)(), int signal) {
    const Crash crashed(crash);
    CAPTURE(crashed.message);
    CHECK(crashed.signal == signal);
    CHECK(crashed.message.find("fovea: crashed. If the session was kept") == 0);
  };
  check([] { ::raise(SIGABRT); }, SIGABRT);
  check([] { overflow_stack(0); }, SIGSEGV);
  check(
      [] {
        std::thread([] {
          keep_stack_for_crash();
          overflow_stack(0);
        }).join();
      },
      SIGSEGV);
}

}  // namespace fovea::test
