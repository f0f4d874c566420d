// A shape is how many places a tensor has along each axis, as in [2,8].
#pragma once

#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// "[2,8]".
inline std::string shape_text(const std::vector<Index>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis > 0 ? "," : "") + std::to_string(shape[axis]);
  return text + "]";
}

}  // namespace fovea
