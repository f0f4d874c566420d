// A Backend binds Plans to memory and does the heavy steps of planning.
#pragma once

#include <functional>
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
  virtual std::string precision() const = 0;  // "fp32"

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

  /// body(i) for every i in [0, count), in any order, on as many threads as the back end has for
  /// planning. Throws Cancelled soon after the run is stopped.
  virtual void share_out(Index count, Run& run, const std::function<void(Index)>& body) const {
    for (Index i = 0; i < count; ++i) {
      run.check();
      body(i);
    }
  }

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

/// The CUDA back end, or nullptr with the reason when it was not built or there is no device.
std::unique_ptr<Backend> make_cuda_backend(std::string* why_not);

}  // namespace fovea
