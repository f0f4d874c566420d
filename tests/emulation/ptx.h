// The instructions of kernels/ptx/ptx.h, for the host.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace fovea::cuda {

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(fovea::emulation::dynamic_shared_memory());
}

inline float exp2_fast(float x) { return std::exp2(x); }

namespace detail {
struct PendingCopy {
  void* to;
  const void* from;
  int bytes;
};
inline thread_local std::vector<std::vector<PendingCopy>> copy_groups;
inline thread_local std::vector<PendingCopy> open_copies;
}  // namespace detail

// A copy arrives when it is waited for, not before: who forgets to wait reads poison.
inline void copy_16_async(void* shared, const void* global, bool valid) {
  detail::open_copies.push_back({shared, global, valid ? 16 : 0});
}
inline void commit_copies() {
  detail::copy_groups.push_back(std::move(detail::open_copies));
  detail::open_copies.clear();
}
template <int Pending>
void wait_copies() {
  auto& groups = detail::copy_groups;
  while (groups.size() > Pending) {
    for (const auto& copy : groups.front()) {
      if (copy.bytes > 0)
        std::memcpy(copy.to, copy.from, 16);
      else
        std::memset(copy.to, 0, 16);
    }
    groups.erase(groups.begin());
  }
}

}  // namespace fovea::cuda
