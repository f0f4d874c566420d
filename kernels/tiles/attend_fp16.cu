#include "tiles/launch_mma.cuh"

namespace fovea::cuda {

template void attend_mma<Precision::fp16>(const AttendArgs&, const MmaOperands&, int, cudaStream_t);

}  // namespace fovea::cuda
