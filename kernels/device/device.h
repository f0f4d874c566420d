// A Device is one GPU as a back end uses it: its name, its limits, and a stream on which work is
// done in the order in which it is launched. The streams of several Devices do not wait for each
// other: buffers and events of one are not given to another. (The driver lends memory that is about
// to be freed on another stream only where there is no other memory.)
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/backends.h"
#include "device/context.h"
#include "device/pace.h"
#include "device/staging.h"

namespace fovea::cuda {

/// Throws UnavailableError when there is none.
CudaDevice first_device();

/// Which of the blocks that wait for a multiprocessor start first.
enum class Priority { usual, high };

class Device {
 public:
  /// The first GPU. Throws UnavailableError when there is none, or none that the kernels were
  /// compiled for.
  /// `poison`, `wgmma`: see CudaOptions.
  explicit Device(bool poison = false, bool wgmma = true, Priority priority = Priority::usual);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }
  int multiprocessors() const { return multiprocessors_; }
  int architecture() const { return architecture_; }  // 90: compute capability 9.0
  /// Products of warpgroups are to be used: the device and the program have them.
  bool wgmma() const { return wgmma_; }
  /// They are not to be used any more, since a kernel with them timed out.
  void give_up_wgmma() const { wgmma_ = false; }
  std::size_t shared_per_block() const { return shared_per_block_; }  // bytes, at most
  cudaStream_t stream() const { return stream_; }
  bool poison() const { return poison_; }
  Pace& pace() const { return pace_; }
  Staging& staging() const { return staging_; }
  /// The memory that is free now, in bytes, including what this process has freed and keeps for its
  /// next allocations.
  double free_bytes() const;

  /// Waits until all work is done. Throws UnavailableError or DeviceLostError if some of it failed.
  void wait() const;

  /// Waits when it ends, in whatever way its scope does: what was declared before it outlives the
  /// work on the device.
  class WaitAtEnd {
   public:
    explicit WaitAtEnd(const Device& device) : stream_(device.stream()) {}
    WaitAtEnd(const WaitAtEnd&) = delete;
    WaitAtEnd& operator=(const WaitAtEnd&) = delete;
    ~WaitAtEnd() { cudaStreamSynchronize(stream_); }

   private:
    cudaStream_t stream_;
  };

 private:
  void keep_freed_memory(std::size_t all_bytes);

  const ContextUse context_;
  bool poison_ = false;
  mutable std::atomic<bool> wgmma_ = false;
  mutable Pace pace_;
  mutable Staging staging_;
  std::string name_;
  int multiprocessors_ = 0, architecture_ = 0;
  std::size_t shared_per_block_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace fovea::cuda
