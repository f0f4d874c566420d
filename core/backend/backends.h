// The back ends that there are, their options, and how each is made.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace fovea {

/// What a person may choose: "auto", "cpu", "cuda".
inline std::vector<std::string> backend_choices() {
  return {"auto", "cpu", "cuda"};
}
/// The precisions of products; all but the first need CUDA.
inline std::vector<std::string> precision_choices() {
  return {"fp32", "fp32-split", "bf16", "fp16"};
}

struct CpuOptions {
  int threads = 0;           // 0: as many as the machine has
  std::string isa = "auto";  // "sse2", "avx2", "avx512", "auto": the best this machine has
};

/// Throws UsageError for an unknown instruction set, UnavailableError for one that this machine
/// does not have.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});

struct CudaOptions {
  /// The precision of Z = P V: "fp32"; or, on tensor cores, "bf16" or "fp16" (inputs and weights
  /// are rounded to it, sums of products and the softmax are in fp32), or "fp32-split": errors of
  /// the size of fp32's, from three products of numbers that are sums of two of fp16. Heads that
  /// cannot be split, because a row is 2^26 times smaller than another, are computed in fp32.
  /// Entries of P are always in fp32 and divided by their own sums in fp32, so that rows of P sum
  /// to 1 on every back end, and Z differs from P V by the rounding. Output::lse belongs to Z. The
  /// maps of apply_rows are of the logits of Z: in 16 bits they have its rounding, too.
  std::string precision = "fp32";
  int threads = 0;  // for the work that is left to the CPU; 0 means as many as the machine has
  /// Multiply 16 bits by warpgroups (wgmma instructions) if the device has them
  /// (CudaDevice::wgmma), else by warps (mma).
  bool wgmma = true;
  /// Fill device memory with NaN when it is allocated, so that results which a kernel does not
  /// write are noticed. For tests.
  bool poison = false;
};

/// The GPU on which the CUDA back end computes.
struct CudaDevice {
  std::string name;       // "NVIDIA H100 80GB HBM3"
  int capability = 0;     // 90: compute capability 9.0
  std::size_t bytes = 0;  // of its memory
  std::string driver;     // version
  std::string id;         // different for every single GPU
  /// Whether "fp32-split" is expected to be faster than "fp32": three products on tensor cores take
  /// less time than one on the fp32 lanes.
  bool split_is_faster = false;
  bool wgmma = false;  // both the device and this program can multiply 16 bits by warpgroups
};

/// Nothing, with the reason, if the back end was not built or there is no device. Computes nothing
/// on the device.
std::optional<CudaDevice> find_cuda_device(std::string* why_not);

/// The CUDA back end, or nullptr with the reason if it was not built, there is no device or the
/// device lacks the precision. Throws UsageError for an unknown precision.
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options, std::string* why_not);

/// Capabilities of the devices that the CUDA back end was built for, "7.5, 8.0". Empty if it was
/// not built.
std::string cuda_capabilities();

}  // namespace fovea
