// What ThreadSanitizer has to know of the emulation: not to check its own tables, and what barriers
// order.
#pragma once

#include "crew.h"

#ifdef FOVEA_CREW_OF_THREADS
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace fovea::emulation {

/// During its lifetime the thread sanitizer sees nothing of what this thread does.
struct Unseen {
#ifdef FOVEA_CREW_OF_THREADS
  Unseen() {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
#else
  Unseen() {}
#endif
  Unseen(const Unseen&) = delete;
};

/// What this thread has done before is seen by those that call order_after with the same address
/// later.
inline void order_before([[maybe_unused]] void* at) {
#ifdef FOVEA_CREW_OF_THREADS
  __tsan_release(at);
#endif
}
inline void order_after([[maybe_unused]] void* at) {
#ifdef FOVEA_CREW_OF_THREADS
  __tsan_acquire(at);
#endif
}

}  // namespace fovea::emulation
