// feature_entries makes entries of P of features under a causal mask.
#pragma once

#include "features/feature_sums.h"

namespace fovea::cuda {

struct FeatureEntryArgs {
  FeatureRowSums rows;
  const float* own_maximum = nullptr;   // as in KeySums
  const std::int32_t* drawn = nullptr;  // query of row r, ascending; none means first_row + r
  Index first_row = 0, row_count = 0;
  Index first_chunk = 0, chunks = 0;  // of keys
  Index first_col = 0, end_col = 0;   // the keys to be written, in those chunks
  int features = 0;
  int stride = 0;                // of what follows and of own_maximum
  const float* query = nullptr;  // [row_count, stride] logarithms, as in FeatureChunks
  const float* key = nullptr;    // [chunks * 32, stride]
  float elsewhere = 0;           // where j > i
  float* out = nullptr;          // [row_count, out_stride], its first column is first_col
  Index out_stride = 0;
};

/// The same bits for a pair whatever the other rows and columns are.
void feature_entries(const FeatureEntryArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
