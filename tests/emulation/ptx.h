// The instructions of kernels/ptx/ptx.h, for the host.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(fovea::emulation::dynamic_shared_memory());
}

inline float exp2_fast(float x) { return std::exp2(x); }

// A copy arrives when it is waited for, not before: who forgets to wait reads poison.
inline void copy_16_async(void* shared, const void* global, bool valid) {
  fovea::emulation::self->open_copies.push_back({shared, valid ? global : nullptr});
}
inline void commit_copies() {
  auto& thread = *fovea::emulation::self;
  thread.copy_groups.push_back(std::move(thread.open_copies));
  thread.open_copies.clear();
}
template <int Pending>
void wait_copies() {
  auto& groups = fovea::emulation::self->copy_groups;
  while (groups.size() > Pending) {
    for (const auto& copy : groups.front())
      if (copy.from)
        std::memcpy(copy.to, copy.from, 16);
      else
        std::memset(copy.to, 0, 16);
    groups.erase(groups.begin());
  }
}

}  // namespace fovea::cuda
