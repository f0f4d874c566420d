// SelfTests are the verdicts of the self-test (core/session/self_test.h) on the GPU of this
// machine. They are remembered for each GPU, driver, build of the program and precision.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "backend/backends.h"

namespace fovea {

/// The precisions in which products can be computed on a GPU.
inline constexpr std::array gpu_precisions{"fp32", "fp32-split", "bf16", "fp16"};

/// The names of the verdicts on a device: each precision has one and, on GPUs that multiply 16 bits
/// by warpgroups (CudaDevice::wgmma), also "bf16-wgmma" and "fp16-wgmma".
std::vector<std::string> verdict_names(const CudaDevice& device);
/// The name of a precision's verdict where warpgroups multiply; empty if, on this device or in this
/// precision, they do not.
std::string wgmma_verdict_name(const CudaDevice& device, const std::string& precision);
/// The options of the back end to which the verdict of that name applies; nothing if no verdict has
/// this name on any device.
std::optional<CudaOptions> options_of_verdict(const std::string& name);

struct Verdict {
  bool passed = false;
  std::string finding;  // why it did not pass, a sentence
  double seconds = 0;   // that the test took
  std::string date;     // 2026-11-23
};

/// "passed the self-test (2026-11-23, 1.4 s)", "failed the self-test (2026-11-23): It crashed."
std::string verdict_text(const Verdict& verdict);

class SelfTests {
 public:
  /// Tests are run as `PROGRAM self-test --precision P`, in a process of its own: an error that a
  /// GPU does not recover from does not reach this one. The process writes a line for each head
  /// before it tests it, and is ended if a head takes longer than `limit`. The driver compiles
  /// kernels that were built for older GPUs when they are first used, the largest source in half a
  /// minute. `file` keeps the verdicts.
  SelfTests(std::string program, std::string file,
            std::chrono::milliseconds limit = std::chrono::minutes(2));
  /// The tests of the running program, or of the program `fovea` beside it, in the user's cache.
  static SelfTests of_this_program();

  std::optional<Verdict> remembered(const CudaDevice& device, const std::string& precision) const;
  /// Tests now, and remembers the verdict if the test ended.
  Verdict test(const CudaDevice& device, const std::string& precision) const;
  /// The remembered verdict, or else that of a test.
  Verdict verdict(const CudaDevice& device, const std::string& precision) const;

 private:
  std::string key(const CudaDevice& device, const std::string& precision) const;
  void remember(const std::string& key, const Verdict& verdict) const;

  std::string program_, file_;
  std::chrono::milliseconds limit_;
};

}  // namespace fovea
