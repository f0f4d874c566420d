// A Program is the built `fovea`, run as a person or a script runs it.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace fovea::test {

inline const std::string bundled = FOVEA_ASSETS "/minilm/minilm-l6.safetensors";

struct Ended {
  int status = 0;     // -1: a signal ended it
  int killed_by = 0;  // that signal
  std::string out, err;
  double cpu_seconds = 0;  // of all its threads

  /// All of standard output as JSON; throws when there is anything else.
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// One that runs beside the test. It is killed at the end of the scope unless it has ended.
class Running {
 public:
  /// `output`: where standard output goes instead of into Ended::out. `starter`: the program that
  /// starts it, with its arguments.
  explicit Running(const std::vector<std::string>& arguments, const std::string& output = "",
                   std::vector<std::string> starter = {});
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void signal(int number) const;
  /// Whether it waits for Ctrl-C itself: it has begun its command.
  bool handles_interrupt() const;
  /// The processor time of all its threads until now.
  double cpu_seconds() const;
  Ended wait();

 private:
  TemporaryDirectory scratch_;
  std::string output_;
  pid_t child_ = 0;
  bool ended_ = false;
};

/// Run so that the permissions of files apply to it, as they do not to root. Standing in for a user
/// would not do: the program may be in root's own folder.
Ended run_as_anyone(const std::vector<std::string>& arguments);

/// Waits until it has begun its command. Whether it has, within a minute.
bool begins(const Running& program);

/// Waits until all its threads together have worked so long. Whether they have, within a minute.
bool has_computed(const Running& program, double cpu_seconds);

/// `output`: where standard output goes instead of into `out`.
Ended run_program(const std::vector<std::string>& arguments, const std::string& output = "");

/// What a command that must succeed writes as JSON.
nlohmann::json document_of(const std::vector<std::string>& arguments);

}  // namespace fovea::test
