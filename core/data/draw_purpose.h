// THE register of what random numbers are drawn for. Each purpose has streams of its own, so that
// two kinds of draw with the same seed have nothing in common. A number never changes: results that
// people keep were drawn with it.
#pragma once

#include <cstdint>

namespace fovea {

enum class DrawPurpose : std::uint32_t {
  // Planners.
  hash_directions = 1,
  sampled_keys = 2,
  random_tree = 3,
  random_blocks = 4,
  key_projection = 5,
  value_projection = 6,
  query_factors = 7,
  key_factors = 8,
  random_features = 9,
  drawn_values = 10,
  drawn_rows = 11,
  hash_rotations = 12,
  row_of_pixel = 17,  // the row of P that stands for a row of pixels
  query_means = 18,
  key_means = 19,
  // Synthetic heads.
  synthetic_q = 101,
  synthetic_k,
  synthetic_v,
  synthetic_centre,
  synthetic_value,
  synthetic_order,
  // Benchmarks.
  bench_head = 0xbe7c4,
  // Samples that measure, as four letters.
  sampled_rows = 0x726f7773,      // "rows"
  sampled_queries = 0x7370616e,   // "span"
  block_spread = 0x73707264,      // "sprd", and the numbers after it: one for each level
  trace_signs = 0x7369676e,       // "sign"
  learning_batch = 0x6c726e30,    // "lrn0"
  learning_queries = 0x6c726e31,  // "lrn1"
  tree_growth = 0x6c726e32,       // "lrn2", and the numbers after it: one for each height
};

/// The stream of a purpose for a head, or for another number of what is drawn. `part` counts the
/// streams of purposes that have several.
constexpr std::uint64_t stream_of(DrawPurpose purpose, std::int64_t head, std::uint32_t part = 0) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(purpose) + part) << 32) |
         static_cast<std::uint32_t>(head);
}

}  // namespace fovea
