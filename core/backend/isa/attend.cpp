// See attend.h. Only plain loops and the compiler's vector types: nothing here may instantiate an
// inline function that another object could share, since the objects differ in instruction set.
#include "backend/isa/attend.h"

#include "backend/isa/rows.h"
#include "backend/isa/vector.h"
#include "backend/isa/wide.h"

namespace fovea::isa {
namespace {

constexpr float minus_infinity = -__builtin_inff();

// 2^x for x <= 128, relative error below 2e-7 (degree-6 interpolation at Chebyshev nodes on
// [-1/2, 1/2], found in float64); 0 below -126.5, so that a masked -inf is exactly 0. NaN stays
// NaN: `larger` returns its second argument where either is NaN.
inline Vec exp2_of(Vec x) {
  // Adding 1.5 * 2^23 rounds to an integer; with the 127, its low bits are those of the exponent.
  constexpr float magic = 12582912.0f + 127.0f;
  const Vec clamped = larger(splat(-127.0f), x);
  const Vec shifted = clamped + splat(magic);
  const Vec f = clamped - (shifted - splat(magic));
  Vec p = splat(1.546144470e-4f);
  p = p * f + splat(1.340042818e-3f);
  p = p * f + splat(9.618056679e-3f);
  p = p * f + splat(5.550327227e-2f);
  p = p * f + splat(2.402265092e-1f);
  p = p * f + splat(6.931472067e-1f);
  p = p * f + splat(1.0f);
  return p * reinterpret_cast<Vec>(reinterpret_cast<IntVec>(shifted) << 23);
}

// log2 x for normal x > 0: with x = 2^e f, f in [sqrt(1/2), sqrt(2)) and s = (f - 1) / (f + 1), it
// is e + 2 / ln 2 (s + s^3 / 3 + s^5 / 5 + ...), of which the terms from s^11 on are below 1e-9.
inline Vec log2_of(Vec x) {
  constexpr std::int32_t root = 0x3f3504f3;  // sqrt(1/2)
  const IntVec bits = reinterpret_cast<IntVec>(x);
  const IntVec exponent = (bits - splat_int(root)) >> 23;
  const Vec f = reinterpret_cast<Vec>(bits - (exponent << 23));
  const Vec s = (f - splat(1.0f)) / (f + splat(1.0f)), square = s * s;
  Vec p = splat(0.320598898f);
  p = p * square + splat(0.412198583f);
  p = p * square + splat(0.577078016f);
  p = p * square + splat(0.961796694f);
  p = p * square + splat(2.88539008f);
  return __builtin_convertvector(exponent, Vec) + p * s;
}

inline Vec log2_elu_of(Vec x) {
  const IntVec positive = x > Vec{};
  // x - x is 0, and NaN if x is not finite, so that no such number goes unseen.
  return log2_of((positive ? x : Vec{}) + splat(1.0f)) +
         (positive ? x - x : x * splat(1.44269504f));
}

typedef float Four __attribute__((vector_size(16)));
typedef float UnalignedFour __attribute__((vector_size(16), aligned(4), may_alias));

// Transposes four columns of four rows in registers.
inline void pack_block(const float* const* rows, int c, float scale, int lanes, float* packed) {
  Four r[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) r[i] = *reinterpret_cast<const UnalignedFour*>(rows[i] + c) * scale;
  const Four a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
             b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5),
             e = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
             f = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  const Four columns[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(e, f, 0, 1, 4, 5), __builtin_shufflevector(e, f, 2, 3, 6, 7)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) *reinterpret_cast<UnalignedFour*>(packed + i * lanes) = columns[i];
}

void pack(const float* const* rows, int count, int lanes, int d, float scale, float* packed) {
  int lane = 0;
  for (; lane + 4 <= count; lane += 4) {
    int c = 0;
    for (; c + 4 <= d; c += 4) pack_block(rows + lane, c, scale, lanes, packed + c * lanes + lane);
    for (; c < d; ++c)
      for (int i = 0; i < 4; ++i) packed[c * lanes + lane + i] = rows[lane + i][c] * scale;
  }
  for (; lane < lanes; ++lane)
    for (int c = 0; c < d; ++c)
      packed[c * lanes + lane] = lane < count ? rows[lane][c] * scale : 0.0f;
}

template <int N>
struct Count {};

template <int Keys, int Vectors>
inline void logits_tile(const float* packed, int lanes, int d, const float* const* keys, float* s) {
  Vec sum[Keys][Vectors] = {};
  for (int c = 0; c < d; ++c) {
    Vec q[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) q[v] = load(packed + c * lanes + v * width);
#pragma GCC unroll 16
    for (int k = 0; k < Keys; ++k) {
      const Vec key = splat(keys[k][c]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[k][v] += q[v] * key;
    }
  }
#pragma GCC unroll 16
  for (int k = 0; k < Keys; ++k)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) store(s + k * lanes + v * width, sum[k][v]);
}

// The keys that any of these lanes may attend.
inline KeyRange live_keys(const KeyRange* live, int lane, int lanes, int key_count) {
  if (!live) return {0, key_count};
  KeyRange all = live[lane / range_lanes];
  for (int i = lane / range_lanes + 1; i * range_lanes < lane + lanes; ++i) {
    if (live[i].begin == live[i].end) continue;
    if (all.begin == all.end) all = live[i];
    all.begin = live[i].begin < all.begin ? live[i].begin : all.begin;
    all.end = live[i].end > all.end ? live[i].end : all.end;
  }
  return all;
}

template <int Vectors>
void logits_columns(const float* packed, int lanes, int d, const float* const* keys, KeyRange range,
                    float* s) {
  constexpr int block =
      Vectors == tile_vectors ? 6 : 12;  // enough independent sums to hide the latency
  int k = range.begin;
  for (; k + block <= range.end; k += block)
    logits_tile<block, Vectors>(packed, lanes, d, keys + k, s + k * lanes);
  for (; k + 4 <= range.end; k += 4)
    logits_tile<4, Vectors>(packed, lanes, d, keys + k, s + k * lanes);
  for (; k < range.end; ++k) logits_tile<1, Vectors>(packed, lanes, d, keys + k, s + k * lanes);
}

void logits(const float* packed, int lanes, int d, const float* const* keys, int key_count,
            const KeyRange* live, float* s) {
  int lane = 0;
  const auto columns = [&]<int Vectors>(Count<Vectors>) {
    const KeyRange range = live_keys(live, lane, Vectors * width, key_count);
    logits_columns<Vectors>(packed + lane, lanes, d, keys, range, s + lane);
    lane += Vectors * width;
  };
  if (tile_vectors == 4)
    while (!live && lane + 4 * width <= lanes) columns(Count<4>{});  // narrow blocks waste less
  while (lane + 2 * width <= lanes) columns(Count<2>{});
  if (lane < lanes) columns(Count<1>{});
}

void add_weights(float* s, int lanes, int key_count, const float* log2_weight) {
  for (int k = 0; k < key_count; ++k)
    for (int lane = 0; lane < lanes; lane += width) {
      float* at = s + k * lanes + lane;
      store(at, load(at) + splat(log2_weight[k]));
    }
}

void mask(float* s, int lanes, int key_count, const std::int32_t* lane_token,
          const std::int32_t* key_token, std::int32_t lo, std::int32_t hi) {
  for (int k = 0; k < key_count; ++k)
    for (int lane = 0; lane < lanes; lane += width) {
      const IntVec distance = load_int(lane_token + lane) - splat_int(key_token[k]);
      const IntVec counts = (distance >= splat_int(lo)) & (distance <= splat_int(hi));
      float* at = s + k * lanes + lane;
      store(at, counts ? load(at) : splat(minus_infinity));
    }
}

void leave_out(float* s, int lanes, int key_count, int rounds,
               const std::int32_t* const* lane_chunk, const std::int32_t* const* key_chunk) {
  for (int k = 0; k < key_count; ++k)
    for (int lane = 0; lane < lanes; lane += width) {
      IntVec met{};
      for (int r = 0; r < rounds; ++r) {
        const IntVec apart = load_int(lane_chunk[r] + lane) - splat_int(key_chunk[r][k]);
        met |= (apart == splat_int(0)) | (apart == splat_int(1));
      }
      float* at = s + k * lanes + lane;
      store(at, met ? splat(minus_infinity) : load(at));
    }
}

// tanh x = 1 - 2 / (e^2x + 1) for |x| >= 1/4, else x - x^3/3 + 2 x^5/15 - 17 x^7/315 (the next term
// is below 4e-7 of x): a relative error below 1e-6 everywhere.
inline Vec tanh_of(Vec x) {
  const Vec square = x * x;
  Vec p = splat(-17.0f / 315.0f);
  p = p * square + splat(2.0f / 15.0f);
  p = p * square + splat(-1.0f / 3.0f);
  p = p * square + splat(1.0f);
  const Vec power = exp2_of(smaller(x * splat(2.88539008f), splat(120.0f)));
  const Vec far = splat(1.0f) - splat(2.0f) / (power + splat(1.0f));
  return square < splat(0.0625f) ? x * p : far;
}

void soft_cap(float* s, int count, float cap) {
  const Vec share = splat(1 / cap);
  for (int i = 0; i < count; i += width) store(s + i, splat(cap) * tanh_of(load(s + i) * share));
}

void add_row(float* s, int lanes, const float* row, float factor) {
  for (int lane = 0; lane < lanes; lane += width)
    store(s + lane, load(s + lane) + splat(factor) * load(row + lane));
}

void keep_documents(float* s, int lanes, int key_count, const std::int32_t* lane_document,
                    const std::int32_t* key_document) {
  for (int k = 0; k < key_count; ++k)
    for (int lane = 0; lane < lanes; lane += width) {
      float* at = s + k * lanes + lane;
      const IntVec same = load_int(lane_document + lane) == splat_int(key_document[k]);
      store(at, same ? load(at) : splat(minus_infinity));
    }
}

void keep_bits(float* s, int lanes, const std::uint32_t* word, int bit) {
  const auto wanted = static_cast<std::int32_t>(std::uint32_t{1} << bit);
  for (int lane = 0; lane < lanes; lane += width) {
    const IntVec set = (load_int(reinterpret_cast<const std::int32_t*>(word + lane)) &
                        splat_int(wanted)) != splat_int(0);
    store(s + lane, set ? load(s + lane) : splat(minus_infinity));
  }
}

bool softmax(float* s, int lanes, int key_count, float* maximum, float* sum, float* rescale) {
  bool moved = false;
  for (int lane = 0; lane < lanes; lane += width) {
    const Vec before = load(maximum + lane);
    Vec top = before;
    for (int k = 0; k < key_count; ++k) top = larger(load(s + k * lanes + lane), top);
    // Avoids (-inf) - (-inf) in a lane without a key so far.
    const Vec reference = top == splat(minus_infinity) ? Vec{} : top;
    // Its sum is 0 and needs no rescaling either.
    const IntVec fresh = before == splat(minus_infinity);
    const Vec factor = fresh ? splat(1.0f) : exp2_of(before - reference);
    const IntVec changed = factor != splat(1.0f);
    for (int i = 0; i < width; ++i) moved |= changed[i] != 0;
    Vec total = load(sum + lane) * factor;
    for (int k = 0; k < key_count; ++k) {
      float* at = s + k * lanes + lane;
      const Vec weight = exp2_of(load(at) - reference);
      store(at, weight);
      total += weight;
    }
    store(maximum + lane, top);
    store(sum + lane, total);
    store(rescale + lane, factor);
  }
  return moved;
}

void softmax_segments(float* s, int lanes, const Segments& segments, float* maximum, float* sum,
                      float* rescale) {
  for (int lane = 0; lane < lanes; lane += width) {
    const Vec before = load(maximum + lane);
    Vec top = before;
    for (int i = 0, k = 0; i < segments.count; ++i) {
      const bool goes_on = i == 0 && segments.first_goes_on;
      Vec its = goes_on ? load(segments.maximum[i] + lane) : splat(minus_infinity);
      for (; k < segments.end[i]; ++k) its = larger(load(s + k * lanes + lane), its);
      store(segments.maximum[i] + lane, its);
      top = larger(its, top);
    }
    const Vec reference = top == splat(minus_infinity) ? Vec{} : top;  // as in softmax
    const IntVec fresh = before == splat(minus_infinity);
    const Vec factor = fresh ? splat(1.0f) : exp2_of(before - reference);
    Vec total = load(sum + lane) * factor;
    for (int i = 0, k = 0; i < segments.count; ++i) {
      Vec its{};
      if (i == 0 && segments.first_goes_on)
        its =
            load(segments.sum[i] + lane) * exp2_of(load(segments.reference[i] + lane) - reference);
      for (; k < segments.end[i]; ++k) {
        float* at = s + k * lanes + lane;
        const Vec weight = exp2_of(load(at) - reference);
        store(at, weight);
        its += weight;
        total += weight;
      }
      store(segments.sum[i] + lane, its);
      store(segments.reference[i] + lane, reference);
    }
    store(maximum + lane, top);
    store(sum + lane, total);
    store(rescale + lane, factor);
  }
}

void log2_elu(float* x, int count) {
  int i = 0;
  for (; i + width <= count; i += width) store(x + i, log2_elu_of(load(x + i)));
  if (i == count) return;
  Vec rest{};
  for (int k = i; k < count; ++k) rest[k - i] = x[k];
  rest = log2_elu_of(rest);
  for (int k = i; k < count; ++k) x[k] = rest[k - i];
}

void multiply(float* a, const float* b, int count) {
  for (int i = 0; i < count; i += width) store(a + i, load(a + i) * load(b + i));
}

void normalise(float* s, int lanes, int key_count, const float* log2_sum, float most) {
  for (int lane = 0; lane < lanes; lane += width) {
    const Vec shift = load(log2_sum + lane);
    const IntVec none = shift == splat(minus_infinity);
    const Vec reference = none ? Vec{} : shift;
    for (int k = 0; k < key_count; ++k) {
      float* at = s + k * lanes + lane;
      const Vec logit = load(at), x = logit - reference;
      const Vec weight = exp2_of(x > splat(most) ? splat(most) : x);
      store(at, (none | (logit == splat(minus_infinity))) ? Vec{} : weight);
    }
  }
}

template <int Rows, int Vectors>
inline void accumulate_tile(const Accumulation& a, int row, int offset) {
  Vec sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = load(a.from[row + r] + offset + v * width) * splat(a.rescale[row + r]);
  const float* s = a.s + row;
  const KeyRange range = live_keys(a.live, row, Rows, a.keys);
  for (int k = range.begin; k < range.end; ++k) {
    const float* value = a.values[k] + offset;
    Vec x[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) x[v] = load(value + v * width);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const Vec weight = splat(s[k * a.lanes + r]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[r][v] += weight * x[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) store(a.z[row + r] + offset + v * width, sum[r][v]);
}

template <int Vectors>
void accumulate_columns(const Accumulation& a, int offset) {
  int r = 0;
  for (; a.count - r >= 6 && a.count - r != 8; r += 6)  // 8 rows are better cut in halves
    accumulate_tile<6, Vectors>(a, r, offset);
  for (; a.count - r >= 4; r += 4) accumulate_tile<4, Vectors>(a, r, offset);
  for (; a.count - r >= 2; r += 2) accumulate_tile<2, Vectors>(a, r, offset);
  if (r < a.count) accumulate_tile<1, Vectors>(a, r, offset);
}

void accumulate(const Accumulation& a, int dv) {
  int offset = 0;
  for (; offset + tile_vectors * width <= dv; offset += tile_vectors * width)
    accumulate_columns<tile_vectors>(a, offset);
  for (; offset < dv; offset += width) accumulate_columns<1>(a, offset);
}

// A maximum with NaN is NaN: once there, NaN stays.
void reduce(const float* s, int lanes, int count, int key_count, bool maximum, float* out) {
  for (int k = 0; k < key_count; ++k) {
    const float* row = s + k * lanes;
    Vec total{};
    int lane = 0;
    for (; lane + width <= count; lane += width) {
      const Vec x = load(row + lane);
      total = maximum ? (((x > total) | (x != x)) ? x : total) : total + x;
    }
    float result = 0.0f;
    const auto add = [&](float x) {
      result = maximum ? (x > result || x != x ? x : result) : result + x;
    };
    for (int i = 0; i < width; ++i) add(total[i]);
    for (; lane < count; ++lane) add(row[lane]);
    out[k] = result;
  }
}

const Loops loops{isa_name,         width,          pack,      logits,
                  add_weights,      mask,           leave_out, soft_cap,
                  add_row,          keep_documents, keep_bits, softmax,
                  softmax_segments, log2_elu,       multiply,  normalise,
                  accumulate,       blend,          scale,     score,
                  choose_side,      add_rows,       reduce,    wide_products,
                  largest,          orders};

}  // namespace

const Loops& FOVEA_ISA() {
  return loops;
}

}  // namespace fovea::isa
