// Staging copies rows between the memory of the host and of the device through page-locked buffers,
// which the device reaches at the rate of its bus. The driver copies other memory, such as that of
// a mapped file, at a fraction of this rate (kernels/README.md).
//
// Several threads have a buffer each: while the device copies one, others are filled or emptied.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "data/matrix.h"

namespace fovea::cuda {

class Staging {
 public:
  Staging();
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Copies the rows to device rows that start `pitch` floats apart; what is between them becomes
  /// 0. Returns when they have been read; the device has them in the order of the stream. False,
  /// and nothing is done, if they are too few to gain by it, or if no memory could be locked.
  bool upload(MatrixView from, float* to, Index pitch, cudaStream_t stream);
  /// Copies device rows, which start `pitch` floats apart, to host rows. Returns when these are
  /// written. False as above.
  bool download(const float* from, Index pitch, float* to, Index to_stride, Index rows, Index cols,
                cudaStream_t stream);

 private:
  struct Lane;  // a buffer of one thread
  /// Calls work(lane, rows) for pieces of all rows, each lane on a thread of its own.
  template <class Work>
  void share_out(Index rows, Index pitch, Work work);
  bool ready(Index rows, Index pitch);

  std::vector<std::unique_ptr<Lane>> lanes_;  // none before the first use
  bool refused_ = false;                      // no memory could be locked
};

}  // namespace fovea::cuda
