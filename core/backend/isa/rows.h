// The loops over single rows: means, quotients, routing, node sums. See attend.h and vector.h.
#pragma once

#include <utility>

#include "backend/isa/attend.h"
#include "backend/isa/vector.h"

namespace fovea::isa {
namespace {

void blend(const float* a, const float* b, float share, int columns, float* out) {
  const float rest = 1.0f - share;
  int c = 0;
  for (; c + width <= columns; c += width)
    store(out + c, load(a + c) * splat(rest) + load(b + c) * splat(share));
  for (; c < columns; ++c) out[c] = a[c] * rest + b[c] * share;
}

void scale(float* row, int columns, float factor) {
  int c = 0;
  for (; c + width <= columns; c += width) store(row + c, load(row + c) * splat(factor));
  for (; c < columns; ++c) row[c] *= factor;
}

template <int... I>
inline Vec add_neighbours(Vec a, Vec b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, 2 * I...) + __builtin_shufflevector(a, b, 2 * I + 1 ...);
}
// Sums of neighbouring lanes, first of a, then of b.
inline Vec add_neighbours(Vec a, Vec b) {
  return add_neighbours(a, b, std::make_integer_sequence<int, width>());
}

// `width` scores side by side.
inline Vec score_some(const Weights& w, const float* const* x, const std::int32_t* row) {
  Vec sum[width];
#pragma GCC unroll 4
  for (int i = 0; i < width; i += 4) {
    Vec s[4];
    const float* at[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      at[j] = w.rows + row[i + j] * w.stride;
      s[j] = Vec{w.bias[row[i + j]]};
    }
    for (int c = 0; c + width <= w.d; c += width)
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) s[j] += load(x[i + j] + c) * load(at[j] + c);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      for (int c = w.d - w.d % width; c < w.d; ++c) s[j][0] += x[i + j][c] * at[j][c];
      sum[i + j] = s[j];
    }
  }
#pragma GCC unroll 4
  for (int left = width / 2; left > 0; left /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < left; ++i) sum[i] = add_neighbours(sum[2 * i], sum[2 * i + 1]);
  return sum[0];
}

// use(i, scores) for every `width` rows from i on; the last row is repeated where rows are missing.
template <class Use>
inline void score_each(const Weights& w, const float* const* x, const std::int32_t* row, int count,
                       Use use) {
  int i = 0;
  for (; i + width <= count; i += width) use(i, score_some(w, x + i, row + i));
  if (i == count) return;
  const float* last_x[width];
  std::int32_t last_row[width];
  for (int j = 0; j < width; ++j) {
    last_x[j] = x[i + j < count ? i + j : count - 1];
    last_row[j] = row[i + j < count ? i + j : count - 1];
  }
  use(i, score_some(w, last_x, last_row));
}

void score(const Weights& w, const float* const* x, const std::int32_t* row, int count,
           float* out) {
  score_each(w, x, row, count, [&](int i, Vec scores) {
    if (i + width <= count)
      store(out + i, scores);
    else
      for (int j = 0; i + j < count; ++j) out[i + j] = scores[j];
  });
}

void choose_side(const Weights& w, const float* const* x, int count, std::int32_t* node) {
  score_each(w, x, node, count, [&](int i, Vec scores) {
    const IntVec right = scores >= Vec{};  // -1 where so
    if (i + width <= count)
      store_int(node + i, 2 * load_int(node + i) - right);
    else
      for (int j = 0; i + j < count; ++j) node[i + j] = 2 * node[i + j] - right[j];
  });
}

constexpr int half = width / 2;
typedef double Doubles __attribute__((vector_size(half * 8)));
typedef double UnalignedDoubles __attribute__((vector_size(half * 8), aligned(8), may_alias));
typedef float Half __attribute__((vector_size(half * 4)));
typedef float UnalignedHalf __attribute__((vector_size(half * 4), aligned(4), may_alias));

template <int Vectors>
inline void add_columns(const float* rows, std::int64_t stride, const std::int32_t* order,
                        int count, double* sum) {
  constexpr int ahead = 8;  // rows may be anywhere, so their memory is prefetched
  Doubles total[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v)
    total[v] = *reinterpret_cast<const UnalignedDoubles*>(sum + v * half);
  for (int k = 0; k < count; ++k) {
    if (k + ahead < count)
      for (int c = 0; c < Vectors * half; c += 16)
        __builtin_prefetch(rows + order[k + ahead] * stride + c);
    const float* row = rows + order[k] * stride;
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      const Half x = *reinterpret_cast<const UnalignedHalf*>(row + v * half);
      total[v] += __builtin_convertvector(x, Doubles);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) *reinterpret_cast<UnalignedDoubles*>(sum + v * half) = total[v];
}

void add_rows(const float* rows, std::int64_t stride, const std::int32_t* order, int count,
              int columns, double* sum) {
  int c = 0;
  for (; c + 8 * half <= columns; c += 8 * half)
    add_columns<8>(rows + c, stride, order, count, sum + c);
  for (; c + half <= columns; c += half) add_columns<1>(rows + c, stride, order, count, sum + c);
  for (; c < columns; ++c)
    for (int k = 0; k < count; ++k) sum[c] += static_cast<double>(rows[order[k] * stride + c]);
}

}  // namespace
}  // namespace fovea::isa
