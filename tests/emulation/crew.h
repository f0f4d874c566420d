// A Crew is the threads of a block, which run side by side and wait at barriers. They are fibres of
// one thread of the operating system or, under the thread sanitizer, threads of the operating
// system.
#pragma once

#include <functional>

#if defined(__SANITIZE_THREAD__)
#define FOVEA_CREW_OF_THREADS 1
#include <barrier>
#endif

namespace fovea::emulation {

#ifdef FOVEA_CREW_OF_THREADS

using Barrier = std::barrier<>;

#else

class Barrier {
 public:
  explicit Barrier(long expected) : expected_(expected) {}
  void arrive_and_wait();
  void arrive_and_drop();

 private:
  long expected_, arrived_ = 0;
  unsigned long turn_ = 0;
};

#endif

/// For a thread that waits for something other than a Barrier: lets others run. False: it waits in
/// vain, and waits may be given up; otherwise the program ends when no thread makes progress.
bool pause();
/// What others may wait for has happened.
void note_progress();
void give_up_waits(bool may);

/// Runs body(0) .. body(count - 1) side by side.
void run_crew(unsigned count, const std::function<void(unsigned)>& body);

}  // namespace fovea::emulation
