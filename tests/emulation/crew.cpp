// Compiled without the thread sanitizer, which would take the turns of fibres for races.
#include "crew.h"

#include <cuda_runtime.h>
#include <ucontext.h>

#include <memory>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FOVEA_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace fovea::emulation {
namespace {

// ---- What the thread sanitizer is told --------------------------------------------------------
// It takes fibres for threads. Whose turn it is orders nothing by itself; barriers do.

#ifdef FOVEA_THREAD_SANITIZER

void* present_thread() {
  return __tsan_get_current_fiber();
}
void* new_thread() {
  return __tsan_create_fiber(0);
}
void forget_thread(void* thread) {
  __tsan_destroy_fiber(thread);
}
void begin_turn(void* thread) {
  __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
}

#else

void* present_thread() {
  return nullptr;
}
void* new_thread() {
  return nullptr;
}
void forget_thread(void*) {}
[[maybe_unused]] void begin_turn(void*) {}

#endif

// ---- Stacks -----------------------------------------------------------------------------------

// The address sanitizer clears what it knows of a whole stack whenever another one is used.
constexpr std::size_t stack_bytes = 64 << 10;

#ifdef __SANITIZE_ADDRESS__

// The address sanitizer must be notified of every change of stacks, and only supports contexts.
struct Place {
  ucontext_t context{};
  const void* stack = nullptr;
  std::size_t size = 0;
  void* shadow = nullptr;
  void* thread = nullptr;
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
  void* thread = nullptr;  // as which the thread sanitizer knows it
};

void arrive(Place&) {}
[[gnu::noinline]] void go_on(Place& to) {
  begin_turn(to.thread);
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

// ---- Turns ------------------------------------------------------------------------------------

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
  char begun = 0, ended = 0;  // their addresses order what is before and after the crew's work

  ~Turns() {
    for (const Fibre& fibre : fibres) forget_thread(fibre.place.thread);
  }
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
  order_after(&turns.begun);
  {
    Thread thread;
    self = &thread;
    (*turns.body)(turns.current);
  }
  order_before(&turns.ended);
  fibre.done = true;
  turns.progress = true;
  --turns.left;
  leap(fibre.place, next_place(), true);
}

}  // namespace

#ifdef FOVEA_THREAD_SANITIZER
void order_before(void* at) {
  __tsan_release(at);
}
void order_after(void* at) {
  __tsan_acquire(at);
}
#else
void order_before(void*) {}
void order_after(void*) {}
#endif

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
  char* const order = &order_[turn % 2];
  order_before(order);
  if (++arrived_ >= expected_) {
    arrived_ = 0;
    ++turn_;
    turns.progress = true;
  } else {
    while (turn_ == turn) yield();
  }
  order_after(order);
}

void Barrier::arrive_and_drop() {
  order_before(&order_[turn_ % 2]);
  --expected_;
  if (arrived_ > 0 && arrived_ >= expected_) {
    arrived_ = 0;
    ++turn_;
  }
  turns.progress = true;
}

void run_crew(unsigned count, const std::function<void(unsigned)>& body) {
  for (std::size_t t = turns.fibres.size(); t < count; ++t) {
    Fibre& fibre = turns.fibres.emplace_back();
    fibre.memory.reset(new char[stack_bytes + shift_of(t)]);
    fibre.place.thread = new_thread();
  }
  turns.body = &body;
  Thread* const outer = self;
  for (unsigned t = 0; t < count; ++t) {
    Fibre& fibre = turns.fibres[t];
    fibre.thread = nullptr;
    fibre.done = false;
    prepare(fibre.place, fibre.memory.get() + shift_of(t), enter);
  }
  turns.scheduler.thread = present_thread();
  order_before(&turns.begun);
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
  order_after(&turns.ended);
  self = outer;
}

}  // namespace fovea::emulation
