#include "crew.h"

#include <vector>

#include <cuda_runtime.h>

#ifdef FOVEA_CREW_OF_THREADS

#include <thread>

namespace fovea::emulation {

void run_crew(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> others;
  for (unsigned t = 1; t < count; ++t) others.emplace_back([&body, t] { body(t); });
  body(0);
  for (std::thread& other : others) other.join();
}

}  // namespace fovea::emulation

#else

#include <setjmp.h>
#include <ucontext.h>

#include <memory>

namespace fovea::emulation {
namespace {

constexpr std::size_t stack_bytes = 256 << 10;

struct Fibre {
  ucontext_t start{};
  jmp_buf here{};
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  Thread* thread = nullptr;  // `self` while it runs
  bool started = false, done = false;
};

// Of this thread of the operating system.
struct Turns {
  std::vector<Fibre> fibres;
  const std::function<void(unsigned)>* body = nullptr;
  unsigned current = 0;
  bool progress = false;  // somebody passed a barrier or ended since the round began
  jmp_buf scheduler{};
  ucontext_t unused{};
};
thread_local Turns turns;

// Jumping by setjmp costs no system calls; the context is used for the first entry only.
void yield() {
  Fibre& fibre = turns.fibres[turns.current];
  fibre.thread = self;
  if (_setjmp(fibre.here) == 0) _longjmp(turns.scheduler, 1);
}

void enter() {
  (*turns.body)(turns.current);
  turns.fibres[turns.current].done = true;
  turns.progress = true;
  _longjmp(turns.scheduler, 1);
}

void resume(unsigned t) {
  turns.current = t;
  Fibre& fibre = turns.fibres[t];
  self = fibre.thread;
  if (_setjmp(turns.scheduler) != 0) return;
  if (fibre.started) _longjmp(fibre.here, 1);
  fibre.started = true;
  setcontext(&fibre.start);
}

}  // namespace

void Barrier::arrive_and_wait() {
  const unsigned long turn = turn_;
  if (++arrived_ >= expected_) {
    arrived_ = 0;
    ++turn_;
    turns.progress = true;
    return;
  }
  while (turn_ == turn) yield();
}

void Barrier::arrive_and_drop() {
  --expected_;
  if (arrived_ > 0 && arrived_ >= expected_) {
    arrived_ = 0;
    ++turn_;
  }
  turns.progress = true;
}

void run_crew(unsigned count, const std::function<void(unsigned)>& body) {
  if (turns.fibres.size() < count) turns.fibres.resize(count);
  turns.body = &body;
  Thread* const outer = self;
  for (unsigned t = 0; t < count; ++t) {
    Fibre& fibre = turns.fibres[t];
    fibre.thread = nullptr;
    fibre.started = fibre.done = false;
    getcontext(&fibre.start);
    fibre.start.uc_stack.ss_sp = fibre.stack.get();
    fibre.start.uc_stack.ss_size = stack_bytes;
    fibre.start.uc_link = nullptr;
    makecontext(&fibre.start, enter, 0);
  }
  // Now forwards, now backwards: what depends on the order of threads shows itself.
  bool forwards = true;
  for (unsigned left = count; left > 0; forwards = !forwards) {
    turns.progress = false;
    for (unsigned step = 0; step < count; ++step) {
      const unsigned t = forwards ? step : count - 1 - step;
      if (turns.fibres[t].done) continue;
      resume(t);
      left -= turns.fibres[t].done;
    }
    if (!turns.progress && left > 0) fault("threads wait at a barrier that others never reach");
  }
  self = outer;
}

}  // namespace fovea::emulation

#endif
