// A BackendChoice says what a program computes on, as its user asked for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "input/self_tests.h"

namespace fovea {

struct BackendChoice {
  /// "cpu", "cuda", or "auto": CUDA if there is a device that has passed the self-test.
  std::string backend = "auto";
  /// "fp32"; on CUDA also "fp32-split", "bf16" and "fp16" (see CudaOptions).
  std::string precision = "fp32";
  int threads = 0;  // of the CPU, beside CUDA too; 0 means as many as there are
  /// A device without a verdict is not tested, and the CPU computes. For the first moments of a
  /// window.
  bool at_once = false;
};

/// The GPU of this machine and the verdicts on it.
struct DeviceReport {
  std::optional<CudaDevice> device;
  std::string why_not;  // why there is none
  std::function<std::optional<Verdict>(const std::string& precision)> verdict;
};
DeviceReport report_device(const SelfTests& tests, bool only_remembered);

struct ChosenBackend {
  std::string backend, precision;
  bool wgmma = false;              // as in CudaOptions
  std::vector<std::string> notes;  // sentences: what was asked for and cannot be had
  bool untested = false;           // a device without a verdict was passed over
};

/// With "auto", fp32 is computed as fp32-split if that is faster, and precisions fall back from 16
/// bits by warpgroups to 16 bits to fp32-split to fp32 to the CPU; a note says why. With "cuda" the
/// named precision is used, untested except for products of warpgroups. Throws UnavailableError
/// with the reason if the choice is not available.
ChosenBackend choose_backend(const BackendChoice& choice, const DeviceReport& report);

/// Makes the chosen back end and adds the notes to `notes`. Throws as choose_backend does.
std::unique_ptr<Backend> make_backend(const BackendChoice& choice,
                                      std::vector<std::string>* notes = nullptr);

}  // namespace fovea
