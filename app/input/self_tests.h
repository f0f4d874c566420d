// SelfTests are the verdicts of the self-test (core/session/self_test.h) on the GPU of this
// machine. They are remembered for each GPU, driver, build of the program and precision.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "backend/backend.h"

namespace fovea {

struct Verdict {
  bool passed = false;
  std::string finding;  // why not, a sentence
  double seconds = 0;   // that the test took
  std::string date;     // 2026-11-23
};

/// "passed the self-test (2026-11-23, 1.4 s)", "failed the self-test (2026-11-23): It crashed."
std::string verdict_text(const Verdict& verdict);

class SelfTests {
 public:
  /// Tests are run as `PROGRAM self-test --precision P`, in a process of its own, which is ended
  /// after `limit`; an error that a GPU does not recover from does not reach this process. `file`
  /// keeps the verdicts.
  SelfTests(std::string program, std::string file,
            std::chrono::milliseconds limit = std::chrono::seconds(30));
  /// Of the program that runs, or of the program `fovea` beside it, in the user's cache.
  static SelfTests of_this_program();

  std::optional<Verdict> remembered(const CudaDevice& device, const std::string& precision) const;
  /// Tests now, and remembers.
  Verdict test(const CudaDevice& device, const std::string& precision) const;
  /// What is remembered, else a test.
  Verdict verdict(const CudaDevice& device, const std::string& precision) const;

 private:
  std::string key(const CudaDevice& device, const std::string& precision) const;
  void remember(const std::string& key, const Verdict& verdict) const;

  std::string program_, file_;
  std::chrono::milliseconds limit_;
};

}  // namespace fovea
