// Compiled without sanitizers: the thread sanitizer would take the turns of fibres for races, and
// the address sanitizer would forget a whole stack whenever it is left.
#include "crew.h"

#include <cuda_runtime.h>
#include <ucontext.h>

#include <memory>
#include <vector>

#ifdef FOVEA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FOVEA_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace fovea::emulation {
namespace {

constexpr std::size_t stack_bytes = 64 << 10;
constexpr std::size_t most_threads = 1024;  // of a block

// ---- Calls that keep a sanitizer informed ------------------------------------------------------

#if defined(FOVEA_THREAD_SANITIZER)

// It takes fibres for threads. Whose turn it is orders nothing by itself; barriers do.
class Announcement {
 public:
  void of_new_fibre(char*) {
    if (!thread_) thread_ = __tsan_create_fiber(0);
  }
  void of_present_stack() { thread_ = __tsan_get_current_fiber(); }
  static void leaving(Announcement&, Announcement& to) {
    __tsan_switch_to_fiber(to.thread_, __tsan_switch_to_fiber_no_sync);
  }
  void arrived() {}
  void forget() { __tsan_destroy_fiber(thread_); }

 private:
  void* thread_ = nullptr;
};

#elif defined(FOVEA_ADDRESS_SANITIZER)

class Announcement {
 public:
  void of_new_fibre(char* stack) {
    __asan_unpoison_memory_region(stack, stack_bytes);
    stack_ = stack;
    bytes_ = stack_bytes;
    fake_ = nullptr;
  }
  void of_present_stack() {}  // known when it is left for the first time
  static void leaving(Announcement& from, Announcement& to) {
    left_ = &from;
    __sanitizer_start_switch_fiber(&from.fake_, to.stack_, to.bytes_);
  }
  void arrived() { __sanitizer_finish_switch_fiber(fake_, &left_->stack_, &left_->bytes_); }
  void forget() {}

 private:
  inline static thread_local Announcement* left_ = nullptr;  // whose stack was used last
  const void* stack_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_ = nullptr;  // where the sanitizer has variables that may be used after their function
};

#else

struct Announcement {
  void of_new_fibre(char*) {}
  void of_present_stack() {}
  static void leaving(Announcement&, Announcement&) {}
  void arrived() {}
  void forget() {}
};

#endif

// ---- Stacks -----------------------------------------------------------------------------------

// These builtins need no system calls and keep no more than the stack and where to go on, so a
// context is used for the first entry only.
struct Place {
  void* here[5] = {};
  std::unique_ptr<ucontext_t> start;  // of a fibre; freed with it, since another one made it
  bool begun = true;
  Announcement announcement;
};

[[gnu::noinline]] void go_on(Place& to) {
  if (to.begun) __builtin_longjmp(to.here, 1);
  to.begun = true;
  setcontext(to.start.get());
}
[[gnu::noinline]] void leap(Place& from, Place& to) {
  if (__builtin_setjmp(from.here) == 0) {
    Announcement::leaving(from.announcement, to.announcement);
    go_on(to);
  }
  from.announcement.arrived();
}
void prepare(Place& place, char* stack, void (*entry)()) {
  place.announcement.of_new_fibre(stack);
  place.begun = false;
  place.start = std::make_unique<ucontext_t>();
  getcontext(place.start.get());
  place.start->uc_stack.ss_sp = stack;
  place.start->uc_stack.ss_size = stack_bytes;
  place.start->uc_link = nullptr;
  makecontext(place.start.get(), entry, 0);
}

// Stacks whose addresses are equal but for high bits would share a few sets of the caches.
std::size_t shift_of(std::size_t thread) {
  return thread % 64 * 576;
}

// ---- Turns ------------------------------------------------------------------------------------

struct Fibre {
  Place place;
  std::unique_ptr<char[]> memory;    // of its stack
  Thread* thread = nullptr;          // `self` while it runs
  const Barrier* barrier = nullptr;  // at which it waits
  unsigned long waits_over = 0;      // there, when it began to wait
  bool done = false;

  bool may_go_on() const { return !done && (!barrier || barrier->waits_over() != waits_over); }
};

// For this thread of the operating system.
struct Turns {
  std::vector<Fibre> fibres;  // which stay where they are: of as many as a block may have
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
    for (Fibre& fibre : fibres) fibre.place.announcement.forget();
  }
};
thread_local Turns* turns = nullptr;  // made by its first crew; a plain pointer is quick to find
bool may_give_up = false;

Turns& its_turns() {
  thread_local const auto owned = std::make_unique<Turns>();
  turns = owned.get();
  return *turns;
}

// The place of the fibre whose turn is next, or of the scheduler after the last of a round. Those
// that still have to wait at a Barrier have no turn.
Place& next_place() {
  Turns& all = *turns;
  while (all.step < all.count) {
    const unsigned t = all.forwards ? all.step : all.count - 1 - all.step;
    ++all.step;
    Fibre& fibre = all.fibres[t];
    if (!fibre.may_go_on()) continue;
    all.current = t;
    self = fibre.thread;
    return fibre.place;
  }
  return all.scheduler;
}

void yield() {
  Fibre& fibre = turns->fibres[turns->current];
  fibre.thread = self;
  leap(fibre.place, next_place());
}

void wait_at(const Barrier& barrier, unsigned long waits_over) {
  Fibre& fibre = turns->fibres[turns->current];
  fibre.barrier = &barrier;
  fibre.waits_over = waits_over;
  yield();
  fibre.barrier = nullptr;
}

// What a fibre does: its part of one crew's work after another.
void enter() {
  Fibre& fibre = turns->fibres[turns->current];
  fibre.place.announcement.arrived();
  for (;;) {
    order_after(&turns->begun);
    {
      Thread thread;
      self = &thread;
      (*turns->body)(turns->current);
    }
    order_before(&turns->ended);
    fibre.done = true;
    turns->progress = true;
    --turns->left;
    leap(fibre.place, next_place());
  }
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
  return !turns->in_vain;
}
void note_progress() {
  turns->progress = true;
}
void give_up_waits(bool may) {
  may_give_up = may;
}

void Barrier::arrive_and_wait() {
  const unsigned long before = waits_over_;
  char* const order = &order_[before % 2];
  order_before(order);
  if (++arrived_ >= expected_) {
    arrived_ = 0;
    ++waits_over_;
    turns->progress = true;
  } else {
    wait_at(*this, before);
  }
  order_after(order);
}

void Barrier::arrive_and_drop() {
  order_before(&order_[waits_over_ % 2]);
  --expected_;
  if (arrived_ > 0 && arrived_ >= expected_) {
    arrived_ = 0;
    ++waits_over_;
  }
  turns->progress = true;
}

void run_crew(unsigned count, const std::function<void(unsigned)>& body) {
  Turns& all = its_turns();
  all.fibres.reserve(most_threads);
  for (std::size_t t = all.fibres.size(); t < count; ++t) {
    Fibre& fibre = all.fibres.emplace_back();
    fibre.memory.reset(new char[stack_bytes + shift_of(t)]);
    prepare(fibre.place, fibre.memory.get() + shift_of(t), enter);
  }
  all.body = &body;
  Thread* const outer = self;
  for (unsigned t = 0; t < count; ++t) {
    all.fibres[t].thread = nullptr;
    all.fibres[t].done = false;
  }
  all.scheduler.announcement.of_present_stack();
  order_before(&all.begun);
  // Alternately forwards and backwards, so that mistakes that depend on the order of threads are
  // found.
  all.count = all.left = count;
  for (all.forwards = true; all.left > 0; all.forwards = !all.forwards) {
    all.progress = false;
    all.step = 0;
    if (Place& next = next_place(); &next != &all.scheduler) leap(all.scheduler, next);
    all.in_vain = !all.progress && all.left > 0;
    if (all.in_vain && !may_give_up) fault("threads wait at a barrier that others never reach");
  }
  order_after(&all.ended);
  self = outer;
}

}  // namespace fovea::emulation
