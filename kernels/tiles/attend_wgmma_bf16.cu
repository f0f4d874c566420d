#include "tiles/launch_wgmma.cuh"

namespace fovea::cuda {

std::size_t attend_wgmma_shared_bytes(int height, int d, int dv) {
  return with_wgmma_shape(height, d, dv, [](auto shape) { return decltype(shape)::shared_bytes; });
}

template void attend_wgmma<Precision::bf16>(const AttendArgs&, const MmaOperands&, int, int*,
                                            cudaStream_t);

}  // namespace fovea::cuda
