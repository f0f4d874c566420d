// A head start keeps the device busy while the host launches, so that what is measured holds no
// time of the host: every stage of a Timeline then begins with a kernel that does nothing for so
// long, and its events are behind it. For benchmarks.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// The head start of all stages from now on, in ms. 0, as at first: none. Do not change it while
/// others measure.
void set_head_start(double milliseconds);
double head_start();

/// Its lifetime has a head start of so long, in ms.
class HeadStart {
 public:
  explicit HeadStart(double milliseconds) : before_(head_start()) { set_head_start(milliseconds); }
  HeadStart(const HeadStart&) = delete;
  HeadStart& operator=(const HeadStart&) = delete;
  ~HeadStart() { set_head_start(before_); }

 private:
  const double before_;
};

/// A kernel that does nothing for so long.
void pass_time(double milliseconds, cudaStream_t stream);

}  // namespace fovea::cuda
