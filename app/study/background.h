// The Background does what would make the window wait, such as writing files or starting a device.
// Threads that compute have a lower priority than the window's: on few cores, drawing (without a
// graphics card by Mesa's own threads, too) comes before computing.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <stop_token>
#include <string>

#include "input/backend_choice.h"

namespace fovea {

/// Work on one thread of its own, in the order in which it was given.
class BackgroundThread {
 public:
  /// Called with the message of the error that the work threw; empty if none.
  using Done = std::function<void(const std::string& error)>;

  BackgroundThread() { pool_.setMaxThreadCount(1); }
  ~BackgroundThread();  // waits until all work is done

  /// `work` must not throw.
  void run(std::function<void()> work) { pool_.start(std::move(work)); }
  /// `done` is called on the application's thread, unless `receiver` no longer exists: then an
  /// error goes to the standard error stream.
  void run(std::function<void()> work, QObject* receiver, Done done);

 private:
  std::stop_source end_;
  QThreadPool pool_;
};

/// A thread for files that a person asks for, which may take minutes, one for the sessions that are
/// kept meanwhile, and one for devices, which may be slow to start or to end.
struct Background {
  BackgroundThread files, recovery, devices;
};

/// The niceness of threads that compute; 0 where threads have no niceness of their own. The
/// window's threads get twice their share of a core, and beside other programs they still get a
/// third of it: at nice 10, a tenth, they starved.
#ifdef __linux__
inline constexpr int niceness = 3;
#else
inline constexpr int niceness = 0;
#endif

/// Gives the calling thread, and the threads that it starts later, this niceness.
void lower_thread_priority();

/// A back end whose threads have this niceness. Throws as make_backend does. Any thread may call
/// it.
std::unique_ptr<Backend> make_low_priority_backend(const BackendChoice& choice = {},
                                                   std::vector<std::string>* notes = nullptr);

}  // namespace fovea
