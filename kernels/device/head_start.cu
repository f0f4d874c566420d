#include "device/head_start.h"
#include "device/launch.h"
#include "ptx.h"

namespace fovea::cuda {
namespace {

double milliseconds_ahead = 0;

__global__ void pass_time_kernel(std::uint64_t duration) {
  const std::uint64_t begin = nanoseconds();
  while (nanoseconds() - begin < duration) {
  }
}

}  // namespace

void set_head_start(double milliseconds) {
  milliseconds_ahead = milliseconds;
}

double head_start() {
  return milliseconds_ahead;
}

void pass_time(double milliseconds, cudaStream_t stream) {
  launch(pass_time_kernel, {.grid = dim3(1), .block = dim3(1), .stream = stream},
         static_cast<std::uint64_t>(1e6 * milliseconds));
}

}  // namespace fovea::cuda
