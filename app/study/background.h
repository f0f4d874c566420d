// A Background does work that would make the window wait, such as writing files or starting a
// device: on one thread of its own, in the order in which it was given.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <string>

namespace fovea {

class Background {
 public:
  /// Called with the message of the error that the work threw; empty: none.
  using Done = std::function<void(const std::string& error)>;

  Background();
  ~Background();  // waits until all work is done

  void run(std::function<void()> work);
  /// `done` is called on the application's thread, unless `receiver` no longer exists: then an
  /// error goes to the standard error stream.
  void run(std::function<void()> work, QObject* receiver, Done done);

 private:
  QThreadPool pool_;
};

}  // namespace fovea
