// A BackendChoice says what a program computes on, as its user asked for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "input/self_tests.h"

namespace fovea {

struct BackendChoice {
  /// "cpu", "cuda", or "auto": CUDA where there is a device that has passed the self-test.
  std::string backend = "auto";
  /// "fp32"; on CUDA also "fp32-split", "bf16" and "fp16" (see CudaOptions).
  std::string precision = "fp32";
  int threads = 0;  // of the CPU, beside CUDA too; 0 means as many as there are
  /// A device without a verdict is not tested: the CPU computes. For the first moments of a window.
  bool at_once = false;
};

/// What is known of the GPU of this machine.
struct DeviceReport {
  std::optional<CudaDevice> device;
  std::string why_not;  // there is none
  std::function<std::optional<Verdict>(const std::string& precision)> verdict;
};
DeviceReport report_device(const SelfTests& tests, bool only_remembered);

struct ChosenBackend {
  std::string backend, precision;
  bool wgmma = false;              // as in CudaOptions
  std::vector<std::string> notes;  // sentences: what was asked for and cannot be had
  bool untested = false;           // a device without a verdict was passed over
};

/// On "auto", fp32 is computed as fp32-split where that is faster, and precisions fall back: 16
/// bits by warpgroups to 16 bits to fp32-split to fp32 to the CPU, and a note says why. "cuda" is
/// taken as it is named, untested but for products of warpgroups. Throws UnavailableError with the
/// reason when what was asked for is not available.
ChosenBackend choose_backend(const BackendChoice& choice, const DeviceReport& report);

/// What was chosen; adds the notes to `notes`. Throws as choose_backend does.
std::unique_ptr<Backend> make_backend(const BackendChoice& choice,
                                      std::vector<std::string>* notes = nullptr);

}  // namespace fovea
