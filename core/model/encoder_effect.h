// The effect of Replacements on an encoder: how far hidden states and outputs move from those of
// exact attention. Each layer's Q and K are those of the model with the replacements, as they would
// be in use.
#pragma once

#include <optional>
#include <vector>

#include "model/encoder.h"
#include "model/replacement.h"

namespace fovea {

/// How far rows H' are from rows H.
struct Drift {
  double relative = 0;        // ||H' - H||_F / ||H||_F
  double cosine = 0;          // mean over rows of the cosine of h'_i and h_i; NaN without a row
  double least_cosine = 0;    // of the row with the smallest one
  Index rows_not_finite = 0;  // with NaN or infinity, which have no cosine: left out of both
};
Drift drift_of(MatrixView replaced, MatrixView exact);

struct EncoderEffect {
  std::vector<Drift> layers;        // of the hidden states after each layer
  Drift output;                     // of the model's output, after its last norm
  std::vector<double> tokens;       // |h' - h| / |h| of the output of each token
  double pooled_cosine = 0;         // of the means of the outputs over all tokens
  double class_cosine = 0;          // of the outputs of the first token
  std::vector<ReplacedCost> costs;  // of each replacement
};

/// The time of one pass through all layers.
struct PassTime {
  double attention_ms = 0, layers_ms = 0;
};

/// What a model reads: the ids of a text, or an image.
struct EncoderInput {
  std::vector<std::int32_t> ids;
  std::optional<ImagePlanes> image = {};
};

/// Measures replacements on one input. It keeps the hidden states of exact attention, so that a
/// replacement costs the layers from the first replaced one on.
class EncoderEffects {
 public:
  /// Encodes the input with exact attention. The encoder and the back end outlive this. Throws what
  /// Encoder::encode throws.
  EncoderEffects(const Encoder& encoder, const EncoderInput& input, const Backend& backend,
                 Run& run);

  /// Throws InputError or UsageError if a variant has no form for its heads; Cancelled.
  EncoderEffect measure(std::span<const Replacement> replacements, Run& run) const;
  /// Runs all layers, also those below the first replaced one. Throws as measure() does.
  PassTime time(std::span<const Replacement> replacements, Run& run) const;

  Index tokens() const { return output_.rows(); }

 private:
  const Encoder& encoder_;
  const Backend& backend_;
  std::vector<Matrix> hidden_;  // before the first layer, then after each
  Matrix output_;
};

}  // namespace fovea
