// A WorkerProcess is Python that runs our package for one model (fovea/worker.py), and ends with
// this object. Fovea talks to it over a socket; what it prints is kept apart.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "io/descriptor.h"
#include "worker/interpreter.h"
#include "worker/model_line.h"

namespace fovea {

struct WorkerStart {
  Interpreter interpreter;
  std::string package;  // the folder that holds the package `fovea`
  std::string program;  // `fovea`, which the package starts to replace attention
  std::string model;    // a folder, or a .gguf file
  std::string name;     // of the model in titles
  bool trust_remote_code = false;
};

class WorkerProcess : public ModelLine {
 public:
  /// Throws UnavailableError if the interpreter cannot be started.
  explicit WorkerProcess(const WorkerStart& start);
  ~WorkerProcess() override;

  MessageChannel& channel() override { return *channel_; }
  /// How it has ended, and what it printed last. Ends it if it still runs.
  std::string last_words() override;

 private:
  void end();

  std::string python_;
  std::optional<MessageChannel> channel_;
  Descriptor said_;      // what it prints
  pid_t process_ = -1;   // -1: it has ended
  int status_ = 0;       // as wait() has it
  bool killed_ = false;  // by us
};

}  // namespace fovea
