#include "tiles/launch_wgmma.cuh"

namespace fovea::cuda {

template void attend_wgmma<Precision::fp16>(const AttendArgs&, const MmaOperands&, int, int*,
                                            cudaStream_t);

}  // namespace fovea::cuda
