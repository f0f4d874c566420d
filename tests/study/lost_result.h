// A result that is lost: its request is cancelled after the step has ended and before the
// application's thread has been told. Where other requests cut in, this happens now and then.
#pragma once

#include <QThread>

#include "study/study.h"

namespace fovea::test {

/// Ends the one request of a study and loses its result. Returns whether it was of this kind.
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
