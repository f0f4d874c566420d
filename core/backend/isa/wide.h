// Products of queries and keys in double. See attend.h and vector.h.
#pragma once

#include "backend/isa/attend.h"
#include "backend/isa/vector.h"

namespace fovea::isa {
namespace {

typedef double Wide __attribute__((vector_size(width * 4)));  // as many bytes as a Vec
typedef double UnalignedWide __attribute__((vector_size(width * 4), aligned(8), may_alias));
constexpr int wide_width = width / 2, wide_vectors = wide_keys / wide_width;

template <int rows>
inline void wide_rows(const float* const* queries, int d, const double* keys, double* const* out) {
  Wide sum[rows][wide_vectors] = {};
  for (int c = 0; c < d; ++c)
    for (int v = 0; v < wide_vectors; ++v) {
      const Wide key =
          *reinterpret_cast<const UnalignedWide*>(keys + c * wide_keys + v * wide_width);
      for (int r = 0; r < rows; ++r) sum[r][v] += static_cast<double>(queries[r][c]) * key;
    }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < wide_vectors; ++v)
      *reinterpret_cast<UnalignedWide*>(out[r] + v * wide_width) = sum[r][v];
}

void wide_products(const float* const* queries, int count, int d, const double* keys,
                   double* const* out) {
  constexpr int rows = width / 4;  // as many as have registers for their sums
  int i = 0;
  for (; i + rows <= count; i += rows) wide_rows<rows>(queries + i, d, keys, out + i);
  for (; i < count; ++i) wide_rows<1>(queries + i, d, keys, out + i);
}

}  // namespace
}  // namespace fovea::isa
