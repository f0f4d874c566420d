// A Vec is as many floats as the instruction set of this object computes with at once.
// Only for sources that are compiled once per instruction set: everything here is the object's own.
#pragma once

#include <cstdint>

namespace fovea::isa {
namespace {

#if defined(__AVX512F__)
constexpr int width = 16, tile_vectors = 4;
constexpr const char* isa_name = "AVX-512";
#elif defined(__AVX2__)
constexpr int width = 8, tile_vectors = 2;
constexpr const char* isa_name = "AVX2";
#else
constexpr int width = 4, tile_vectors = 2;
constexpr const char* isa_name = "SSE2";
#endif

typedef float Vec __attribute__((vector_size(width * 4)));
typedef std::int32_t IntVec __attribute__((vector_size(width * 4)));
typedef float Unaligned __attribute__((vector_size(width * 4), aligned(4), may_alias));
typedef std::int32_t UnalignedInt __attribute__((vector_size(width * 4), aligned(4), may_alias));

inline Vec load(const float* p) {
  return *reinterpret_cast<const Unaligned*>(p);
}
inline void store(float* p, Vec x) {
  *reinterpret_cast<Unaligned*>(p) = x;
}
inline IntVec load_int(const std::int32_t* p) {
  return *reinterpret_cast<const UnalignedInt*>(p);
}
inline void store_int(std::int32_t* p, IntVec x) {
  *reinterpret_cast<UnalignedInt*>(p) = x;
}
inline Vec splat(float x) {
  return x - Vec{};
}
inline IntVec splat_int(std::int32_t x) {
  return x - IntVec{};
}
inline Vec larger(Vec a, Vec b) {
  return a > b ? a : b;
}
/// The first argument where either is NaN.
inline Vec smaller(Vec a, Vec b) {
  return b < a ? b : a;
}

}  // namespace
}  // namespace fovea::isa
