#include "tiles/attend_wgmma.cuh"

namespace fovea::cuda {

template void attend_wgmma<Precision::fp16>(const AttendMmaArgs&, Index, int, int*, cudaStream_t);

}  // namespace fovea::cuda
