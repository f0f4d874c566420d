// A Backend binds Plans to memory and does the heavy steps of planning.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/leaf_gradient.h"
#include "backend/operator.h"
#include "plan/tree.h"

namespace fovea {

/// Singular values of a batch of blocks.
struct Spectra {
  std::vector<std::vector<float>> values;  // for each block min(rows, cols) values, descending
  std::vector<Index> resolved;  // so many values are exact; the rest repeat an upper bound
  Index left_to_cpu = 0;        // blocks that the device could not decompose
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string id() const = 0;         // "cpu", "cuda"
  virtual std::string device() const = 0;     // "AVX-512, 2 threads"
  virtual std::string precision() const = 0;  // "fp32", "fp32-split", "bf16", "fp16"

  /// Uploads what the plan needs of q and k (stage "upload"). Throws UnavailableError when there is
  /// too little memory.
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

  /// a b, [m, k] times [k, n], in float32.
  virtual Matrix product(MatrixView a, MatrixView b, Run& run) const = 0;

  /// Positions of the keys in ascending order, equal keys in the order given.
  /// Every key is in [0, key_count).
  virtual std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys,
                                                 std::int32_t key_count, Run& run) const = 0;

  /// The loss of a step of learning a tree, and its gradient (core/learning/leaf_loss.h). Nothing
  /// if the back end has no loops of its own for it. May be called from several threads, unlike all
  /// other functions.
  virtual std::optional<MembershipGradient> leaf_loss(const TokenBatch&, Run&) const {
    return std::nullopt;
  }

  /// Singular values of each block, within 2e-7 |A|_F (CUDA: 1e-6 in blocks of at most 64 a side,
  /// which are decomposed in float). Sums of the last values are at most negligibly too small, so
  /// that ranks by the paper's tail sum are not under-estimated (see singular_values.h). NaN for a
  /// block with an entry that is not finite. Threads finish together if the largest blocks come
  /// first. Needs memory for a few of the largest blocks for each thread.
  virtual Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const = 0;
};

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
