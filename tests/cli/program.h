// A Program is the built `fovea`, run as a person or a script runs it.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fovea::test {

struct Ended {
  int status = 0;  // 128 + signal when it was killed
  std::string out, err;
  double seconds = 0;

  /// All of standard output as JSON; throws when there is anything else.
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// `interrupt_after`: seconds after which Ctrl-C is pressed; then `seconds` counts from there.
Ended run_program(const std::vector<std::string>& arguments, double interrupt_after = 0);

/// A directory that is gone at the end of the scope.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::vector<std::string> files() const;

 private:
  std::string directory_;
};

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace fovea::test
