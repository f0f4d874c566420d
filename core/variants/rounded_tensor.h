// Queries, keys or values rounded to a NumberFormat: the numbers of a block are divided by its
// scale, rounded, and multiplied by the scale again.
#pragma once

#include <string>

#include "data/number_format.h"
#include "plan/rounded_head.h"
#include "variants/variant.h"

namespace fovea {

/// Which numbers share a scale: rectangles, cut off at the ends of the tensor.
struct ScaleBlocks {
  Index rows = 1, cols = 1;
};

/// The scale of a block is a / m, kept in float32: a is its largest magnitude, m the format's
/// largest number.
/// With scales in E4M3 (NVFP4), the tensor has a scale of its own in float32, t = A / (448 m), A
/// being its largest magnitude, and the scale of a block is t times the E4M3 number for a / (m t).
/// The numbers of a block whose scale is 0 become 0. Numbers that are not finite become NaN, and
/// count for no scale.
struct RoundingRule {
  NumberFormat format = NumberFormat::int8;
  ScaleBlocks blocks;
  bool scales_in_e4m3 = false;
};

struct RoundedTensor {
  Matrix values;  // padded; [rows, cols + more_cols], 0 in the columns that are added
  TensorRounding rounding;
};

/// `norm` is the Frobenius norm that the error is relative to.
RoundedTensor rounded_tensor(const std::string& name, MatrixView x, const RoundingRule& rule,
                             double norm, Index more_cols, Planning& planning);

/// The norm of the finite numbers.
double frobenius_norm(MatrixView m);

}  // namespace fovea
