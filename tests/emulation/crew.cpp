#include "crew.h"

#include <cuda_runtime.h>

#include <vector>

#ifdef FOVEA_CREW_OF_THREADS

#include <atomic>
#include <chrono>
#include <thread>

namespace fovea::emulation {
namespace {

std::atomic<bool> may_give_up = false;
thread_local int pauses = 0;

}  // namespace

// Threads of the operating system wait in vain if nothing happens in a long time.
bool pause() {
  constexpr int milliseconds = 60000;
  if (++pauses > milliseconds) {
    if (may_give_up) return false;
    fault("threads wait at a barrier that others never reach");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}
void note_progress() {
  pauses = 0;
}
void give_up_waits(bool may) {
  may_give_up = may;
}

void run_crew(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> others;
  for (unsigned t = 1; t < count; ++t) others.emplace_back([&body, t] { body(t); });
  body(0);
  for (std::thread& other : others) other.join();
}

}  // namespace fovea::emulation

#else

#include <ucontext.h>

#include <memory>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace fovea::emulation {
namespace {

// The address sanitizer clears what it knows of a whole stack whenever another one is used.
constexpr std::size_t stack_bytes = 64 << 10;

#ifdef __SANITIZE_ADDRESS__

// The address sanitizer must be notified of every change of stacks, and only supports contexts.
struct Place {
  ucontext_t context{};
  const void* stack = nullptr;
  std::size_t size = 0;
  void* shadow = nullptr;
};
Place* left = nullptr;  // whose stack was used last

void arrive(Place& here) {
  __sanitizer_finish_switch_fiber(here.shadow, &left->stack, &left->size);
}
void leap(Place& from, Place& to, bool for_ever = false) {
  left = &from;
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.shadow, to.stack, to.size);
  swapcontext(&from.context, &to.context);
  arrive(from);
}
void prepare(Place& place, char* stack, void (*entry)()) {
  __asan_unpoison_memory_region(stack, stack_bytes);
  place.stack = stack;
  place.size = stack_bytes;
  place.shadow = nullptr;
  getcontext(&place.context);
  place.context.uc_stack.ss_sp = stack;
  place.context.uc_stack.ss_size = stack_bytes;
  place.context.uc_link = nullptr;
  makecontext(&place.context, entry, 0);
}

#else

// These builtins need no system calls and keep no more than the stack and where to go on, so the
// context is used for the first entry only.
struct Place {
  ucontext_t start{};
  void* here[5] = {};
  bool started = true;
};

void arrive(Place&) {}
[[gnu::noinline]] void go_on(Place& to) {
  if (to.started) __builtin_longjmp(to.here, 1);
  to.started = true;
  setcontext(&to.start);
}
[[gnu::noinline]] void leap(Place& from, Place& to, bool = false) {
  if (__builtin_setjmp(from.here) == 0) go_on(to);
}
void prepare(Place& place, char* stack, void (*entry)()) {
  place.started = false;
  getcontext(&place.start);
  place.start.uc_stack.ss_sp = stack;
  place.start.uc_stack.ss_size = stack_bytes;
  place.start.uc_link = nullptr;
  makecontext(&place.start, entry, 0);
}

#endif

// Stacks whose addresses are equal but for high bits would share a few sets of the caches.
std::size_t shift_of(std::size_t thread) {
  return thread % 64 * 576;
}

struct Fibre {
  Place place;
  std::unique_ptr<char[]> memory;  // of its stack
  Thread* thread = nullptr;        // `self` while it runs
  bool done = false;
};

// For this thread of the operating system.
struct Turns {
  std::vector<Fibre> fibres;
  const std::function<void(unsigned)>* body = nullptr;
  unsigned count = 0, left = 0;  // fibres that began, and those that have not ended
  unsigned current = 0;
  unsigned step = 0;  // how many fibres had their turn in this round
  bool forwards = true;
  bool progress = false;  // a thread passed a barrier or ended since the round began
  bool in_vain = false;   // no thread made progress in a round
  Place scheduler;
};
thread_local Turns turns;
bool may_give_up = false;

// Of the fibre whose turn is next; of the scheduler after the last of a round.
Place& next_place() {
  while (turns.step < turns.count) {
    const unsigned t = turns.forwards ? turns.step : turns.count - 1 - turns.step;
    ++turns.step;
    Fibre& fibre = turns.fibres[t];
    if (fibre.done) continue;
    turns.current = t;
    self = fibre.thread;
    return fibre.place;
  }
  return turns.scheduler;
}

void yield() {
  Fibre& fibre = turns.fibres[turns.current];
  fibre.thread = self;
  leap(fibre.place, next_place());
}

void enter() {
  Fibre& fibre = turns.fibres[turns.current];
  arrive(fibre.place);
  (*turns.body)(turns.current);
  fibre.done = true;
  turns.progress = true;
  --turns.left;
  leap(fibre.place, next_place(), true);
}

}  // namespace

bool pause() {
  yield();
  return !turns.in_vain;
}
void note_progress() {
  turns.progress = true;
}
void give_up_waits(bool may) {
  may_give_up = may;
}

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
  for (std::size_t t = turns.fibres.size(); t < count; ++t)
    turns.fibres.emplace_back().memory.reset(new char[stack_bytes + shift_of(t)]);
  turns.body = &body;
  Thread* const outer = self;
  for (unsigned t = 0; t < count; ++t) {
    Fibre& fibre = turns.fibres[t];
    fibre.thread = nullptr;
    fibre.done = false;
    prepare(fibre.place, fibre.memory.get() + shift_of(t), enter);
  }
  // Alternately forwards and backwards, so that mistakes that depend on the order of threads are
  // found.
  turns.count = turns.left = count;
  for (turns.forwards = true; turns.left > 0; turns.forwards = !turns.forwards) {
    turns.progress = false;
    turns.step = 0;
    leap(turns.scheduler, next_place());
    turns.in_vain = !turns.progress && turns.left > 0;
    if (turns.in_vain && !may_give_up) fault("threads wait at a barrier that others never reach");
  }
  self = outer;
}

}  // namespace fovea::emulation

#endif
