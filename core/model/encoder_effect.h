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
  double relative = 0;      // ||H' - H||_F / ||H||_F
  double cosine = 0;        // mean over rows of the cosine of h'_i and h_i
  double least_cosine = 0;  // of the row with the smallest one
};
Drift drift_of(MatrixView replaced, MatrixView exact);

struct EncoderEffect {
  std::vector<Drift> layers;                        // of the hidden states after each layer
  Drift output;                                     // of the model's output, after its last norm
  std::vector<double> tokens;                       // |h' - h| / |h| of the output of each token
  double pooled_cosine = 0;                         // of the means of the outputs over all tokens
  double class_cosine = 0;                          // of the outputs of the first token
  double attention_ms = 0, exact_attention_ms = 0;  // of all layers
  double model_ms = 0, exact_model_ms = 0;          // of the layers from the first replaced one on
  std::vector<ReplacedCost> costs;                  // of each replacement
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

  /// The times of exact attention are those of the constructor, or if `in_turn` is true of another
  /// pass right after this one. Throws InputError or UsageError if a variant has no form for its
  /// heads; Cancelled.
  EncoderEffect measure(std::span<const Replacement> replacements, Run& run,
                        bool in_turn = false) const;

  Index tokens() const { return output_.rows(); }

 private:
  /// The time of the layers from `first` on.
  struct Times {
    double attention_ms = 0, model_ms = 0;
  };
  Times times_from(Index first) const;

  const Encoder& encoder_;
  const Backend& backend_;
  std::vector<Matrix> hidden_;  // before the first layer, then after each
  std::vector<Times> times_;    // of each layer
  Matrix output_;
};

}  // namespace fovea
