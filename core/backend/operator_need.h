// What operators of the CPU count their MemoryNeed from. Each states its own, an operator_need
// beside what makes it.
#pragma once

#include <cstdint>

#include "data/matrix.h"

namespace fovea {

struct MemoryNeed {
  double bound = 0;    // bytes that binding keeps: the tiles cut into strips, pyramids, tables
  double applied = 0;  // bytes beside it while Z is computed, Z included
  double total() const { return bound + applied; }
};

/// Lengths and widths of the matrices that an operator computes with: those of the head, or of the
/// plan's own queries and keys.
struct Extents {
  Index queries = 0, keys = 0, d = 0, dv = 0;
  bool causal = false;
};

inline constexpr double float_size = sizeof(float), int_size = sizeof(std::int32_t),
                        double_size = sizeof(double);

constexpr double as_double(Index n) {
  return n;
}

}  // namespace fovea
