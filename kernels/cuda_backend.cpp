// The CUDA back end.
#include <mutex>

#include "backend/backends.h"
#include "backend/factored_operator.h"
#include "backend/gated_operator.h"
#include "backend/imported_operator.h"
#include "backend/memory_need.h"
#include "backend/rounded_weights.h"
#include "data/memory.h"
#include "device/device.h"
#include "device/device_need.h"
#include "features/feature_operator.h"
#include "nodes/node_operator.h"
#include "plan/visit_form.h"
#include "planning/planning.h"
#include "spectra/spectra.h"
#include "tiles/attend_mma.h"
#include "tiles/tile_operator.h"
#include "training/leaf_loss.h"

namespace fovea {
namespace cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  CudaBackend(Precision precision, const CudaOptions& options)
      : precision_(precision),
        tensors_(std::make_shared<SharedTensors>(
            std::make_shared<const Device>(options.poison, options.wgmma))),
        host_(make_cpu_backend({.threads = options.threads})) {
    if (precision != Precision::fp32 && gpu().architecture() < mma_architecture)
      throw UnavailableError("CUDA: precision " + name_of(precision) +
                             " needs compute capability 8.0 or more; " + gpu().name() + " has " +
                             std::to_string(gpu().architecture() / 10) + "." +
                             std::to_string(gpu().architecture() % 10) + " (fp32 works on it)");
  }

  std::string id() const override { return "cuda"; }
  std::string device() const override { return gpu().name(); }
  std::string precision() const override { return name_of(precision_); }

  const Backend& backend_of(const Plan& plan) const override {
    return plan.as<RecurrentPlan>() ? *host_ : *this;
  }

  std::shared_ptr<const void> hold(const Problem& head) const override {
    return tensors_->hold(head);
  }

  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& head,
                                 Run& run) const override {
    const Problem problem = counted_in(*plan, head);
    require_room(*plan, problem);
    const Product host_product = [host = host_](MatrixView a, MatrixView b, Run& its) {
      return host->product(a, b, its);
    };
    if (plan->rounded && plan->rounded->weights)
      return make_rounded_weights_operator(plan, problem, *this, host_product, run);
    return visit_form(
        *plan,
        [&](const TilePlan&) {
          return make_tile_operator(plan, problem, precision_, tensors_, run);
        },
        [&](const NodePlan&) { return make_node_operator(plan, problem, tensors_, run); },
        [&](const ProjectedPlan&) {
          return make_projected_operator(plan, problem, *this, host_product, run);
        },
        [&](const FeaturePlan&) {
          if (plan->causal) return make_feature_operator(plan, problem, tensors_, run);
          // Without a mask logarithms of sums are logits of tiles, for which 16 bits are too few.
          if (of_16_bits(precision_)) return host_->bind(plan, problem, run);
          return make_factored_operator(plan, problem, *this, host_product, run);
        },
        [&](const GatedPlan&) { return make_gated_operator(plan, problem, *this, run); },
        [&](const RecurrentPlan&) { return host_->bind(plan, problem, run); },
        [&](const ImportedPlan&) { return make_imported_operator(plan, problem, *this, run); });
  }
  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    run.check();
    return cuda::lsh_buckets(*tensors_, x, directions);
  }
  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    return cuda::route(*tensors_, x, tree, run);
  }
  Matrix product(MatrixView a, MatrixView b, Run& run) const override {
    return host_->product(a, b, run);
  }
  int threads() const override { return host_->threads(); }

  void share_out(Index count, Run& run, const std::function<void(Index)>& body) const override {
    host_->share_out(count, run, body);
  }
  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t key_count,
                                         Run& run) const override {
    run.check();
    return cuda::stable_order(gpu(), keys, key_count);
  }

  // On a stream of its own and before what waits on the other: a step of some 50 us does not wait
  // for a map of 30 ms, but for the blocks of it that run already.
  std::optional<MembershipGradient> leaf_loss(const TokenBatch& batch, Run& run) const override {
    const std::scoped_lock lock(learning_);  // heads that learn side by side share the stream
    if (!for_learning_)
      for_learning_ = std::make_unique<const Device>(gpu().poison(), false, Priority::high);
    return cuda::leaf_loss(*for_learning_, batch, run);
  }

  Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const override {
    return cuda::singular_values(blocks, gpu(), *host_, run);
  }

 private:
  const Device& gpu() const { return tensors_->device(); }

  void require_room(const Plan& plan, const Problem& problem) const {
    const double bytes = device_need(plan, problem, precision_, tensors_.get()).total();
    if (bytes < static_cast<double>(smallest_checked)) return;
    require_device_memory(bytes, gpu().free_bytes(), need_text(plan), gpu().name());
  }

  Precision precision_;
  std::shared_ptr<SharedTensors> tensors_;
  // Builds trees, decomposes blocks whose rank is too high for the device, and multiplies plain
  // matrices.
  std::shared_ptr<const Backend> host_;
  mutable std::mutex learning_;
  mutable std::unique_ptr<const Device> for_learning_;  // null before the first step
};

}  // namespace
}  // namespace cuda

std::optional<CudaDevice> find_cuda_device(std::string* why_not) {
  try {
    return cuda::first_device();
  } catch (const UnavailableError& error) {
    if (why_not) *why_not = error.what();
    return std::nullopt;
  }
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options, std::string* why_not) {
  const cuda::Precision precision = cuda::parse_precision(options.precision);
  try {
    return std::make_unique<cuda::CudaBackend>(precision, options);
  } catch (const UnavailableError& error) {
    if (why_not) *why_not = error.what();
    return nullptr;
  }
}

}  // namespace fovea
