// A Crew is the threads of a block, which run side by side and wait at barriers. They are fibres of
// one thread of the operating system.
#pragma once

#include <functional>

namespace fovea::emulation {

class Barrier {
 public:
  explicit Barrier(long expected) : expected_(expected) {}
  void arrive_and_wait();
  void arrive_and_drop();
  /// How many waits at it are over.
  unsigned long waits_over() const { return waits_over_; }

 private:
  long expected_, arrived_ = 0;
  unsigned long waits_over_ = 0;
  char order_[2] = {};  // in even and odd turns, for the thread sanitizer: their addresses alone
};

/// For a thread that waits for something other than a Barrier: lets others run. False: it waits in
/// vain, and waits may be given up; otherwise the program ends when no thread makes progress.
bool pause();
/// What others may wait for has happened.
void note_progress();
void give_up_waits(bool may);

/// What this thread has done before is seen by those that call order_after with the same address
/// later. For the thread sanitizer; Barriers do this by themselves.
void order_before(void* at);
void order_after(void* at);

/// Runs body(0) .. body(count - 1) side by side, each with a new Thread as `self`.
void run_crew(unsigned count, const std::function<void(unsigned)>& body);

}  // namespace fovea::emulation
