// Attention by products of warpgroups for the narrowest and the widest heads, to be held against
// the budgets: those of all widths take several times as long to compile.
#include "tiles/launch_wgmma.cuh"

namespace fovea::cuda {

template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<1, 1, 1>, false>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<1, 1, 1>, true>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<1, 1, 2>, false>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<1, 1, 3>, false>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<2, 2, 1>, false>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<2, 2, 1>, true>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<2, 2, 2>, false>(
    const __grid_constant__ WgmmaArgs);
template __global__ void attend_wgmma_kernel<Precision::bf16, WgmmaShape<2, 2, 2>, true>(
    const __grid_constant__ WgmmaArgs);

}  // namespace fovea::cuda
