// A Backend binds Plans to memory and does the heavy steps of planning.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/operator.h"
#include "plan/tree.h"

namespace fovea {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string id() const = 0;         // "cpu", "cuda"
  virtual std::string device() const = 0;     // "AVX-512, 2 threads"
  virtual std::string precision() const = 0;  // "fp32", "bf16", "fp16"

  /// Uploads what the plan needs of q and k (stage "upload"). Throws UnavailableError for memory.
  virtual std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                         Run& run) const = 0;

  /// LSH bucket of every row of x: bit t is [x . directions_t > 0]; the bucket is the position of
  /// that code in the reflected Gray sequence, so neighbours differ in one bit (HyperAttention,
  /// definition 1). directions: [r, d], r <= 30.
  virtual std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                                Run& run) const = 0;

  /// Leaf of every row of x.
  virtual std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const = 0;

  /// Positions of the keys in ascending order, equal keys in the order given.
  /// Every key is in [0, key_count).
  virtual std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys,
                                                 std::int32_t key_count, Run& run) const = 0;
};

struct CpuOptions {
  int threads = 0;           // 0: as many as the machine has
  std::string isa = "auto";  // "sse2", "avx2", "avx512", "auto": the best this machine has
};

/// Throws UsageError for an unknown instruction set, UnavailableError for one the machine lacks.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});

struct CudaOptions {
  /// What Z = P V is multiplied in: "fp32", or, on tensor cores, "bf16" or "fp16" (inputs and
  /// weights rounded to it, products and the softmax in fp32). Entries of P are in fp32 always, and
  /// divided by their own sums in fp32: rows of P sum to 1 as they do on any back end, and Z differs
  /// from P V by what the rounding costs. Output::lse belongs to Z.
  std::string precision = "fp32";
};

/// The CUDA back end, or nullptr with the reason when it was not built, there is no device or the
/// device lacks the precision. Throws UsageError for an unknown precision.
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options, std::string* why_not);

}  // namespace fovea
