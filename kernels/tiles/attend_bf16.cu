#include "tiles/launch_mma.cuh"

namespace fovea::cuda {

std::size_t attend_mma_shared_bytes(int height, int d, Precision precision) {
  const int chunks = (d + chunk - 1) / chunk * (precision == Precision::fp32_split ? 2 : 1);
  return sizeof(MmaShared) + static_cast<std::size_t>(chunks) * height * row_bytes +
         tile_ring * tile_bytes;
}

template void attend_mma<Precision::bf16>(const AttendArgs&, const MmaOperands&, int, cudaStream_t);

}  // namespace fovea::cuda
