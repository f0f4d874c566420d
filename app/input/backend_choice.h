// A BackendChoice says what a program computes on, as its user asked for it.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace fovea {

struct BackendChoice {
  std::string backend = "auto";    // "cpu", "cuda", or "auto": CUDA where there is a device
  std::string precision = "fp32";  // on CUDA also "bf16" and "fp16"
  int threads = 0;                 // of the CPU, beside CUDA too; 0: as many as there are
};

/// Throws UnavailableError with the reason when what was asked for is not to be had.
std::unique_ptr<Backend> make_backend(const BackendChoice& choice);

}  // namespace fovea
