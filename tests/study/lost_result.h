// A result that is lost: its request is cancelled after the step has ended and before the
// application's thread has been told. Where other requests cut in, this happens now and then.
#pragma once

#include <QThread>

#include "study/study.h"

namespace fovea::test {

/// Waits until the engine is idle, and cancels the request of this kind before its result is
/// delivered. Returns whether there was one.
inline bool lose_result(Study& study, RequestKind kind) {
  const auto works = [&] {
    const Engine::Status status = study.status();
    return status.busy() || status.waiting > 0;
  };
  while (works()) QThread::usleep(100);  // without the event loop
  const bool was_pending = study.requests().is_pending({kind});
  study.requests().cancel({kind});
  return was_pending;
}

}  // namespace fovea::test
