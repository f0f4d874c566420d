// Where two layouts of q, k and v are equally likely, the output z beside them tells which is
// meant.
#pragma once

#include <optional>

#include "data/head_tensor.h"

namespace fovea {

/// Whether z is exact attention of q, k and v up to rounding to 16 bits, with a causal mask or
/// without, in some rows of the first and the last head. A scale of nothing is 1 / sqrt(d).
bool gives_output(const HeadTensor& q, const HeadTensor& k, const HeadTensor& v,
                  const HeadTensor& z, std::optional<double> scale, const std::stop_token& stop);

}  // namespace fovea
