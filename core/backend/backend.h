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

  /// The back end that computes a plan: this one, or the CPU's if the device has no kernels for it.
  virtual const Backend& backend_of(const Plan&) const { return *this; }

  /// Keeps what planning and binding upload of this head on the device while the result lives, so
  /// that it is uploaded once. Does nothing for a head without an owner, or without a device.
  virtual std::shared_ptr<const void> hold(const Problem&) const { return nullptr; }

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

  /// Threads of the CPU for planning.
  virtual int threads() const { return 1; }

  /// body(i) for every i in [0, count), in any order, on the threads for planning. Throws Cancelled
  /// soon after the run is stopped.
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

}  // namespace fovea
