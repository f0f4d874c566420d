// Stands for the CUDA back end in a build without it.
#include "backend/backends.h"

namespace fovea {

std::optional<CudaDevice> find_cuda_device(std::string* why_not) {
  if (why_not) *why_not = "CUDA: not built";
  return std::nullopt;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions&, std::string* why_not) {
  if (why_not) *why_not = "CUDA: not built";
  return nullptr;
}

std::string cuda_capabilities() {
  return {};
}

}  // namespace fovea
