// An EncoderShape is all that config.json says of a model, checked.
#pragma once

#include <string>
#include <string_view>

#include "io/json.h"
#include "model/architectures.h"

namespace fovea {

/// How many patches an image has along its sides.
struct PatchGrid {
  Index rows = 0, cols = 0;
  Index patches() const { return rows * cols; }
  friend bool operator==(const PatchGrid&, const PatchGrid&) = default;
};

struct EncoderShape {
  const Architecture* architecture = nullptr;
  Index layers = 0, heads = 0;
  Index width = 0;  // of hidden states: heads * head_width()
  Index inner = 0;  // of the feed-forward part
  Activation activation = Activation::gelu;
  double epsilon = 0;  // of norms
  bool qkv_bias = true;
  // Text models only.
  Index words = 0, types = 0;
  Index positions = 0;  // as many as are stored; see most_tokens()
  Index padding = 0;    // id of the word that fills up batches
  // Image models only; images have 3 channels.
  Index patch_height = 0, patch_width = 0;  // pixels
  PatchGrid grid;                           // of the stored positions
  Index registers = 0;

  bool reads_images() const { return architecture->reads_images(); }
  Index head_width() const { return width / heads; }
  /// Tokens of an image before its patches: class and distillation token, then registers.
  Index tokens_with_position() const;
  Index tokens_before_patches() const { return tokens_with_position() + registers; }
  /// The longest text.
  Index most_tokens() const;
  /// Outputs of the first product of the feed-forward part.
  Index inner_outputs() const { return activation == Activation::gated_silu ? 2 * inner : inner; }
};

/// Whether an Encoder computes the kind of model that a config.json describes; its numbers may
/// still be wrong. Throws what parse_json throws.
bool describes_encoder(const std::string& where, std::string_view text,
                       const std::stop_token& stop = {});

/// `where`: what messages call the file. Throws InputError for a model that an Encoder cannot
/// compute, and what parse_json throws.
EncoderShape parse_encoder_shape(const std::string& where, std::string_view text,
                                 const std::stop_token& stop = {});

}  // namespace fovea
