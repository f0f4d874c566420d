// The hot loops of the CPU back end. The source attend.cpp is compiled once per instruction set;
// each object provides its loops as a table of plain functions. A strip is up to 192 queries,
// stored as lanes of vectors: logits of a strip are stored [key][lane], so that row maxima and sums
// need no shuffles, and keys and values are read from their own rows, wherever those are.
//
// All logits are in units of log2 (the scale carries log2(e)), so that exp becomes exp2.
#pragma once

#include <cstdint>

namespace fovea::isa {

inline constexpr int max_lanes = 192;   // that many queries use a key once it was read from memory
inline constexpr int usual_lanes = 64;  // as many as fill the registers of a tile of logits
inline constexpr int wide_keys = 16;    // keys of one step in double
inline constexpr int wide_queries = 8;  // queries of one step in double
inline constexpr int max_keys = 96;     // keys of one step: S stays in the first two caches

/// The keys of a step that any of 16 lanes may attend; one range for every 16 lanes of a strip.
struct KeyRange {
  int begin, end;
};
inline constexpr int range_lanes = 16;

/// Weighted values to be added to the rows of a strip.
struct Accumulation {
  const float* s;  // weights [key][lane]
  int lanes, count, keys;
  const KeyRange* live;        // all other weights are 0; null means any may be positive
  const float* const* values;  // [keys]
  const float* rescale;        // [lane]
  const float* const* from;    // [count]
  float* const* z;             // [count]
};

/// Rows of weights, each with a bias.
struct Weights {
  const float* rows;
  std::int64_t stride;
  const float* bias;
  int d;
};

/// Runs of consecutive keys of a step, with the state of each so far.
struct Segments {
  int count;
  const int* end;           // [count] one past the last key of each
  float* const* maximum;    // [count][lane] largest logit
  float* const* sum;        // [count][lane] of exp2(logit - reference)
  float* const* reference;  // [count][lane]
  bool first_goes_on;  // the first segment began in an earlier step; all others begin in this one
};

/// The ends of some numbers.
struct Orders {
  std::uint32_t lowest, highest;
};

struct Loops {
  const char* name;  // "AVX-512"
  int width;         // floats in a vector; lanes of a strip are a multiple of it

  /// packed[c][lane] = scale * rows[lane][c], zero for lanes beyond count. lanes <= max_lanes.
  void (*pack)(const float* const* rows, int count, int lanes, int d, float scale, float* packed);

  /// s[key][lane] = sum_c packed[c][lane] keys[key][c]. key_count <= max_keys. Undefined outside
  /// `live`, which may be null: all.
  void (*logits)(const float* packed, int lanes, int d, const float* const* keys, int key_count,
                 const KeyRange* live, float* s);

  /// s[key][lane] += log2_weight[key].
  void (*add_weights)(float* s, int lanes, int key_count, const float* log2_weight);

  /// s = -inf where lane_token - key_token is outside [lo, hi].
  void (*mask)(float* s, int lanes, int key_count, const std::int32_t* lane_token,
               const std::int32_t* key_token, std::int32_t lo, std::int32_t hi);

  /// s = -inf where lane_chunk[r] - key_chunk[r] is 0 or 1 in some round r < rounds.
  void (*leave_out)(float* s, int lanes, int key_count, int rounds,
                    const std::int32_t* const* lane_chunk, const std::int32_t* const* key_chunk);

  /// s = cap tanh(s / cap), with the cap in the units of s. count is a multiple of width.
  void (*soft_cap)(float* s, int count, float cap);

  /// s[lane] += factor row[lane], for one key.
  void (*add_row)(float* s, int lanes, const float* row, float factor);

  /// s = -inf where lane_document differs from key_document.
  void (*keep_documents)(float* s, int lanes, int key_count, const std::int32_t* lane_document,
                         const std::int32_t* key_document);

  /// s[lane] = -inf where the bit is not set in word[lane], for one key.
  void (*keep_bits)(float* s, int lanes, const std::uint32_t* word, int bit);

  /// One step of the streaming softmax: moves the running maximum, rescales the running sum, turns
  /// s into weights exp2(s - maximum) and adds them. rescale[lane] receives exp2(old - new
  /// maximum). Returns whether any maximum moved (else every rescale is 1).
  bool (*softmax)(float* s, int lanes, int key_count, float* maximum, float* sum, float* rescale);

  /// The same, with the state of each segment. The segments contain all keys.
  void (*softmax_segments)(float* s, int lanes, const Segments& segments, float* maximum,
                           float* sum, float* rescale);

  /// x[i] = log2(elu(x[i]) + 1): log2(1 + x) for x > 0, else x log2(e). NaN stays NaN.
  void (*log2_elu)(float* x, int count);

  /// a[i] *= b[i]. count is a multiple of width.
  void (*multiply)(float* a, const float* b, int count);

  /// s = exp2(min(s - log2_sum[lane], most)); 0 for a lane whose log2_sum is -inf, and for an s of
  /// -inf whatever log2_sum is, so that the weight of a masked pair is 0 in a row of NaN too.
  /// `most` is 0 for weights of a softmax, which exceed 1 by no more than the rounding of their
  /// sum; it is at most 128, for which the result is infinite.
  void (*normalise)(float* s, int lanes, int key_count, const float* log2_sum, float most);

  /// z[lane][0..dv) = rescale[lane] from[lane][0..dv) + sum_key s[key][lane] values[key][0..dv). dv
  /// is a multiple of 16, and dv floats of every row can be read. z may be from.
  void (*accumulate)(const Accumulation& a, int dv);

  /// out = (1 - share) a + share b.
  void (*blend)(const float* a, const float* b, float share, int width, float* out);

  /// row *= factor.
  void (*scale)(float* row, int width, float factor);

  /// score[i] = x_i . the weights of row[i] + its bias.
  void (*score)(const Weights& w, const float* const* x, const std::int32_t* row, int count,
                float* score);

  /// node[i] = 2 node[i] + [x_i . the weights of row node[i] + its bias >= 0].
  void (*choose_side)(const Weights& w, const float* const* x, int count, std::int32_t* node);

  /// sum[c] += the sum of rows[order[k] * stride + c] over k < count, in that order.
  void (*add_rows)(const float* rows, std::int64_t stride, const std::int32_t* order, int count,
                   int width, double* sum);

  /// out[key] = max (or sum) over the first count lanes of s[key][lane], for s >= 0.
  void (*reduce)(const float* s, int lanes, int count, int key_count, bool maximum, float* out);

  /// out[i][j] = sum_c queries[c][i] keys[c][j] for wide_queries queries and wide_keys keys, in the
  /// order of c. If these are floats, their products are exact in double, and the sums are the same
  /// in every object.
  void (*wide_products)(const double* queries, int d, const double* keys, double* const* out);

  /// The largest value but NaN; -inf if there is none.
  double (*largest)(const double* values, std::int64_t count);

  /// Numbers in the order of scores, which are equal for scores that round to the same float.
  /// Scores below `least` count as `least`, NaN as -inf. Without scores the ends are in the wrong
  /// order.
  Orders (*orders)(const double* scores, std::int64_t count, double least, std::uint32_t* order);
};

const Loops& sse2();
const Loops& avx2();
const Loops& avx512();

}  // namespace fovea::isa
