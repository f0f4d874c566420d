#include "backend/loops_named.h"

#include "data/error.h"

namespace fovea {

const isa::Loops& loops_named(const std::string& name) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw");
  if (name == "sse2") return isa::sse2();
  if (name == "avx2") {
    if (!avx2) throw UnavailableError("instruction set avx2: this machine does not have it");
    return isa::avx2();
  }
  if (name == "avx512") {
    if (!avx512) throw UnavailableError("instruction set avx512: this machine does not have it");
    return isa::avx512();
  }
  if (name != "auto")
    throw UsageError("unknown instruction set '" + name + "'; expected auto, sse2, avx2 or avx512");
  return avx512 ? isa::avx512() : avx2 ? isa::avx2() : isa::sse2();
}

}  // namespace fovea
