#include "bench/peer_sgemm.h"

#include <dlfcn.h>

#include <cstdlib>

namespace fovea::bench {
namespace {

constexpr int row_major = 101, plain = 111, transposed = 112;  // as in cblas.h

}  // namespace

std::unique_ptr<PeerSgemm> PeerSgemm::load() {
  if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  const auto threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  const auto kernels = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  auto peer = std::make_unique<PeerSgemm>();
  peer->sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  if (!threads || !kernels || !peer->sgemm_) return nullptr;
  threads(1);  // the workers are the threads; its own would keep spinning beside them
  peer->kernels_ = kernels();
  return peer;
}

void PeerSgemm::multiply(const Shape& shape, const float* a, const float* b, float* c,
                         Workers& workers) const {
  const Index parts = workers.threads();
  workers.loop(parts, {}, [&](Index part, int) {
    const Index begin = part * shape.rows / parts, end = (part + 1) * shape.rows / parts;
    const int cols = static_cast<int>(shape.cols), depth = static_cast<int>(shape.depth);
    sgemm_(row_major, plain, shape.transposed ? transposed : plain, static_cast<int>(end - begin),
           cols, depth, 1.0f, a + begin * depth, depth, b, shape.transposed ? depth : cols, 0.0f,
           c + begin * cols, cols);
  });
}

}  // namespace fovea::bench
