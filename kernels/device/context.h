// The context is what this process has on the GPU: its memory, streams and kernels. An error such
// as an illegal access stops it for good: every later call fails, until it is reset. CUDA promises
// that the reset is enough after a launch that took too long. After errors of a kernel the process
// must end: an H200 (driver 580) then refuses every later use.
#pragma once

namespace fovea::cuda {

/// Whoever has memory or streams in the context. When the last one lets go of a context that has
/// stopped, it is reset.
class ContextUse {
 public:
  ContextUse();
  ~ContextUse();
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;
};

}  // namespace fovea::cuda
