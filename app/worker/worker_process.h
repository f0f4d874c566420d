// A WorkerProcess is Python that runs our package for one model (fovea/worker.py), and ends with
// this object. It shares a socket with us, on which messages go, and nothing else.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "io/descriptor.h"
#include "live/message_channel.h"
#include "worker/interpreter.h"

namespace fovea {

struct WorkerStart {
  Interpreter interpreter;
  std::string package;  // the folder that holds the package `fovea`
  std::string model;    // a folder, or a .gguf file
  std::string name;     // of the model in titles
  bool trust_remote_code = false;

  friend bool operator==(const WorkerStart& a, const WorkerStart& b) {
    return a.interpreter.path == b.interpreter.path && a.package == b.package &&
           a.model == b.model && a.name == b.name && a.trust_remote_code == b.trust_remote_code;
  }
};

class WorkerProcess {
 public:
  /// Throws UnavailableError where the interpreter cannot be started.
  explicit WorkerProcess(const WorkerStart& start);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  MessageChannel& channel() { return *channel_; }

  /// Why it has ended, after it closed its end of the channel: how, and what it printed last. Ends
  /// it where it has not.
  std::string last_words();

 private:
  void end();

  std::optional<MessageChannel> channel_;
  Descriptor said_;     // what it prints
  pid_t process_ = -1;  // -1: it has ended
  int status_ = 0;      // as wait() has it
};

}  // namespace fovea
