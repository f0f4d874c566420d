// The CUDA back end.
#include "backend/backend.h"
#include "device.h"
#include "spectra.h"
#include "tile_operator.h"

namespace fovea {
namespace cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  CudaBackend() : device_(std::make_shared<const Device>()), host_(make_cpu_backend()) {}

  std::string id() const override { return "cuda"; }
  std::string device() const override { return device_->name(); }
  std::string precision() const override { return "fp32"; }

  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    if (std::holds_alternative<TilePlan>(plan->form))
      return make_tile_operator(std::move(plan), problem, device_, run);
    return host_->bind(std::move(plan), problem, run);
  }
  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    return host_->lsh_buckets(x, directions, run);
  }
  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    return host_->route(x, tree, run);
  }
  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t key_count,
                                         Run& run) const override {
    return host_->stable_order(keys, key_count, run);
  }

  Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const override {
    return cuda::singular_values(blocks, *device_, *host_, run);
  }

 private:
  std::shared_ptr<const Device> device_;
  std::unique_ptr<Backend> host_;
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
