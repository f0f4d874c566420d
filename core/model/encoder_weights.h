// EncoderWeights are the numbers of a model, as an Encoder computes with them.
#pragma once

#include <string>
#include <vector>

#include "model/encoder_shape.h"
#include "model/model_tensors.h"
#include "model/row_passes.h"

namespace fovea {

/// x W + bias. A file has W transposed.
struct Linear {
  Matrix weights;           // [inputs, outputs]
  std::vector<float> bias;  // [outputs]
};

struct LayerWeights {
  Linear qkv;  // the outputs of Q, then of K, then of V
  Linear output, inner, outer;
  LayerNorm attention_norm, feed_norm;
  std::vector<float> attention_scale, feed_scale;  // [width]; 1 if empty
};

struct EncoderWeights {
  EncoderShape shape;
  SourceFiles files;
  // Text models only.
  WeightRows words;  // [words, width], read as tokens need them
  Matrix types;      // [types, width], or none
  // Image models only.
  Linear patches;         // pixels of a patch, channel by channel
  Matrix before_patches;  // [tokens_before_patches, width]

  /// [positions, width]. Image models have those of the tokens before the patches first, then those
  /// of the grid.
  Matrix positions;
  LayerNorm embedding_norm, final_norm;  // without weights if the model has none
  std::vector<LayerWeights> layers;
};

/// What read_encoder throws.
EncoderWeights read_encoder_weights(const std::string& folder, const std::stop_token& stop);

}  // namespace fovea
