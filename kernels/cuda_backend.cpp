// The CUDA back end.
#include "backend/backend.h"
#include "device.h"
#include "node_operator.h"
#include "planning.h"
#include "tile_operator.h"

namespace fovea {
namespace cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  CudaBackend() : device_(std::make_shared<const Device>()) {}

  std::string id() const override { return "cuda"; }
  std::string device() const override { return device_->name(); }
  std::string precision() const override { return "fp32"; }

  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    if (std::holds_alternative<TilePlan>(plan->form))
      return make_tile_operator(std::move(plan), problem, device_, run);
    return make_node_operator(std::move(plan), problem, device_, run);
  }
  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    run.check();
    return cuda::lsh_buckets(*device_, x, directions);
  }
  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    return cuda::route(*device_, x, tree, run);
  }
  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t key_count,
                                         Run& run) const override {
    run.check();
    return cuda::stable_order(*device_, keys, key_count);
  }

 private:
  std::shared_ptr<const Device> device_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend(std::string* why_not) {
  try {
    return std::make_unique<cuda::CudaBackend>();
  } catch (const UnavailableError& error) {
    if (why_not) *why_not = error.what();
    return nullptr;
  }
}

}  // namespace fovea
