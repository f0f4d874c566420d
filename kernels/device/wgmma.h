// Whether 16 bits can be multiplied by warpgroups: the program has the kernels, and the driver
// makes the tensor maps that they need.
#pragma once

namespace fovea::cuda {

#ifdef FOVEA_HAS_WGMMA
inline constexpr bool wgmma_built = true;
#else
inline constexpr bool wgmma_built = false;
#endif

/// Defined where wgmma_built. The program needs no driver to start.
bool has_tensor_maps();

}  // namespace fovea::cuda
