// Singular values of blocks on the device: small ones by Jacobi rotations, larger ones of low rank
// through a basis of their rows.
#pragma once

#include <span>

#include "backend/backend.h"
#include "device/device.h"

namespace fovea::cuda {

/// As Backend::singular_values. Blocks of more than 64 a side whose rank is above 64, and blocks of
/// more than 2048 a side, are left to `cpu`.
Spectra singular_values(std::span<const MatrixView> blocks, const Device& device,
                        const Backend& cpu, Run& run);

}  // namespace fovea::cuda
