// QueryTileArgs are query tiles with everything their logits are computed from, on the device.
#pragma once

#include <cstdint>

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// A device matrix as the kernels read it: rows `stride` floats apart, a multiple of 4.
struct Rows {
  const float* data = nullptr;
  int stride = 0;
};

/// The rule and the mask of a head (data/logit_rule.h, data/pair_mask.h); null: there is none of
/// the kind.
struct HeadConditions {
  float log2_cap = 0;  // in log2 units; 0: none
  const float* by_distance = nullptr;
  const float* by_key = nullptr;
  const float* bias = nullptr;  // [keys, bias_stride]
  std::int64_t bias_stride = 0;
  const std::int32_t* query_document = nullptr;
  const std::int32_t* key_document = nullptr;
  const std::uint32_t* bits = nullptr;  // [queries, bits_stride]
  std::int64_t bits_stride = 0;
  std::int32_t keys = 0;
  bool changes = false;   // logits
  bool excludes = false;  // pairs
};

/// The arrays that query tiles and runs refer to.
struct Lists {
  const ColumnRun* runs = nullptr;
  const std::int32_t* indices = nullptr;
  const float* weights = nullptr;
  const std::int32_t* chunks = nullptr;
  std::int32_t n = 0;  // queries: as many as keys where there are chunks
  HeadConditions head;
};

struct QueryTileArgs {
  Rows q, k;  // levels of their pyramids one after another
  int d = 0;
  float log2_scale = 0;  // logits in log2 units are log2_scale q.k
  const QueryTile* tiles = nullptr;
  int count = 0;
  Lists lists;
};

}  // namespace fovea::cuda
