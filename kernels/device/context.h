// The context is what this process has on the GPU: its memory, streams and kernels. An error such
// as an illegal access stops it for good: every later call fails, until it is reset.
#pragma once

namespace fovea::cuda {

/// Whoever has memory or streams in the context. When the last one lets go of a context that has
/// stopped, it is reset, and the next one begins with a new context.
class ContextUse {
 public:
  ContextUse();
  ~ContextUse();
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;
};

}  // namespace fovea::cuda
