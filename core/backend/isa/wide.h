// Products of queries and keys in double, and what is chosen by them. See attend.h and vector.h.
#pragma once

#include <limits>

#include "backend/isa/attend.h"
#include "backend/isa/vector.h"

namespace fovea::isa {
namespace {

constexpr int wide_width = width / 2;

typedef double Wide __attribute__((vector_size(width * 4)));  // as many bytes as a Vec
typedef double UnalignedWide __attribute__((vector_size(width * 4), aligned(8), may_alias));
typedef float Narrow __attribute__((vector_size(width * 2)));
typedef std::uint32_t NarrowBits __attribute__((vector_size(width * 2)));
typedef std::uint32_t UnalignedBits __attribute__((vector_size(width * 2), aligned(4), may_alias));

inline Wide load_wide(const double* p) {
  return *reinterpret_cast<const UnalignedWide*>(p);
}

/// Some of the queries, as many as have registers for their sums.
template <int rows>
inline void wide_rows(const double* queries, int d, const double* keys, double* const* out) {
  constexpr int vectors = wide_keys / wide_width;
  Wide sum[rows][vectors] = {};
  for (int c = 0; c < d; ++c)
    for (int v = 0; v < vectors; ++v) {
      const Wide key = load_wide(keys + c * wide_keys + v * wide_width);
      for (int r = 0; r < rows; ++r) sum[r][v] += queries[c * wide_queries + r] * key;
    }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      *reinterpret_cast<UnalignedWide*>(out[r] + v * wide_width) = sum[r][v];
}

void wide_products(const double* queries, int d, const double* keys, double* const* out) {
  constexpr int rows = width == 16 ? 8 : width / 4;
  for (int i = 0; i < wide_queries; i += rows) wide_rows<rows>(queries + i, d, keys, out + i);
}

double largest(const double* values, std::int64_t count) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  Wide most[2] = {none - Wide{}, none - Wide{}};
  std::int64_t i = 0;
  for (; i + 2 * wide_width <= count; i += 2 * wide_width)
    for (int v = 0; v < 2; ++v) {
      const Wide x = load_wide(values + i + v * wide_width);
      most[v] = x > most[v] ? x : most[v];
    }
  double found = none;
  for (const Wide& part : most)
    for (int l = 0; l < wide_width; ++l) found = part[l] > found ? part[l] : found;
  for (; i < count; ++i) found = values[i] > found ? values[i] : found;
  return found;
}

inline NarrowBits order_of(Wide score, Wide least) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  score = score == score ? (score > least ? score : least) : none - Wide{};
  const auto bits = (NarrowBits) __builtin_convertvector(score, Narrow);  // not their values
  const NarrowBits negative = 0U - (bits >> 31);                          // all bits, or none
  return bits ^ (negative | 0x80000000U);
}

Orders orders(const double* scores, std::int64_t count, double least, std::uint32_t* order) {
  const Wide bound = least - Wide{};
  NarrowBits low = ~NarrowBits{}, high{};
  std::int64_t i = 0;
  for (; i + wide_width <= count; i += wide_width) {
    const NarrowBits bits = order_of(load_wide(scores + i), bound);
    *reinterpret_cast<UnalignedBits*>(order + i) = bits;
    low = bits < low ? bits : low;
    high = bits > high ? bits : high;
  }
  Wide last{};
  for (int l = 0; i + l < count; ++l) last[l] = scores[i + l];
  const NarrowBits bits = order_of(last, bound);
  Orders ends{~0U, 0};
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    ends.lowest = a < ends.lowest ? a : ends.lowest;
    ends.highest = b > ends.highest ? b : ends.highest;
  };
  for (int l = 0; i + l < count; ++l) add(order[i + l] = bits[l], bits[l]);
  for (int l = 0; l < wide_width; ++l) add(low[l], high[l]);
  return ends;
}

}  // namespace
}  // namespace fovea::isa
